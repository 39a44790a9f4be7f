"""Who reads and embeds for a run: this process, worker processes, or the machines of a cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module

from kebab.ingest.limits import IngestLimits
from kebab.ingest.parse.reading import Reading
from kebab.ingest.prepare import FileTask, Preparing
from kebab.ingest.workers import ProcessWorkers, is_large, needs_workers
from kebab.ports import Embedder, EmbeddingKind, Job, Vectors, Workers

PREPARE = "prepare"
"""The name of the workers' job that prepares files."""
EMBED = "embed"
"""The name of the workers' job that embeds texts as documents."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """Embeds texts as documents, some at a time; travels to other processes with its model."""

    embedder: Embedder
    batch_size: int

    def __call__(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        starts = range(0, len(texts), self.batch_size)
        batches = (texts[start : start + self.batch_size] for start in starts)
        return np.concatenate([self.embedder.embed(batch, EmbeddingKind.DOCUMENT) for batch in batches])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Other machines, which do the work of large runs."""

    hire: Callable[[Mapping[str, Job], int], Workers]
    """Starts workers for these jobs; the number is the memory of each in bytes, 0 for no limit."""
    reading: Reading
    """Engines as they are found there."""
    embeds: bool
    """Whether the embedding model can be used there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staff:
    """Hires workers for a run, where there is enough to do for them."""

    preparing: Preparing
    limits: IngestLimits
    embedder: Embedder | None = None
    embed_apart: bool = False
    cluster: Cluster | None = None

    @property
    def shares_embedding(self) -> bool:
        """Whether workers of a large run embed too."""
        return self.embedder is not None and (self.cluster.embeds if self.cluster else self.embed_apart)

    def embeds(self, workers: Workers) -> bool:
        """Whether these workers have the job of embedding."""
        return self.shares_embedding if workers.elsewhere else self.embed_apart

    def embeds_on_the_way(self, workers: Workers | None) -> bool:
        """Whether these workers embed what they read."""
        return workers is not None and not workers.elsewhere and self.embeds(workers)

    def hired(self, tasks: list[FileTask], *, much_to_embed: bool) -> Workers | None:
        """Workers to be entered; None where this process does the work alone, or can start no other."""
        much = is_large(tasks) or much_to_embed
        if self.cluster is not None and much:
            jobs = self._jobs(replace(self.preparing, reading=self.cluster.reading), self.cluster.embeds)
            return self.cluster.hire(jobs, self.limits.worker_bytes)
        if not ((needs_workers(tasks, self.preparing.formats) or much) and sys.executable):
            return None
        # A model so light that a process may have its own embeds a text while it is at hand.
        preparing = replace(self.preparing, embedder=self.embedder if self.embed_apart else None)
        return ProcessWorkers(
            self._jobs(preparing, self.embed_apart),
            processes=min(self.limits.processes, self.limits.processes if much else len(tasks)),
            memory=self.limits.worker_bytes,
        )

    def _jobs(self, preparing: Preparing, embeds: bool) -> dict[str, Job]:
        jobs: dict[str, Job] = {PREPARE: preparing}
        if self.embedder is not None and embeds:
            _expect_arrays()
            jobs[EMBED] = Embedding(self.embedder, self.limits.batch_size)
        return jobs


def _expect_arrays() -> None:
    """Import numpy before any answer holds an array.

    Unpickling one imports a module inside of numpy first. Where another thread imports numpy itself at that
    moment, each waits for what the other holds, and both get half of it: the run, the search or the note
    failed with an ImportError.
    """
    import_module("numpy")
