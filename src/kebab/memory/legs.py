"""The two legs of a search of the memory, what becomes of one that cannot run, and their fusion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kebab.domain.executions import ExecutionFilters, direction
from kebab.domain.fusion import Fused, Ranked, rrf
from kebab.domain.hits import Degradation
from kebab.errors import EngineUnavailable, InvalidInput, KebabError, ModelMismatch, ModelUnavailable
from kebab.memory.embedding import model_label
from kebab.ports import Embedder, EmbeddingKind, ExecutionIndex, VectorSpace

LEXICAL = "lexical"
SEMANTIC = "semantic"

CANDIDATES = 100
DEEP = 1000
"""How many candidates each leg gives, for at most a hundred hits and for more."""


@dataclass(frozen=True, slots=True)
class Cue:
    """What is remembered of the record that is looked for."""

    text: str = ""
    embedding: tuple[float, ...] | None = None
    """None: made from the text. Empty: there is none."""
    embedding_model: str | None = None

    @classmethod
    def of(cls, text: str, embedding: Sequence[float] | None, model: str | None) -> Cue:
        return cls(text, None if embedding is None else tuple(embedding), model)

    @property
    def empty(self) -> bool:
        return not self.text.strip() and not self.embedding


@dataclass(frozen=True, slots=True)
class Found:
    """What the legs found: fused, best first, and each leg's own list."""

    fused: list[Fused]
    ranked: dict[str, list[Ranked]]
    notes: tuple[Degradation, ...]
    vector: Sequence[float] | None = None
    """What meaning was asked by, and the space it belongs to."""
    space: VectorSpace | None = None


@dataclass(frozen=True, slots=True)
class Legs:
    """Runs legs over one kind of record and fuses them with the fusion of document search."""

    index: ExecutionIndex
    embedder: Embedder | None

    def run(self, cue: Cue, names: Sequence[str], *, limit: int, filters: ExecutionFilters) -> Found:
        """What was found, the lists it was fused from, and which leg could not take part.

        Raises InvalidInput for an empty cue, and the first leg's error when no leg could run.
        """
        if cue.empty:
            raise InvalidInput("there is nothing to look for: text and embedding are both empty")
        behind = self.index.refresh()
        notes = [Degradation("index", EngineUnavailable.code, behind)] if behind else []
        pool = CANDIDATES if limit <= CANDIDATES else DEEP
        asked = _Asked()
        calls: dict[str, Callable[[], list[Ranked]]] = {
            LEXICAL: lambda: self._lexical(cue, filters, pool),
            SEMANTIC: lambda: self._semantic(cue, filters, pool, asked),
        }
        ranked, failed = _attempted({name: calls[name] for name in names})
        if failed and not ranked:
            raise next(iter(failed.values()))
        notes += [Degradation(name, error.code, error.message) for name, error in failed.items()]
        notes += asked.notes
        return Found(fused(ranked), ranked, tuple(notes), asked.vector, asked.space)

    def _lexical(self, cue: Cue, filters: ExecutionFilters, pool: int) -> list[Ranked]:
        if not cue.text.strip():
            raise InvalidInput("no text was given, so words did not take part")
        return self.index.words(cue.text, filters=filters, limit=pool)

    def _semantic(self, cue: Cue, filters: ExecutionFilters, pool: int, asked: _Asked) -> list[Ranked]:
        spaces = self.index.spaces()
        if not spaces and not self.index.frequencies(()).records:
            return []  # an empty memory: nothing is missing
        vector, model = self._vector(cue)
        asked.space = _space(len(vector), model, spaces)
        asked.vector = vector
        if others := sum(count for space, count in spaces.items() if space != asked.space):
            asked.notes.append(_partly(others, asked.space))
        return self.index.nearest(vector, space=asked.space, filters=filters, limit=pool)

    def _vector(self, cue: Cue) -> tuple[Sequence[float], str | None]:
        if cue.embedding:
            return direction(cue.embedding), cue.embedding_model
        if cue.embedding is not None:
            raise InvalidInput("the embedding is empty, so meaning did not take part")
        if self.embedder is None:
            raise ModelUnavailable(
                "no embedding was given and no embedding model is configured, so meaning did not take part",
                hint="set models.embedding.provider, or search by words",
            )
        vector = self.embedder.embed([cue.text], EmbeddingKind.QUERY)[0]
        return vector.tolist(), model_label(self.embedder)


@dataclass(slots=True)
class _Asked:
    vector: Sequence[float] | None = None
    space: VectorSpace | None = None
    notes: list[Degradation] = field(default_factory=list)


def fused(ranked: dict[str, list[Ranked]]) -> list[Fused]:
    """The legs' lists as one, in an order that does not depend on how many are wanted.

    Only the first hundred of a list speak for a record that another list holds. What stands further down
    comes after all of those.
    """
    head = rrf({name: hits[:CANDIDATES] for name, hits in ranked.items()})
    if all(len(hits) <= CANDIDATES for hits in ranked.values()):
        return head
    seen = {item.id for item in head}
    lowest = head[-1].score if head else 1.0
    tail = [item for item in rrf(ranked) if item.id not in seen]
    return head + [item._replace(score=min(item.score, lowest)) for item in tail]


def _partly(others: int, space: VectorSpace) -> Degradation:
    """After a change of model: meaning sees only what was embedded with it."""
    return Degradation(
        SEMANTIC,
        ModelMismatch.code,
        f"{others} records have no vector of {space.model} and were not compared; "
        "embed them with: kebab memory embed",
    )


def _space(dimensions: int, model: str | None, spaces: dict[VectorSpace, int]) -> VectorSpace:
    """The vectors that can be compared with the given one. Raises ModelMismatch where there are none."""
    fitting = [space for space in spaces if space.dimensions == dimensions and model in (None, space.model)]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(f"{space.model} ({space.dimensions})" for space in spaces) or "none"
    if fitting:
        raise InvalidInput(f"several models have {dimensions} dimensions: name one of {known}")
    asked = f"{model} ({dimensions})" if model else f"{dimensions} dimensions"
    raise ModelMismatch(
        f"no record has a vector of {asked}; the memory's models: {known}",
        hint="embed the records again with: kebab memory embed",
    )


def _attempted(
    calls: dict[str, Callable[[], list[Ranked]]],
) -> tuple[dict[str, list[Ranked]], dict[str, KebabError]]:
    ranked: dict[str, list[Ranked]] = {}
    failed: dict[str, KebabError] = {}
    for name, call in calls.items():
        try:
            ranked[name] = call()
        except KebabError as error:
            failed[name] = error
    return ranked, failed
