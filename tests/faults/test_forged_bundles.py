"""Bundles with valid checksums and one bad thing each: refused, and nothing here has changed, or sound.

Every column of every table gets a bad value or two, chosen by a seed that a failure prints;
``KEBAB_FORGED=8`` tries eight for each, ``KEBAB_SEED`` repeats a run.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from kebab.adapters.sqlite.audit import COLUMNS
from kebab.adapters.sqlite.connection import Database
from kebab.errors import KebabError
from tests.faults.conftest import Base, make_base

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("forged")]

SEED = int(os.environ.get("KEBAB_SEED", "20260611"))
VALUES = int(os.environ.get("KEBAB_FORGED", "1"))
FLIPS = 12 * VALUES
NASTY: list[object] = [
    None,
    -1,
    2**63 - 1,
    1.5,
    1e40,
    "",
    "king",
    "{",
    '["\\ud800"]',
    "[" * 5000,
    "../../etc/passwd",
    "no\0thing",
    b"\xff\xfe",
    b"",
    "0" * 31 + "g",
]
NAMED = {
    "tags that are no JSON": "UPDATE documents SET tags = 'no json'",
    "a vector of one byte": "UPDATE embeddings SET vector = x'00' WHERE id = 1",
    "a vector of other bytes": "UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE id = 1",
    "an id that is no hash": "UPDATE chunks SET chunk_id = 'x' WHERE id = 1",
    "a king": "UPDATE documents SET trust_level = 'king'",
    "a time beyond all times": "UPDATE files SET mtime_ns = 1e40",
    "text that is no UTF-8": "UPDATE chunks SET text = CAST(x'c328' AS TEXT) WHERE id = 1",
    "other words": "UPDATE chunks SET text = text || ' forged' WHERE id = 1",
    "a chunk too few": "DELETE FROM chunks WHERE id = 1",
    "a document without its file": "DELETE FROM files",
    "no counters": "DELETE FROM counters",
    "no position": "DELETE FROM sqlite_sequence WHERE name = 'outbox'",
    "a counter at its end": "UPDATE sqlite_sequence SET seq = 9223372036854775807",
    "another table": "CREATE TABLE more (x)",
    "another column": "ALTER TABLE documents ADD COLUMN more TEXT",
    "no table of vectors": "DROP TABLE embeddings",
    "no index": "DROP INDEX chunks_by_doc",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM documents; END",
    "lines that end before they begin": "UPDATE chunks SET spans = '[[9,3]]' WHERE id = 1",
    "other tags": "INSERT INTO document_tags SELECT doc_id, 'forged' FROM documents LIMIT 1",
    "a model of other dimensions": "UPDATE embedding_models SET dimensions = dimensions + 1",
    "an asset that is a bomb": "UPDATE assets SET text = x'789c'",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with something in every table, and a small knowledge base that it is read into."""
    folder = tmp_path_factory.mktemp("forged")
    theirs = make_base(folder / "theirs", notes=4)
    theirs.write(
        "tagged.md",
        "---\ntags: [rope, 밧줄]\naliases: [x]\n---\n# Tagged\n\nThe anchor is heavy, see [[Tagged]].\n",
    )
    with theirs.open() as kb:
        kb.ingest()
        kb.ingest_text("a text of theirs", title="Piped")
        kb.ask("Which rope is dry?")
        with kb.engines.writing("test") as stores:
            stores.evaluations.put("run-1", created_at="2026-06-11T00:00:00Z", report_json="{}")
            # Every run prunes the outbox, and a bundle may have been written in the middle of one.
            with stores.database.write() as connection:
                connection.execute(
                    "INSERT INTO outbox (doc_id, topic) SELECT doc_id, 'changed' FROM documents"
                )
        kb.export_bundle(folder / "good.kebab")
    ours = make_base(folder / "ours", notes=2)
    with ours.open() as kb:
        kb.ingest()
        kb.ingest_text("a text of mine", title="Mine")
    return folder


Forge = Callable[[Path, dict[str, Any]], None]


def forged(world: Path, target: Path, forge: Forge) -> Path:
    """The good bundle with its store, or its manifest, changed; sizes and checksums are right."""
    work = target / "unpacked"
    with zipfile.ZipFile(world / "good.kebab") as archive:
        archive.extractall(work)
    manifest = json.loads((work / "manifest.json").read_text())
    forge(work / "kebab.sqlite", manifest)
    content = (work / "kebab.sqlite").read_bytes()
    manifest["files"]["kebab.sqlite"] |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (work / "manifest.json").write_text(json.dumps(manifest))
    with zipfile.ZipFile(target / "forged.kebab", "w") as archive:
        for name in ("manifest.json", *manifest["files"]):
            archive.write(work / name, name)
    return target / "forged.kebab"


def executed(statement: str, *values: object) -> Forge:
    def forge(store: Path, _: dict[str, Any]) -> None:
        with closing(sqlite3.connect(store, isolation_level=None)) as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute(statement, values)

    return forge


def digest(folder: Path) -> dict[str, bytes]:
    """Every file of a data folder that is no journal or lock."""
    passing = ("-wal", "-shm", ".lock")
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(passing))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def answers(base: Base) -> list[str]:
    with base.open() as kb:
        return [repr(kb.search(text)) for text in ("rope ship1", "밧줄", "text of mine")]


def check(world: Path, folder: Path, forge: Forge) -> str:
    """Import the forged bundle over a copy of what is here; says what became of it."""
    bundle = forged(world, folder, forge)
    shutil.copytree(world / "ours", folder / "ours")
    base = Base(world / "ours" / "notes", folder / "ours" / "data")
    said, held = answers(base), digest(base.data)
    try:
        with base.open() as kb:
            kb.import_bundle(bundle, force=True)
    except KebabError as error:
        assert digest(base.data) == held
        assert answers(base) == said
        return f"{error.code}: {error.message}"
    with base.open() as kb:
        sick = [one for one in kb.doctor().checks if one.status == "fault"]
        assert not sick, sick
        kb.search("rope anchor")
        kb.list_docs()
        for document in kb.list_docs():
            kb.fetch_doc(document.doc_id)
        for run in kb.runs():
            kb.run_items(run.run_id)
    assert any(b"a text of mine" in content for content in digest(base.data / "inbox").values())
    return "imported"


def test_the_bundle_that_the_others_are_made_of_is_good(world: Path, tmp_path: Path) -> None:
    assert check(world, tmp_path, lambda store, manifest: None) == "imported"
    with closing(sqlite3.connect(tmp_path / "unpacked" / "kebab.sqlite")) as connection:
        empty = [name for name in COLUMNS if not connection.execute(f"SELECT 1 FROM {name}").fetchone()]
    assert empty == []


@pytest.mark.parametrize("statement", NAMED.values(), ids=NAMED)
def test_a_store_with_one_bad_thing_is_refused(world: Path, tmp_path: Path, statement: str) -> None:
    assert check(world, tmp_path, executed(statement)).startswith(("corrupt: ", "engine_unavailable: "))


EVERY_COLUMN = [(table, column) for table, checks in COLUMNS.items() for column in checks]


@pytest.mark.parametrize(("table", "column"), EVERY_COLUMN)
def test_a_bad_value_in_any_column_is_refused_or_harmless(
    world: Path, tmp_path: Path, table: str, column: str
) -> None:
    dice = random.Random(f"{SEED} {table} {column}")
    for number, value in enumerate(dice.sample(NASTY, len(NASTY))):
        if number >= VALUES:
            break
        folder = tmp_path / str(number)
        folder.mkdir()

        def forge(store: Path, manifest: dict[str, Any], value: object = value) -> None:
            # A number that is the key of its row takes only numbers, some columns no NULL.
            for each in (value, b"\xff", -1):
                with suppress(sqlite3.IntegrityError):
                    executed(f"UPDATE OR IGNORE {table} SET {column} = ?", each)(store, manifest)
                    return

        try:
            check(world, folder, forge)
        except Exception as error:
            raise AssertionError(f"seed {SEED}: {table}.{column} = {value!r}") from error


@pytest.mark.parametrize("number", range(FLIPS))
def test_flipped_bits_under_a_right_checksum_are_refused_or_harmless(
    world: Path, tmp_path: Path, number: int
) -> None:
    dice = random.Random(f"{SEED} flip {number}")

    def forge(store: Path, manifest: dict[str, Any]) -> None:
        content = bytearray(store.read_bytes())
        for _ in range(dice.choice([1, 1, 20])):
            content[dice.randrange(100, len(content))] ^= 1 << dice.randrange(8)
        store.write_bytes(content)

    try:
        check(world, tmp_path, forge)
    except Exception as error:
        raise AssertionError(f"seed {SEED}: flip {number}") from error


MANIFESTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "more documents": lambda m: m["contents"].update(documents=m["contents"]["documents"] + 1),
    "fewer chunks": lambda m: m["contents"].update(chunks=0),
    "another model": lambda m: m["contents"]["models"][0].update(version="forged"),
    "no model": lambda m: m["contents"].update(models=[]),
    "another schema": lambda m: m["contents"].update(schema_version=0),
    "a time beyond all times": lambda m: m["files"]["kebab.sqlite"].update(mtime_ns=10**40),
    "a size without end": lambda m: m["contents"].update(documents=float("inf")),
}


@pytest.mark.parametrize("change", MANIFESTS.values(), ids=MANIFESTS)
def test_a_manifest_that_is_not_of_its_store_is_refused(
    world: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    assert check(world, tmp_path, lambda _, manifest: change(manifest)).startswith("corrupt: ")


def test_the_audit_looks_at_every_column_there_is(tmp_path: Path) -> None:
    with Database(tmp_path / "new.sqlite").read() as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for name in names}
    assert {name: sorted(made) for name, made in found.items()} == {
        name: sorted(checks) for name, checks in COLUMNS.items()
    }
