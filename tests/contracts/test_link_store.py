"""What every LinkStore promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.link_store import SqliteLinkStore
from kebab.domain.documents import Metadata
from kebab.domain.links import Link, LinkKind, PlacedLink
from kebab.ports import DocumentStore, LinkStore
from tests.fakes import FakeDocumentStore, FakeLinkStore
from tests.samples import Sample, sample

Pair = tuple[DocumentStore, LinkStore]


def _fake() -> Pair:
    documents = FakeDocumentStore()
    return documents, FakeLinkStore(documents)


def _sqlite(folder: Path) -> Pair:
    database = Database(folder / "kebab.sqlite")
    return SqliteDocumentStore(database), SqliteLinkStore(database)


@pytest.fixture(params=["fake", "sqlite"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Pair:
    builders: dict[str, Callable[[], Pair]] = {"fake": _fake, "sqlite": lambda: _sqlite(tmp_path)}
    return builders[request.param]()


def linking(path: str, *targets: str, title: str = "T", aliases: tuple[str, ...] = ()) -> Sample:
    one = sample(path, f"text of {path} {targets}", title=title, metadata=Metadata(aliases=aliases))
    links = tuple(Link(LinkKind.WIKILINK, target, n) for n, target in enumerate(targets, start=1))
    return replace(one, document=replace(one.document, links=links))


def put(stores: Pair, *samples: Sample) -> None:
    for one in samples:
        stores[0].put(one.document, one.chunks, one.state)


def test_links_are_given_back_as_written_and_in_order(stores: Pair) -> None:
    one = linking("a.md", "Zeta#h", "../b c.md", "여행/제주", "Zeta")
    put(stores, one, linking("b.md"))
    found = stores[1].links_from([one.doc_id])
    assert found == [PlacedLink(one.doc_id, link) for link in one.document.links]
    assert stores[1].links_from([]) == []


def test_links_are_found_by_what_they_call_their_note(stores: Pair) -> None:
    one, two = linking("a.md", "Deep/My Note"), linking("b/c.md", "my-note", "other", "../제주")
    put(stores, one, two)
    called = stores[1].links_called(["my-note", "제주", "nobody"])
    assert sorted((placed.doc_id, placed.link.target) for placed in called) == sorted(
        [(one.doc_id, "Deep/My Note"), (two.doc_id, "my-note"), (two.doc_id, "../제주")]
    )


def test_a_document_that_is_replaced_or_removed_takes_its_links_along(stores: Pair) -> None:
    put(stores, linking("a.md", "x"), linking("b.md", "x"))
    put(stores, linking("a.md", "y"))
    assert [placed.link.target for placed in stores[1].links_called(["x", "y"])].count("x") == 1
    stores[0].remove([summary.doc_id for summary in stores[0].list_documents()])
    assert stores[1].links_called(["x", "y"]) == []
    assert stores[1].names() == []


def test_names_are_those_of_every_document_by_path(stores: Pair) -> None:
    put(stores, linking("b.md", title="Bee"), linking("a.md", title="에이", aliases=("처음", "A/B")))
    assert [(n.path, n.title, n.aliases) for n in stores[1].names()] == [
        ("a.md", "에이", ("처음", "A/B")),
        ("b.md", "Bee", ()),
    ]


def test_documents_that_wait_to_be_read_again_are_counted(stores: Pair) -> None:
    one = linking("a.md", "x")
    put(stores, one, linking("b.md"))
    assert stores[1].unread() == 0
    stores[0].distrust([one.doc_id])
    assert stores[1].unread() == 1
