"""The legs of a search, and how one is asked: made ready in the caller's thread, answered in any."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Protocol

from kebab.domain.fusion import Ranked
from kebab.domain.hits import Degradation, Leg, Retrieval
from kebab.domain.ids import DocId
from kebab.domain.plurals import count_of
from kebab.domain.queries import SearchQuery
from kebab.domain.values import dataclass
from kebab.errors import EngineError

MANY = 1000
"""Where a search stops counting the documents that an index lacks."""


CANDIDATES = 100
"""How many chunks of a leg take part in a search, and the step in which that grows."""


def candidates(query: SearchQuery, step: int = CANDIDATES) -> int:
    """How many chunks a leg that answers alone is asked for: more than are shown where they are grouped."""
    return max(1, -(-2 * query.k // step)) * step if query.by_document else query.k


class LegRetriever(Protocol):
    """Finds chunks in one way: by words, or by meaning."""

    @property
    def index_version(self) -> str: ...

    def search(self, query: SearchQuery) -> Retrieval:
        """At most ``query.k`` hits, best first, ranks from 1."""
        ...

    @property
    def leg(self) -> Leg: ...

    @property
    def embedding_model(self) -> str | None: ...

    def rank(self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None) -> list[Ranked]: ...

    def prepared(
        self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None
    ) -> Callable[[], list[Ranked]]:
        """The same in two steps: what may take long or be interrupted now, the rest in any thread."""
        ...

    def position(self) -> int:
        """The outbox position of the leg's index; raises EngineError where it cannot be read."""
        ...

    def degraded(self) -> tuple[Degradation, ...]: ...


@dataclass(frozen=True, slots=True)
class UnavailableLeg:
    """Stands for a leg that could not be built: every use of it raises why."""

    leg: Leg
    error: EngineError

    @property
    def index_version(self) -> str:
        return f"{self.leg.value}:unavailable"

    @property
    def embedding_model(self) -> str | None:
        return None

    def search(self, query: SearchQuery) -> Retrieval:
        raise self.error

    def rank(self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None) -> list[Ranked]:
        raise self.error

    def prepared(
        self, query: SearchQuery, *, depth: int, docs: frozenset[DocId] | None
    ) -> Callable[[], list[Ranked]]:
        raise self.error

    def position(self) -> int:
        return 0

    def degraded(self) -> tuple[Degradation, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class LegAnswer:
    """What a leg gave: its ranking, or the error in place of it; and how long it took."""

    leg: Leg
    ranking: list[Ranked]
    error: EngineError | None
    spent_ms: float


@dataclass(frozen=True, slots=True)
class LegRequest:
    """What every leg is asked."""

    query: SearchQuery
    depth: int
    docs: frozenset[DocId] | None

    def of(self, leg: LegRetriever) -> Callable[[], LegAnswer]:
        """The leg made ready in this thread; what is left to do may be done in any. Neither raises."""
        started = perf_counter()
        try:
            rest = leg.prepared(self.query, depth=self.depth, docs=self.docs)
        except EngineError as error:
            return partial(LegAnswer, leg.leg, [], error, (perf_counter() - started) * 1000)
        return partial(_answer, leg.leg, rest, started)


def _answer(leg: Leg, rest: Callable[[], list[Ranked]], started: float) -> LegAnswer:
    try:
        ranking, failure = rest(), None
    except EngineError as error:
        ranking, failure = [], error
    return LegAnswer(leg, ranking, failure, (perf_counter() - started) * 1000)


def behind(leg: LegRetriever) -> tuple[Degradation, ...]:
    """What the leg says that it lacks; that it cannot even tell is said too."""
    try:
        return leg.degraded()
    except EngineError as error:
        return (failed(leg.leg, error),)


def failed(leg: Leg, error: EngineError) -> Degradation:
    """How a response names a leg that could not answer."""
    return Degradation(leg.value, error.code, error.message, error.hint)


def lagging(leg: Leg, index: str, behind: int) -> tuple[Degradation, ...]:
    """How a response names an index that lacks documents; empty for one that lacks none."""
    if not behind:
        return ()
    shown = count_of(behind, "document") if behind < MANY else f"{MANY} documents or more"
    message = f"the {index} lacks the latest state of {shown}"
    return (Degradation(leg.value, "index_behind", message, "run `kebab index`"),)
