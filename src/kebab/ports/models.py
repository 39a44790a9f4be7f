"""Models: texts into vectors, scores and prose."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from kebab.domain.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:  # numpy is loaded by the adapters that need it
    Vectors = object


class EmbeddingKind(StrEnum):
    DOCUMENT = "document"
    QUERY = "query"


class Embedder(Protocol):
    """Texts in, unit vectors out. The same text gives the same vector, whatever stands beside it."""

    @property
    def model_id(self) -> str: ...

    @property
    def version(self) -> str:
        """Changes whenever the same text would give another vector."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        """One row a text, in order, each of length 1. Raises ModelUnavailable, ModelMismatch, Timeout."""
        ...


@dataclass(frozen=True, slots=True)
class ModelKey:
    """Names the vectors of one model; those of two models are never mixed."""

    model_id: str
    version: str
    dimensions: int

    @classmethod
    def of(cls, embedder: Embedder) -> ModelKey:
        return cls(embedder.model_id, embedder.version, embedder.dimensions)


class Vocabulary(Protocol):
    """Words of a language, to tell a typo from a word that a corpus happens to lack."""

    def has(self, word: str) -> bool:
        """Whether this is a word, in any case and English form; may not know every word."""
        ...


class Reranker(Protocol):
    """Reads query and text together: how well do they fit? A text's score does not depend on the others."""

    @property
    def model_id(self) -> str: ...

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One number a text, in order, larger is better, of any scale. Raises ModelUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model reads: the rules, and the question with its evidence."""

    system: str
    user: str


class Ending(StrEnum):
    """Why a model stopped writing."""

    DONE = "done"
    TOKENS = "tokens"
    """It reached the number of tokens that it was given."""
    SECONDS = "seconds"
    """It ran out of the time that it was given."""


JsonSchema = Mapping[str, object]


class LanguageModel(Protocol):
    """Writes text from a prompt, piece by piece."""

    @property
    def name(self) -> str:
        """Provider and model, such as ``ollama:qwen3:4b``."""
        ...

    @property
    def context_tokens(self) -> int:
        """How many tokens prompt and answer may have together."""
        ...

    def stream(
        self,
        prompt: Prompt,
        *,
        max_tokens: int,
        schema: JsonSchema | None = None,
        seconds: float | None = None,
    ) -> Generator[str, None, Ending]:
        """The answer as it is written, and why it ended; closing the iterator stops the model.

        With ``schema`` the text is a JSON object of that form where the server offers it, and free text where
        the server refuses. After ``seconds`` the model is stopped, whatever had arrived.

        Raises ModelUnavailable (no server, no such model, a key refused, the stream breaks) or Timeout.
        """
        ...
