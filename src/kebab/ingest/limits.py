"""What an ingest run may use."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestLimits:
    max_file_bytes: int = 50 << 20
    follow_symlinks: bool = False
    workers: int = 0
    """Worker processes; 0 means one a core: they have more to do than the process that writes."""
    batch_size: int = 64
    """Texts given to the embedding model at once."""

    @property
    def processes(self) -> int:
        return self.workers or os.cpu_count() or 1
