"""Knowledge bases that earlier versions wrote migrate and give the same results; newer ones are refused.

upgrades/ holds one for each schema so far, written by the code of its time with upgrades/write.py.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import tarfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from kebab.adapters.sqlite.migrations import SCHEMA_VERSION
from kebab.app import Kebab
from kebab.domain.queries import SearchMode
from kebab.errors import EngineUnavailable, KebabError
from tests.faults.conftest import Base, sick
from tests.faults.kill_world import inbox_chunks, intact, legs
from tests.faults.upgrades.write import NOTES

pytest.importorskip("surrealdb", reason="the memory extra is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("upgrades")]

FOLDER = Path(__file__).with_name("upgrades")
PROJECT = Path(__file__).parents[2]
KILLS = max(4, int(os.environ.get("KEBAB_KILLS", "25")) // 6)
SEED = int(os.environ.get("KEBAB_SEED", str(random.randrange(10**6))))


@dataclass(frozen=True, slots=True)
class Version:
    """What wrote a knowledge base: the commit (or its migration), the schema, and a stored answer."""

    commit: str
    schema: int
    trace_id: str


VERSIONS = {
    "1-compressed": Version("c0e6670", 1, "ans_a04ce2427d22"),
    "1-plain": Version("c9fe1fa", 1, "ans_81d86cd99b03"),
    "2": Version("ac53b63", 2, "ans_71d93c96a637"),
    "3-int8": Version("eb3afb7", 3, "ans_c251c44481bc"),
    "3-int12": Version("8a0076a", 3, "ans_9f944e3b69de"),
    "4": Version("fe97aa1", 4, "ans_7cb2323d316d"),
    "5": Version("005_forms", 5, "ans_4112f4b277d0"),
    "6": Version("499d796", 6, "ans_161dcba05cf5"),
}


def unpacked(name: str, folder: Path) -> Base:
    with tarfile.open(FOLDER / f"{name}.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return Base(folder / "notes", folder / "data")


def schema_of(base: Base) -> int:
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def assert_same(kb: Kebab, base: Base) -> None:
    """Every document as its file is, found by its words; every run recorded, and found by its words."""
    texts = {doc.path: kb.fetch_doc(doc.doc_id).text for doc in kb.list_docs() if doc.source_id != "inbox"}
    assert texts == {file.name: file.read_text(encoding="utf-8") for file in base.root.iterdir()}
    for number in range(NOTES):
        assert kb.search(f"ship{number}", mode=SearchMode.LEXICAL).hits[0].doc_path == f"n{number}.md"
    assert "albatross" in kb.search("albatross wing").hits[0].snippet.text.lower()
    assert {run.id for run in kb.memory.select(limit=None)} == {f"run-{number}" for number in range(6)}
    assert kb.memory.search_words("number4").hits[0].execution.id == "run-4"


def test_every_schema_has_its_knowledge_base() -> None:
    assert {version.schema for version in VERSIONS.values()} == set(range(1, SCHEMA_VERSION + 1))
    assert {file.name for file in FOLDER.glob("*.tar.xz")} == {f"{name}.tar.xz" for name in VERSIONS}


@pytest.mark.parametrize("name", VERSIONS)
def test_what_an_earlier_version_wrote_opens_migrates_and_gives_the_same_results(
    name: str, tmp_path: Path
) -> None:
    base = unpacked(name, tmp_path)
    assert schema_of(base) == VERSIONS[name].schema
    with base.open() as kb:
        kb.index()
        assert_same(kb, base)
    with base.open() as kb:
        report = kb.ingest()
        assert (report.run.failed, report.run.removed) == (0, 0)
        assert_same(kb, base)
        assert sick(kb.doctor(full=True)) == []
        assert kb.ask_again(VERSIONS[name].trace_id).before.grounded
        with Base(base.root, tmp_path / "fresh").open() as fresh:
            fresh.ingest()
            documents, words, vectors = legs(kb)
            assert documents == words == vectors
            assert documents - inbox_chunks(kb) == legs(fresh)[0]
    assert schema_of(base) == SCHEMA_VERSION


@pytest.mark.parametrize("name", sorted(VERSIONS)[:-1])
def test_who_only_reads_is_told_to_migrate_and_changes_nothing(name: str, tmp_path: Path) -> None:
    base = unpacked(name, tmp_path)
    before = texts_of(base)
    with base.open() as kb:
        for use in (lambda: kb.search("ship3"), lambda: kb.list_docs()):
            with pytest.raises(EngineUnavailable, match=f"schema {VERSIONS[name].schema}") as raised:
                use()
            assert "kebab index" in str(raised.value.hint)
        finding = next(check for check in sick(kb.doctor()) if "schema" in check.detail)
        assert "kebab index" in str(finding.hint)
    assert schema_of(base) == VERSIONS[name].schema
    assert texts_of(base) == before


def texts_of(base: Base) -> list[object]:
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection:
        return connection.execute("SELECT path, title, asset_id FROM documents ORDER BY path").fetchall()


def files_of(folder: Path) -> dict[str, bytes]:
    """The content of every file but those that SQLite makes to read."""
    kept = (file for file in sorted(folder.rglob("*")) if file.is_file() and not file.name.endswith("-shm"))
    return {str(file.relative_to(folder)): file.read_bytes() for file in kept}


USES = {
    "search": lambda kb: kb.search("ship3"),
    "ingest": lambda kb: kb.ingest(),
    "list": lambda kb: kb.list_docs(),
    "index": lambda kb: kb.index(rebuild=True),
    "save": lambda kb: kb.ingest_text("a text", title="Text"),
}


@pytest.mark.parametrize("use", USES)
def test_what_a_newer_version_wrote_is_refused_and_untouched(use: str, tmp_path: Path) -> None:
    base = unpacked("5", tmp_path)
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = files_of(base.data)
    with base.open() as kb, pytest.raises(KebabError) as raised:
        USES[use](kb)
    assert "newer" in f"{raised.value.message} {raised.value.hint}"
    after = files_of(base.data)
    assert {name: after.get(name) for name in before} == before
    with base.open() as kb:
        assert not kb.doctor().healthy
        assert not kb.doctor(repair=True).healthy
    assert files_of(base.data)["kebab.sqlite"] == before["kebab.sqlite"]


MIGRATE = """
import sys
from pathlib import Path
import lance, numpy, tantivy
from kebab.app import Kebab
root, data = map(Path, sys.argv[1:])
print("begin", flush=True)
with Kebab.open(root=root, data_dir=data) as kb:
    kb.memory.select()
    kb.ingest()
"""


def test_a_killed_migration_is_completed_by_the_next_opening(tmp_path: Path) -> None:
    dice = random.Random(SEED)
    for number in range(KILLS):
        name = dice.choice(sorted(VERSIONS)[:-1])
        base = unpacked(name, tmp_path / str(number))
        command = [sys.executable, "-c", MIGRATE, str(base.root), str(base.data)]
        with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as victim:
            assert victim.stdout
            assert victim.stdout.readline() == "begin\n"
            time.sleep(dice.uniform(0, 0.6))
            victim.kill()
        assert intact(base.data / "kebab.sqlite"), (SEED, name)
        with base.open() as kb:
            kb.ingest()
            assert_same(kb, base)
            assert sick(kb.doctor(full=True)) == [], (SEED, name)
