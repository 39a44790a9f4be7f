"""A search that looks at the files first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab import Kebab
from kebab.app.fresh import LIGHT
from kebab.domain.hits import SearchResponse
from kebab.errors import NotIndexed


def opened(folder: Path, *, readonly: bool = False, refresh: bool = False) -> Kebab:
    overrides = {"search.refresh": refresh}
    return Kebab.open(root=folder / "notes", data_dir=folder / "data", readonly=readonly, overrides=overrides)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    for number in range(6):
        (tmp_path / "notes" / f"n{number}.md").write_text(f"# Note {number}\n\nstill water\n")
    with opened(tmp_path) as kb:
        kb.ingest()
    return tmp_path


@pytest.fixture
def base(folder: Path) -> Iterator[Kebab]:
    with opened(folder) as kb:
        yield kb


def paths(response: SearchResponse) -> set[str]:
    return {hit.doc_path for hit in response.hits if hit.retrieval.lexical_score is not None}


def notes(response: SearchResponse) -> list[str]:
    return [note.message for note in response.degraded if note.code == "not_refreshed"]


def test_what_was_saved_is_found_by_a_fresh_search_and_not_by_another(base: Kebab, folder: Path) -> None:
    (folder / "notes" / "new.md").write_text("mango\n")
    assert paths(base.search("mango")) == set()
    fresh = base.search("mango", fresh=True)
    assert (paths(fresh), fresh.degraded) == ({"new.md"}, ())


def test_what_was_deleted_is_not_found_by_a_fresh_search(base: Kebab, folder: Path) -> None:
    (folder / "notes" / "n0.md").unlink()
    assert "n0.md" in paths(base.search("water"))
    assert "n0.md" not in paths(base.search("water", fresh=True))


def test_the_setting_makes_every_search_fresh_but_one_that_says_otherwise(folder: Path) -> None:
    (folder / "notes" / "new.md").write_text("mango\n")
    with opened(folder, refresh=True) as kb:
        assert paths(kb.search("mango", fresh=False)) == set()
        assert paths(kb.search("mango")) == {"new.md"}


def test_without_a_change_a_fresh_search_records_no_run(base: Kebab) -> None:
    before = len(base.runs(100))
    assert base.search("water", fresh=True) == base.search("water")
    assert len(base.runs(100)) == before


@pytest.mark.parametrize("kind", ["many", "large"])
def test_more_than_a_second_can_read_is_left_alone_and_told(base: Kebab, folder: Path, kind: str) -> None:
    if kind == "many":
        for number in range(LIGHT.files + 1):
            (folder / "notes" / f"m{number}.md").write_text("mango\n")
    else:
        (folder / "notes" / "large.md").write_text("mango and more\n" * 100_000)
    fresh = base.search("mango", fresh=True)
    count = LIGHT.files + 1 if kind == "many" else 1
    assert notes(fresh) == [f"{count} files changed and were not read: it would take longer than a second"]
    assert paths(fresh) == set()


def test_a_kebab_that_may_not_write_says_so(folder: Path) -> None:
    (folder / "notes" / "new.md").write_text("mango\n")
    with opened(folder, readonly=True) as kb:
        assert notes(kb.search("water", fresh=True)) == [
            "the files were not looked at: this kebab may not write"
        ]


def test_while_another_run_is_at_work_it_waits_for_nobody_and_says_so(base: Kebab, folder: Path) -> None:
    (folder / "notes" / "new.md").write_text("mango\n")
    with opened(folder) as other, other.engines.session("ingest", in_charge=True):
        (note,) = notes(base.search("water", fresh=True))
    assert note.startswith("another run is at work")
    assert "ingest" in note


def test_a_folder_that_is_missing_removes_nothing_and_is_told(base: Kebab, folder: Path) -> None:
    (folder / "notes").rename(folder / "away")
    fresh = base.search("water", fresh=True)
    assert "does not exist" in notes(fresh)[0]
    assert len(paths(fresh)) == 6


def test_where_nothing_was_ever_indexed_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    with opened(tmp_path) as kb, pytest.raises(NotIndexed):
        kb.search("water", fresh=True)
    assert not (tmp_path / "data").exists()
