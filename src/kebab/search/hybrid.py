"""Finding by words and by meaning at once: run the legs, fuse their lists, say what happened."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from kebab.domain.fusion import Fused, Ranked
from kebab.domain.hits import (
    Correction,
    Degradation,
    FusionNote,
    Leg,
    Retrieval,
    ScoreKind,
    SearchTrace,
)
from kebab.domain.ids import ChunkId
from kebab.domain.queries import SearchMode, SearchQuery, SortOrder
from kebab.domain.values import dataclass
from kebab.errors import EngineError, ModelUnavailable
from kebab.ports import DocumentStore
from kebab.search.freshness import ATTEMPTS, CHANGING, Freshness, State
from kebab.search.fusion import FusionPolicy, QueryEvidence
from kebab.search.legs import CANDIDATES, LegRequest, LegRetriever, behind, failed
from kebab.search.order import SORTED, is_listing, listed, put_in_order
from kebab.search.placing import placed, places_of
from kebab.search.present import Presenter
from kebab.search.spread import WINDOW
from kebab.search.trace import Stopwatch
from kebab.search.turnstile import OF_THIS_PROCESS
from kebab.search.unread import misread, unread

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from kebab.search.either import EitherReader
    from kebab.search.patterns import PatternScanner
    from kebab.search.rerank import Stage
    from kebab.search.spell import Speller


_DEEPEST = 4000
"""No search for more documents goes on beyond this many hits."""


class EvidenceReader(Protocol):
    """Reads what the legs' hits say of the query, leg by leg; see ``search.evidence``."""

    def held(self, query: SearchQuery, by_words: Sequence[Ranked], *, looks: int = 0) -> QueryEvidence: ...

    def foreign(self, query: SearchQuery, by_meaning: Sequence[Ranked]) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True)
class _Found:
    """What the legs found, and what a fusion policy may know of it."""

    rankings: dict[str, list[Ranked]]
    evidence: QueryEvidence
    degraded: tuple[Degradation, ...]


class _Remembered:
    """What the legs found of one state, where somebody asked to remember it; one caller's own."""

    def __init__(self, found: dict[object, _Found] | None = None) -> None:
        self._found = found
        self._since: State | None = None

    def keep_only(self, since: State) -> None:
        """Forget what was found of another state."""
        if self._found and self._since != since:
            self._found.clear()
        if self._found is not None:
            self._since = since

    def get(self, key: object) -> _Found | None:
        return self._found.get(key) if self._found else None

    def put(self, key: object, found: _Found) -> None:
        if self._found is not None:
            self._found[key] = found


@cache
def _beside() -> ThreadPoolExecutor:
    """Most of a search by meaning runs outside the interpreter: meanwhile words are found and weighed."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(thread_name_prefix="kebab-leg")


def _after_fork() -> None:
    """The threads of the parent are not here: a search that gave them work would wait for ever."""
    _beside.cache_clear()
    OF_THIS_PROCESS.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True, slots=True)
class HybridRetriever:
    """Dispatches by mode: lexical and vector go to their leg as they are, hybrid runs both and fuses.

    A leg that fails is left out and named in ``degraded``; only when every leg fails does the search raise.
    """

    lexical: LegRetriever
    vector: LegRetriever | None
    store: DocumentStore
    fusion: FusionPolicy
    evidence: EvidenceReader
    presenter: Presenter
    candidates: int = CANDIDATES
    speller: Speller | None = None
    alternatives: EitherReader | None = None
    scanner: PatternScanner | None = None
    stages: tuple[Stage, ...] = ()
    """What is done to the hits of every mode before they are cut to k, in this order."""
    remembered: _Remembered = field(default_factory=_Remembered)

    def remembering(self) -> HybridRetriever:
        """This retriever for one caller, who shows one search in two ways: the legs are asked once."""
        return replace(self, remembered=_Remembered({}))

    @property
    def index_version(self) -> str:
        if self.vector is None:
            return self.lexical.index_version
        return f"hybrid:{self.lexical.index_version}+{self.vector.index_version}"

    def version_in(self, mode: SearchMode) -> str:
        """The version of what takes part in a search of this mode."""
        if mode is SearchMode.VECTOR and self.vector is not None:
            return self.vector.index_version
        return self.lexical.index_version if mode is SearchMode.LEXICAL else self.index_version

    def search(self, query: SearchQuery) -> Retrieval:
        """At most ``query.k`` hits, best first, ranks from 1, of one state of store and indexes.

        A search that others write into is begun again; one that never finds a quiet moment says so.
        """
        freshness = Freshness(self.store, self.legs_in(query.mode))
        for _ in range(ATTEMPTS):
            since = freshness.state()
            self.remembered.keep_only(since)
            with self.store.at_one_moment():
                spelled, corrections = self.spelled(query)
                narrow, unread_texts = self.narrowed(spelled)
                found = self._search(narrow)
                noted = (*found.degraded, *unread_texts, *misread(query.misread))
                found = replace(found, corrections=corrections, degraded=noted)
            if freshness.holds(found, since=since):
                return found
        return replace(found, degraded=(*found.degraded, CHANGING))

    def spelled(self, query: SearchQuery) -> tuple[SearchQuery, tuple[Correction, ...]]:
        """The query as it is searched for, with its typos corrected, and what was corrected."""
        if self.speller is None:
            return query, ()
        try:
            return self.speller.corrected(query, docs=self.store.matching(query.filters))
        except EngineError:
            # The words leg will say what is wrong with its index.
            return query, ()

    def narrowed(self, query: SearchQuery) -> tuple[SearchQuery, tuple[Degradation, ...]]:
        """The query with the chunks that patterns and alternatives leave, and what was not looked through."""
        degraded: tuple[Degradation, ...] = ()
        if query.patterns and self.scanner is not None:
            scan = self.scanner.scan(query.patterns, query.filters)
            query, degraded = replace(query, only=scan.chunks), scan.degraded()
        if query.either and self.alternatives is not None:
            held = self._holding(query, self.alternatives)
            kept = query.only if query.only is not None else tuple(sorted(held))
            query = replace(query, only=tuple(chunk for chunk in kept if chunk in held))
        # A beginning alone is no word that a text could hold: neither leg could tell what fits.
        if query.prefixes and query.text.split() == list(query.prefixes) and self.alternatives is not None:
            begun = self.alternatives.beginning(query.prefixes, self.store.matching(query.filters))
            kept = query.only if query.only is not None else tuple(sorted(begun))
            query = replace(query, only=tuple(chunk for chunk in kept if chunk in begun))
        return query, degraded

    def _holding(self, query: SearchQuery, alternatives: EitherReader) -> frozenset[ChunkId]:
        return alternatives.holding(query.either, self.store.matching(query.filters))

    def legs_in(self, mode: SearchMode) -> tuple[LegRetriever, ...]:
        """The legs that take part in a search of this mode."""
        both = (self.lexical, self.vector)
        return tuple(leg for leg in both if leg is not None and mode in (SearchMode.HYBRID, leg.leg.value))

    def _search(self, query: SearchQuery) -> Retrieval:
        if is_listing(query):
            return self._listed(query)
        sorted_ones = SORTED if query.sort is not SortOrder.SCORE else 0
        if sorted_ones or self.stages:
            query = replace(query, read=None)  # any of them may come to be shown
        found = self._enough(replace(query, k=max(query.k, self._window, sorted_ones)))
        if not found.hits:
            return replace(found, degraded=(*found.degraded, *unread(query.filters, self.store)))
        for stage in self.stages:
            found = stage.apply(query, found)
        if sorted_ones:
            first = put_in_order(found.hits[:SORTED], query.sort, self.store)
            found = replace(found, hits=(*first, *found.hits[SORTED:]))
        return replace(found, hits=found.hits[: query.k])

    def _listed(self, query: SearchQuery) -> Retrieval:
        """The documents that filters alone let through; nothing ranks them."""
        hits = self.presenter.hits(
            listed(query, self.store),
            query if query.only is not None else replace(query, by_document=False),
            score_kind=ScoreKind.LISTED,
            index_version=self.index_version,
            embedding_model=None,
        )
        return Retrieval(hits, () if hits else unread(query.filters, self.store))

    def _enough(self, query: SearchQuery) -> Retrieval:
        """As many hits as are asked for: where one document holds all candidates, more are fetched."""
        found, wide = self._unstaged(query), query
        while query.by_document and len(found.hits) < query.k and self._may_be_more(found, wide.k):
            wide = replace(wide, k=4 * wide.k)
            found = self._unstaged(wide)
        return found

    def _may_be_more(self, found: Retrieval, k: int) -> bool:
        """Whether some leg gave all that it was asked for, and may be asked for more."""
        deepest = max(map(len, found.trace.legs.values()), default=0)
        return k <= _DEEPEST and deepest >= self._depth(k)

    @property
    def _window(self) -> int:
        return max((stage.window for stage in self.stages), default=0)

    def _unstaged(self, query: SearchQuery) -> Retrieval:
        if query.mode is SearchMode.VECTOR and self.vector is None:
            raise ModelUnavailable(
                "no embedding model is configured, so nothing can be found by meaning",
                hint='set models.embedding.provider, for example to "static"',
            )
        if query.mode is SearchMode.LEXICAL or self.vector is None:
            return self.lexical.search(query)
        if query.mode is SearchMode.VECTOR:
            return self.vector.search(query)
        return self._fused_search(query, self.vector)

    def rank(self, query: SearchQuery) -> list[Ranked]:
        """The order that ``search`` shows, at least ``query.k`` deep, without making hits of it."""
        query = self.narrowed(self.spelled(query)[0])[0]
        ranked = self._unstaged_rank(query)
        if not self.stages:
            return ranked
        first = [Ranked(hit.chunk_id, hit.score) for hit in self.search(replace(query, k=self._window)).hits]
        return _followed(first, ranked)

    def _unstaged_rank(self, query: SearchQuery) -> list[Ranked]:
        if query.mode is SearchMode.HYBRID and self.vector is not None:
            with ExitStack() as working:
                found = self._find(query, self.vector, Stopwatch(), working)
            fused, places = self._fuse(query, found)[0], places_of(found.rankings)
            every = (placed(item, places, self.candidates) for item in fused)
            shown = self.presenter.select(every, WINDOW, spread_out=True)
            first = [Ranked(item.chunk_id, item.score) for item, _ in shown]
            return _followed(first, [Ranked(item.id, item.score) for item in fused])
        leg = self.vector if self.vector is not None and query.mode is SearchMode.VECTOR else self.lexical
        return leg.rank(query, depth=query.k, docs=self.store.matching(query.filters))

    def before_fusion(self, query: SearchQuery) -> tuple[dict[str, list[Ranked]], QueryEvidence]:
        """What the fusion policy gets to see of a query: the legs' first tier and the evidence."""
        with ExitStack() as working:
            found = self._find(query, self.vector, Stopwatch(), working)
        return _tier(found.rankings, 0, self.candidates, set()), found.evidence

    def _fused_search(self, query: SearchQuery, vector: LegRetriever) -> Retrieval:
        watch = Stopwatch()
        with ExitStack() as working:
            found = self._find(query, vector, watch, working)
            fused, note = self._fuse(query, found)
            watch.lap("fusion")
            places = places_of(found.rankings)
            took_part = vector.leg.value in found.rankings
            hits = self.presenter.hits(
                (placed(item, places, self.candidates) for item in fused),
                query,
                score_kind=self.fusion.kind,
                index_version=self.index_version,
                embedding_model=vector.embedding_model if took_part else None,
                spread_out=True,
            )
            watch.lap("present")
        return Retrieval(hits, found.degraded, SearchTrace(found.rankings, watch.timings_ms), note)

    def _find(
        self, query: SearchQuery, vector: LegRetriever | None, watch: Stopwatch, working: ExitStack
    ) -> _Found:
        """What the legs find, or found for the same words and depth a moment ago."""
        key = (self._depth(query.k), replace(query, k=1, by_document=False))
        found = self.remembered.get(key) or self._ask(query, vector, watch, working)
        self.remembered.put(key, found)
        return found

    def _ask(
        self, query: SearchQuery, vector: LegRetriever | None, watch: Stopwatch, working: ExitStack
    ) -> _Found:
        """Ask both legs; one that fails is left out and named. Raises when all fail.

        The turnstile stays passed until ``working`` ends. A model is asked before: it may be a server. Both
        legs are asked at once where nobody else searches; otherwise threads enough are at work.
        """
        asked = LegRequest(query, self._depth(query.k), self.store.matching(query.filters))
        look = asked.of(vector) if vector is not None else None
        alone = working.enter_context(OF_THIS_PROCESS.passed())
        nearest = (_beside().submit(look).result if alone else look) if look is not None else None
        by_words = asked.of(self.lexical)()
        evidence = self.evidence.held(query, by_words.ranking, looks=self.fusion.looks)
        lacking = {leg.leg: behind(leg) for leg in (self.lexical, vector) if leg is not None}
        answers = [by_words] if nearest is None else [by_words, nearest()]
        for answer in answers:
            watch.note(answer.leg.value, answer.spent_ms)
        rankings = {answer.leg.value: answer.ranking for answer in answers if answer.error is None}
        if not rankings:
            raise next(answer.error for answer in answers if answer.error is not None)
        foreign = self.evidence.foreign(query, rankings.get(Leg.VECTOR.value, []))
        degraded = [
            (failed(answer.leg, answer.error),) if answer.error else lacking[answer.leg] for answer in answers
        ]
        return _Found(rankings, replace(evidence, foreign=foreign), tuple(chain.from_iterable(degraded)))

    def _depth(self, k: int) -> int:
        """Whole tiers, at least twice k deep."""
        tiers = max(1, -(-2 * k // self.candidates))
        return tiers * self.candidates

    def _fuse(self, query: SearchQuery, found: _Found) -> tuple[list[Fused], FusionNote]:
        """Fuse tier by tier: the first ``candidates`` of each leg, then the next, and so on.

        What stands in the first tier is thus the same for every k: a larger k only adds below it. A tier's
        scores are scaled under the last score of the tier before, so that the order is the scores' order.
        """
        rankings, evidence = found.rankings, found.evidence
        fused, note = self.fusion.fuse(_tier(rankings, 0, self.candidates, set()), evidence)
        if len(rankings) == 1:
            note = FusionNote(note.policy, dict.fromkeys(rankings, 1.0), "the other leg did not take part")
        for start in range(self.candidates, self._depth(query.k), self.candidates):
            seen = {item.id for item in fused}
            tier = _tier(rankings, start, self.candidates, seen)
            ceiling = fused[-1].score if fused else 1.0
            fused += [_scaled(item, ceiling) for item in self.fusion.fuse(tier, evidence)[0]]
        return fused, note


def _followed(first: list[Ranked], others: list[Ranked]) -> list[Ranked]:
    """What comes first, then the others that are not among it."""
    seen = {item.id for item in first}
    return [*first, *(item for item in others if item.id not in seen)]


def _tier(
    rankings: Mapping[str, Sequence[Ranked]], start: int, size: int, seen: set[str]
) -> dict[str, list[Ranked]]:
    return {
        leg: [item for item in ranking[start : start + size] if item.id not in seen]
        for leg, ranking in rankings.items()
    }


def _scaled(item: Fused, ceiling: float) -> Fused:
    parts = {leg: part * ceiling for leg, part in item.contributions.items()}
    return Fused(item.id, item.score * ceiling, parts)
