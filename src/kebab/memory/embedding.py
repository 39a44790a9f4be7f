"""How the memory names a model; and one that cannot be used, which is told of where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kebab.errors import EngineError, ModelUnavailable
from kebab.ports import Embedder, EmbeddingKind

if TYPE_CHECKING:
    from kebab.ports import Vectors


@dataclass(frozen=True, slots=True)
class UnavailableEmbedder:
    """Embedder in place of one that could not be built; every use raises ModelUnavailable with the reason."""

    reason: EngineError
    model_id: str = "unavailable"
    version: str = ""
    dimensions: int = 0

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        raise ModelUnavailable(self.reason.message, hint=self.reason.hint) from self.reason


def model_label(embedder: Embedder) -> str:
    """Names a model in the memory: vectors of two versions are as incomparable as those of two models."""
    return f"{embedder.model_id}@{embedder.version}"
