"""A model that cannot be used: the memory says so where it would have been needed, and works without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kebab.errors import EngineError, ModelUnavailable
from kebab.ports import EmbeddingKind

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
