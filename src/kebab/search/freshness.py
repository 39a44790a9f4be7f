"""Whether a search was answered from one state: the store and both indexes may move while it runs."""

from __future__ import annotations

from kebab.domain.hits import Degradation, Retrieval
from kebab.domain.values import dataclass
from kebab.errors import EngineError
from kebab.ports import DocumentStore, StoreState
from kebab.search.legs import LegRetriever

ATTEMPTS = 3
"""How often a search is begun before it says that the documents keep changing."""
CHANGING = Degradation(
    "store", "changing", "the documents changed while they were searched", "search again in a moment"
)
_SAID = frozenset({"index_behind", "not_embedded"})


@dataclass(frozen=True, slots=True)
class State:
    """Equal states before and after a search: everything that it read belongs together."""

    store: StoreState
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Freshness:
    """Looks at the store and at the indexes: a few microseconds beside milliseconds of searching."""

    store: DocumentStore
    legs: tuple[LegRetriever, ...]

    def state(self) -> State:
        """Raises NotIndexed where the store is gone."""
        return State(self.store.state(), tuple(map(_position, self.legs)))

    def holds(self, found: Retrieval, *, since: State) -> bool:
        """Whether what was found is the answer of one state, or says itself of every leg that it is not."""
        said = {note.part for note in found.degraded if note.code in _SAID}
        return said >= {leg.leg.value for leg in self.legs} or self.state() == since


def _position(leg: LegRetriever) -> int:
    try:
        return leg.position()
    except EngineError:
        return -1  # an index that cannot be read is named by the search itself
