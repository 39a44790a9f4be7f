"""A search while others write: the answer of one state, or one that says that it is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from kebab.domain.chunks import StoredChunk
from kebab.domain.hits import Retrieval
from kebab.domain.ids import ChunkId
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.ports import EmbeddingKind, Vectors
from kebab.search.freshness import ATTEMPTS
from kebab.search.hybrid import HybridRetriever
from tests.fakes import FakeDocumentStore, FakeEmbedder
from tests.unit.search.conftest import Shelf


class Interrupted(FakeDocumentStore):
    """A store in which somebody writes whenever a search looks its hits up, as often as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.interruptions: list[Callable[[], object]] = []
        self.lookups = 0

    def hydrate(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, StoredChunk]:
        if chunk_ids:
            self.lookups += 1
            if self.interruptions:
                self.interruptions.pop(0)()
        return super().hydrate(chunk_ids)


@dataclass
class Busy(Shelf):
    store: Interrupted = field(default_factory=Interrupted)

    def found(self, mode: SearchMode = SearchMode.HYBRID) -> Retrieval:
        return self.hybrid().search(SearchQuery("rope", mode=mode))


@pytest.fixture
def busy() -> Busy:
    shelf = Busy()
    shelf.add("ship.md", "a rope on a ship")
    return shelf


MODES = list(SearchMode)


@pytest.mark.parametrize("mode", MODES)
def test_a_document_that_is_replaced_during_a_search_is_found_all_the_same(
    busy: Busy, mode: SearchMode
) -> None:
    busy.store.interruptions = [lambda: busy.add("ship.md", "a longer rope on the same ship")]
    found = busy.found(mode)
    assert [(hit.doc_path, hit.snippet.text) for hit in found.hits] == [
        ("ship.md", "a longer rope on the same ship")
    ]
    assert found.degraded == ()


@pytest.mark.parametrize("mode", MODES)
def test_a_search_that_never_finds_a_quiet_moment_says_so(busy: Busy, mode: SearchMode) -> None:
    busy.store.interruptions = [
        partial(busy.add, "ship.md", f"rope number {number}") for number in range(100)
    ]
    assert [note.code for note in busy.found(mode).degraded] == ["changing"]


def test_what_a_search_says_of_every_leg_needs_no_second_attempt(busy: Busy) -> None:
    def stored_and_not_indexed() -> None:
        busy.catch_up = lambda: None  # type: ignore[method-assign]
        busy.add("other.md", "another rope")

    busy.store.interruptions = [stored_and_not_indexed] + [lambda: busy.add("more.md", "rope")] * 5
    found = busy.found()
    assert {note.part for note in found.degraded} == {"lexical", "vector"}
    assert "changing" not in {note.code for note in found.degraded}


def test_a_quiet_search_is_made_once(busy: Busy) -> None:
    busy.found()
    once = busy.store.lookups
    busy.store.interruptions = [lambda: busy.add("ship.md", "a new rope")]
    busy.store.lookups = 0
    busy.found()
    assert once < busy.store.lookups <= ATTEMPTS * once


class Counting(FakeEmbedder):
    asked = 0

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        self.asked += kind is EmbeddingKind.QUERY
        return super().embed(texts, kind)


@pytest.fixture
def counted() -> Busy:
    shelf = Busy(embedder=Counting())
    shelf.add("ship.md", "a rope on a ship")
    return shelf


def both_ways(busy: Busy, retriever: HybridRetriever) -> list[Retrieval]:
    query = SearchQuery("rope")
    return [retriever.search(query), retriever.search(replace(query, by_document=True))]


def test_a_search_that_is_shown_in_two_ways_asks_the_legs_once(counted: Busy) -> None:
    assert isinstance(counted.embedder, Counting)
    once = both_ways(counted, counted.hybrid().remembering())
    assert counted.embedder.asked == 1
    assert [found.hits for found in once] == [found.hits for found in both_ways(counted, counted.hybrid())]
    assert counted.embedder.asked == 3


def test_what_was_found_of_another_state_is_not_shown_again(counted: Busy) -> None:
    retriever = counted.hybrid().remembering()
    retriever.search(SearchQuery("rope"))
    counted.add("ship.md", "a longer rope on the same ship")
    found = retriever.search(SearchQuery("rope"))
    assert [hit.snippet.text for hit in found.hits] == ["a longer rope on the same ship"]
