"""Stand-ins for workers, and for Ray itself."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from kebab.adapters.ray_session import Session
from kebab.ports import Job, WorkerDied, WorkerOverdue


class FakeWorkers:
    """One thread of this process; a job that raises has brought its worker down."""

    def __init__(self, jobs: Mapping[str, Job], *, elsewhere: bool = False) -> None:
        self._jobs = dict(jobs)
        self._threads, self._doing = ThreadPoolExecutor(1), ThreadPoolExecutor(2)
        self.elsewhere = elsewhere

    def __len__(self) -> int:
        return 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for threads in (self._threads, self._doing):
            threads.shutdown(wait=True, cancel_futures=True)

    def submit(self, job: str, work: object, *, seconds: float | None = None) -> Future[Any]:
        return self._threads.submit(self._ask, job, pickle.dumps(work), seconds)

    def rest(self) -> None:
        pass

    def _ask(self, job: str, work: bytes, seconds: float | None) -> object:
        doing = self._doing.submit(lambda: self._jobs[job](pickle.loads(work)))
        try:
            return doing.result(timeout=seconds)
        except Late:
            raise WorkerOverdue from None
        except (ValueError, SystemExit):
            raise WorkerDied from None


class NodeLost(Exception):
    """What the fake Ray raises where the real one would say that an actor is dead."""


@dataclass
class _Actor:
    made: Any
    dies_after: int
    """Calls that it answers."""
    is_dead: bool = False


@dataclass
class _Method:
    actor: _Actor
    name: str

    def remote(self, *given: object) -> Callable[[], object]:
        def call() -> object:
            if self.name != "equipment" and self.actor.dies_after == 0:
                self.actor.is_dead = True
            if self.actor.is_dead:
                raise NodeLost
            self.actor.dies_after -= self.name != "equipment"
            found: object = getattr(self.actor.made, self.name)(*given)
            return found

        return call


@dataclass
class _Handle:
    actor: _Actor

    def __getattr__(self, name: str) -> _Method:
        return _Method(self.actor, name)


@dataclass
class FakeRay:
    """As much of Ray as is used: actors live here, and each dies after as many answers as it is told to."""

    lives: list[int]
    """Answers of each actor before it dies, in the order of their start; -1 for ever. No more can start."""
    cores: int = 2
    actors: list[_Actor] = field(default_factory=list)
    is_open: bool = False

    @contextmanager
    def connect(self, _: str, *, cores: int = 0) -> Iterator[Session]:
        self.is_open = True
        yield Session(self, cores or self.cores, (NodeLost,))
        self.is_open = False

    def remote(self, **_: object) -> Callable[[type], Any]:
        return lambda kind: _Starter(self, kind)

    def get(self, call: Callable[[], object], timeout: float | None = None) -> object:
        return call()

    def kill(self, handle: _Handle) -> None:
        handle.actor.is_dead = True


@dataclass
class _Starter:
    ray: FakeRay
    kind: type

    def remote(self, *given: object) -> _Handle:
        started = len(self.ray.actors)
        lives = self.ray.lives[started] if started < len(self.ray.lives) else 0
        actor = _Actor(_Told(self.kind(*given)), lives, is_dead=started >= len(self.ray.lives))
        self.ray.actors.append(actor)
        return _Handle(actor)


@dataclass
class _Told:
    """An actor that says where it is without a Ray to ask."""

    made: Any

    def equipment(self) -> tuple[str, dict[str, str]]:
        return "10.0.0.7", dict(self.made._equipment())

    def ask(self, *given: Any) -> object:
        found: object = self.made.ask(*given)
        return found
