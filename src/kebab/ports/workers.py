"""What we ask of whoever does work beside the process that writes: processes here, or other machines."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, Self

Job = Callable[[Any], object]
"""Takes one work and gives one answer; both, and the job itself, must be picklable."""


class WorkerDied(Exception):
    """The process that was asked is gone, by its own fault or because the workers were stopped."""


class WorkerOverdue(WorkerDied):
    """The process was killed because it took too long."""


class WorkerStarved(WorkerDied):
    """The process needed more memory than it may have, and was ended."""


class Workers(Protocol):
    """Some processes that do the named jobs they were made with. Leaving the context stops them all."""

    @property
    def elsewhere(self) -> bool:
        """Whether they may run on other machines, which have none of this one's files."""
        ...

    def __len__(self) -> int:
        """How many there are."""
        ...

    def submit(self, job: str, work: object, *, seconds: float | None = None) -> Future[Any]:
        """The answer of the first one that is free.

        Raises WorkerDied where the job brings its process down, whatever else it is given then; one that
        takes more than ``seconds`` is killed, which raises WorkerOverdue; one that needs more memory than its
        process may have raises WorkerStarved. Raises EngineUnavailable where no
        worker is left. A worker that is lost for another reason loses nothing: another does the work.
        """
        ...

    def rest(self) -> None:
        """Let go of what those hold that have nothing to do; the next job waits until one has begun again."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
