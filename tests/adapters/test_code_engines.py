"""Source code on the real engines: found by words and parts of names, filtered, cited, edited, removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.assembly.formats import unread_formats
from kebab.domain.citations import CitationKind
from kebab.domain.hits import SearchHit
from kebab.domain.ingests import Outcome
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.domain.reports import CheckStatus
from kebab.ingest.scan import SourceFolder, scan
from kebab.wire import encode
from kebab.wire.search import search_hit
from tests.faults.conftest import Base, make_base

SHIP = (
    "import rope\n\n\nclass Ship:\n    def hoistMainSail(self):\n        return rope.pull(1)\n\n"
    "    def drop_anchor2(self):\n        return rope.drop(2)\n"
)
BOAT = "package boat\n\n// Row moves the boat.\nfunc Row() int {\n\treturn 1\n}\n"


@pytest.fixture
def base(tmp_path: Path) -> Base:
    made = make_base(tmp_path, notes=2)
    (made.root / "fleet" / "src").mkdir(parents=True)
    made.write("fleet/src/ship.py", SHIP)
    made.write("fleet/src/boat.go", BOAT)
    made.write("fleet/README.md", "# Fleet\n\nShips and boats.\n")
    made.write("fleet/package-lock.json", "{}")
    made.write("fleet/app.min.js", "var a=1")
    git = made.root / "fleet" / ".git"
    git.mkdir()
    git.joinpath("config").write_text(
        '[remote "origin"]\n\turl = git@x:harbour/fleet.git\n', encoding="utf-8"
    )
    with made.open() as kb:
        kb.ingest()
    return made


def found(kb: Kebab, query: str, **filters: tuple[str, ...]) -> list[SearchHit]:
    return list(kb.search(query, filters=SearchFilters(**filters)).hits)  # type: ignore[arg-type]


def test_a_function_is_found_by_the_parts_of_its_name_and_says_what_it_is(base: Base) -> None:
    with base.open() as kb:
        for query in ("hoist sail", "hoistMainSail", "hoist main"):
            hit = found(kb, query)[0]
            assert (hit.symbol, hit.repo, hit.code_lang) == ("Ship.hoistMainSail", "harbour/fleet", "python")
            assert (hit.citation.kind, hit.citation.uri) == (CitationKind.CODE, "fleet/src/ship.py#L5-L6")
        for query in ("drop anchor", "anchor", "ANCHOR2"):
            assert kb.search(query, mode=SearchMode.LEXICAL).hits[0].symbol == "Ship.drop_anchor2"
        sent = json.loads(encode(search_hit(hit)))
        assert (sent["symbol"], sent["citation"]["symbol"]) == ("Ship.hoistMainSail", "Ship.hoistMainSail")
        note = json.loads(encode(search_hit(found(kb, "ships and boats fleet")[0])))
        assert "symbol" not in note
        assert "symbol" not in note["citation"]


def test_filters_keep_one_repository_one_language_one_symbol(base: Base) -> None:
    with base.open() as kb:
        assert {hit.repo for hit in found(kb, "rope ship note", repo=("fleet",))} == {"harbour/fleet"}
        assert {hit.code_lang for hit in found(kb, "return", code_lang=("golang",))} == {"go"}
        for mode in SearchMode:
            hits = kb.search("rope", mode=mode, filters=SearchFilters(symbol=("Ship.*",))).hits
            assert {hit.symbol for hit in hits} == {"Ship.hoistMainSail", "Ship.drop_anchor2"}
        assert [hit.symbol for hit in kb.search("row symbol:row code_lang:go").hits] == ["Row"]


def test_what_is_cited_is_fetched_by_lines_and_by_symbol(base: Base) -> None:
    with base.open() as kb:
        text = "    def hoistMainSail(self):\n        return rope.pull(1)"
        assert kb.fetch_citation("fleet/src/ship.py#L5-L6").text == text
        assert kb.fetch_citation("fleet/src/ship.py#symbol=Ship.hoistMainSail").text == text


def test_an_edit_replaces_one_unit_and_embeds_one_text(base: Base) -> None:
    base.write("fleet/src/ship.py", SHIP.replace("pull(1)", "heave(1)"))
    with base.open() as kb:
        run = kb.ingest().run
        assert (run.indexed, run.embedded) == (1, 1)
        assert "heave" in kb.fetch_citation("fleet/src/ship.py#symbol=Ship.hoistMainSail").text
        assert not [hit for hit in found(kb, "pull") if "pull(1)" in hit.snippet.text]


def test_without_the_extra_code_is_skipped_with_the_command_that_installs_it(base: Base) -> None:
    with base.open() as kb:
        settings = kb.settings
    assert ".py" not in unread_formats(settings)
    told = unread_formats(settings, find=lambda package: None)
    assert told[".py"] == "source code needs tree-sitter, which is not installed: pip install 'kebab[code]'"
    assert ".md" not in told
    found = scan(SourceFolder("s", base.root), max_file_bytes=1 << 20, unread=told)
    assert "fleet/src/ship.py" not in {file.path for file in found.files}
    assert told[".py"] in {item.reason for item in found.skipped if item.path == "fleet/src/ship.py"}


def test_what_is_left_out_is_reported_and_a_switch_turns_code_off(base: Base) -> None:
    with base.open() as kb:
        skipped = {item.path: item.reason for item in kb.ingest().items if item.outcome is Outcome.SKIPPED}
        assert skipped["fleet/package-lock.json"] == "lock file of a package manager"
        assert skipped["fleet/app.min.js"] == "minified code, by its name"
        assert [check for check in kb.doctor().checks if check.status is not CheckStatus.OK] == []
    with base.open(ingest__code=False) as kb:
        told = {(item.path, item.reason) for item in kb.ingest().items}
        assert ("fleet/src/boat.go", "source code: ingest.code is off") in told
        assert found(kb, "hoist sail") == [] or found(kb, "hoist sail")[0].code_lang is None
