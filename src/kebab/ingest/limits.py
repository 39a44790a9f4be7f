"""What an ingest run may use."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestLimits:
    max_file_bytes: int = 50 << 20
    follow_symlinks: bool = False
    workers: int = 0
    """Worker processes; 0 means one a core: they have more to do than the process that writes."""
    batch_size: int = 64
    """Texts given to the embedding model at once."""
    file_seconds: float = 120
    """A worker process that needs longer for one file is killed, and the file is reported as failed."""
    worker_bytes: int = 2 << 30
    """Memory of one worker process; 0 means no limit."""

    @property
    def processes(self) -> int:
        return self.workers or os.cpu_count() or 1


def limit_memory(limit: int) -> None:
    """Let this process have so many bytes; more raises MemoryError, or ends it. 0 sets no limit.

    Only POSIX has such limits, and macOS does not keep them.
    """
    try:
        import resource
    except ImportError:
        return
    # What is mapped from files (models, libraries) is not the parser's doing, and only Linux tells it apart.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    if limit:
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))
