"""The two legs of a search of the memory, what becomes of one that cannot run, and their fusion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kebab.domain.executions import ExecutionFilters
from kebab.domain.fusion import Fused, Ranked, rrf
from kebab.domain.hits import Degradation
from kebab.errors import EngineError, InvalidInput, KebabError, ModelMismatch, ModelUnavailable
from kebab.memory.follow import catch_up
from kebab.memory.record import model_label
from kebab.ports import Embedder, EmbeddingKind, ExecutionIndex, ExecutionStore, MemoryKind, VectorSpace

LEXICAL = "lexical"
SEMANTIC = "semantic"

CANDIDATES = 100


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


Found = tuple[list[Fused], dict[str, list[Ranked]], tuple[Degradation, ...]]


@dataclass(frozen=True, slots=True)
class Legs:
    """Runs legs over one kind of record and fuses them with the fusion of document search."""

    store: ExecutionStore
    index: ExecutionIndex
    kind: MemoryKind
    embedder: Embedder | None

    def run(self, cue: Cue, names: Sequence[str], *, limit: int, filters: ExecutionFilters) -> Found:
        """What was found, the lists it was fused from, and which leg could not take part.

        Raises InvalidInput for an empty cue, and the first leg's error when no leg could run.
        """
        if cue.empty:
            raise InvalidInput("there is nothing to look for: text and embedding are both empty")
        notes = self._caught_up()
        pool = max(CANDIDATES, 2 * limit)
        calls: dict[str, Callable[[], list[Ranked]]] = {
            LEXICAL: lambda: self._lexical(cue, filters, pool),
            SEMANTIC: lambda: self._semantic(cue, filters, pool),
        }
        ranked, failed = _attempted({name: calls[name] for name in names})
        if failed and not ranked:
            raise next(iter(failed.values()))
        notes += [Degradation(name, error.code, error.message) for name, error in failed.items()]
        return rrf(ranked), ranked, tuple(notes)

    def _caught_up(self) -> list[Degradation]:
        """An index that cannot follow still answers with what it has, and the answer says so."""
        latest = self.store.revision(self.kind)  # a store that cannot be read is no degradation but an error
        try:
            catch_up(self.store, self.index, self.kind, latest=latest)
        except EngineError as error:
            return [Degradation("index", error.code, f"the index is behind the store: {error.message}")]
        return []

    def _lexical(self, cue: Cue, filters: ExecutionFilters, pool: int) -> list[Ranked]:
        if not cue.text.strip():
            raise InvalidInput("no text was given, so words did not take part")
        return self.index.words(cue.text, filters=filters, limit=pool)

    def _semantic(self, cue: Cue, filters: ExecutionFilters, pool: int) -> list[Ranked]:
        spaces = self.index.spaces()
        if not spaces and self.index.position() == 0:
            return []  # an empty memory: nothing is missing
        vector, model = self._vector(cue)
        space = _space(len(vector), model, spaces)
        return self.index.nearest(vector, space=space, filters=filters, limit=pool)

    def _vector(self, cue: Cue) -> tuple[Sequence[float], str | None]:
        if cue.embedding:
            return cue.embedding, cue.embedding_model
        if cue.embedding is not None:
            raise InvalidInput("the embedding is empty, so meaning did not take part")
        if self.embedder is None:
            raise ModelUnavailable(
                "no embedding was given and no embedding model is configured, so meaning did not take part",
                hint="set models.embedding.provider, or search by words",
            )
        vector = self.embedder.embed([cue.text], EmbeddingKind.QUERY)[0]
        return vector.tolist(), model_label(self.embedder)


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
