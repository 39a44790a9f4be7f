"""The settings that shape chunks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kebab.domain.ids import digest


@dataclass(frozen=True, slots=True)
class ChunkPolicy:
    """Sizes in estimated tokens: 0 ≤ overlap < target ≤ max."""

    target_tokens: int = 500
    overlap_tokens: int = 80
    max_tokens: int = 1000

    def __post_init__(self) -> None:
        if not 0 <= self.overlap_tokens < self.target_tokens <= self.max_tokens:
            raise ValueError(f"impossible chunk sizes: {self}")

    @property
    def hash(self) -> str:
        """Names the policy in chunk ids and fingerprints: other sizes, other chunks."""
        return _hash(self)


@lru_cache(maxsize=16)
def _hash(policy: ChunkPolicy) -> str:
    return digest("chunk_policy", policy.target_tokens, policy.overlap_tokens, policy.max_tokens)[:16]
