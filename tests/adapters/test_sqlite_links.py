"""What the schema with links does to a store that was written before it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.link_store import SqliteLinkStore
from kebab.app import Kebab
from kebab.domain.links import Link, LinkKind
from tests.samples import sample


def back_to_schema_3(file: Path) -> None:
    """What a store of the third schema looks like: no links, no sketches, and seals that know of no links."""
    from kebab.adapters.sqlite import seals

    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DROP TABLE links")
        connection.execute("DROP TABLE sketches")
        for (doc_id,) in connection.execute("SELECT doc_id FROM documents").fetchall():
            sealed = seals.sealed_now(connection, doc_id, linked=False)
            connection.execute("UPDATE documents SET seal = ? WHERE doc_id = ?", (sealed, doc_id))
        connection.execute("PRAGMA user_version = 3")


def open_notes(folder: Path) -> Kebab:
    return Kebab.open(
        root=folder / "notes",
        data_dir=folder / "data",
        overrides={"models.embedding.provider": "none", "storage.data_dir": str(folder / "data")},
    )


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nsee [[b]]\n", encoding="utf-8")
    (tmp_path / "notes" / "b.md").write_text("# B\n\ntext\n", encoding="utf-8")
    (tmp_path / "notes" / "c.txt").write_text("plain\n", encoding="utf-8")
    with open_notes(tmp_path) as kb:
        kb.ingest()
    return tmp_path


def test_a_store_of_the_third_schema_gets_its_links_with_the_next_ingest(notes: Path) -> None:
    back_to_schema_3(notes / "data" / "kebab.sqlite")
    with open_notes(notes) as kb:
        report = kb.ingest()
        assert (report.run.indexed, report.run.unchanged) == (2, 1)
        found = kb.links("b.md")
        assert [link.note.path for link in found.back] == ["a.md"]
        assert found.degraded == ()
        assert kb.doctor(full=True).healthy
        assert kb.ingest().run.indexed == 0


def test_links_that_were_not_read_yet_are_told_of(notes: Path) -> None:
    file = notes / "data" / "kebab.sqlite"
    back_to_schema_3(file)
    Database(file).close()  # migrated by a writer whose sources are not here
    with open_notes(notes) as kb:
        found = kb.links("a.md")
    assert found.out == ()
    assert [(note.code, note.message) for note in found.degraded] == [
        ("not_read", "2 documents were stored before links were kept")
    ]


def test_a_link_that_rots_breaks_its_documents_seal(tmp_path: Path) -> None:
    file = tmp_path / "kebab.sqlite"
    store = SqliteDocumentStore(Database(file))
    one, two = sample("a.md", "one"), sample("b.md", "two")
    one = replace(one, document=replace(one.document, links=(Link(LinkKind.WIKILINK, "b", 1),)))
    for each in (one, two):
        store.put(each.document, each.chunks, each.state)
    assert store.damaged() == []
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE links SET target = 'c'")
    assert store.damaged() == [one.doc_id]
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM links")
    assert store.damaged() == [one.doc_id]
    assert SqliteLinkStore(Database(file)).links_from([one.doc_id]) == []
