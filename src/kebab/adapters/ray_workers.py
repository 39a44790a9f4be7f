"""Workers on a Ray cluster: an actor for each free core, each with a worker process of its own.

The actor only passes work on. Files are read in its child process, under the same limits of time and memory
as on one machine, so a file that brings its process down is told apart from a machine that is gone: the first
is the file's failure, the second is nobody's, and another actor does the work again.
"""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock
from typing import Any

from kebab.adapters.ray_session import Session, connected
from kebab.errors import EngineUnavailable
from kebab.ports import Job, WorkerDied, WorkerOverdue, Workers, WorkerStarved

START_SECONDS = 60.0
"""How long a node may take to start an actor: it imports Ray and kebab."""
TRIES = 4
"""How many actors may be lost over one work before the work itself is thought to be the reason."""
_IN_FLIGHT = 2
"""Works given to an actor at once: the next one travels while the first is done."""
_DONE, _DIED, _OVERDUE, _STARVED = "done", "died", "overdue", "starved"

Equipment = Mapping[str, str]
"""Versions by name of what shapes results."""
Hire = Callable[[Mapping[str, Job], int], Workers]
"""Makes workers of a machine from jobs and the bytes of memory that each may use."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A job on pickled work with a pickled answer: whoever passes them on need not understand them."""

    job: Job

    def __call__(self, work: bytes) -> bytes:
        return pickle.dumps(self.job(pickle.loads(work)), protocol=5)


class Station:
    """The actor: lives on some node and asks the one worker process that it keeps there."""

    def __init__(self, packed: bytes) -> None:
        hire, jobs, memory, self._equipment = pickle.loads(packed)
        self._workers = hire(jobs, memory).__enter__()

    def equipment(self) -> tuple[str, dict[str, str]]:
        """The node's address, and what it works with."""
        from ray.util import get_node_ip_address

        return get_node_ip_address(), dict(self._equipment())

    def ask(self, job: str, work: bytes, seconds: float | None) -> tuple[str, bytes]:
        """How it ended, and the pickled answer. An outcome and not an exception: Ray would wrap that."""
        try:
            return _DONE, self._workers.submit(job, work, seconds=seconds).result()
        except WorkerOverdue:
            return _OVERDUE, b""
        except WorkerStarved:
            return _STARVED, b""
        except WorkerDied:
            return _DIED, b""


@dataclass(slots=True)
class _Post:
    """An actor as seen from here."""

    actor: Any
    is_lost: bool = False


class RayWorkers:
    """As many workers as the cluster has free cores when they start, at most ``most`` where that is not 0.

    An actor that is lost is replaced if the cluster has room for another one. Entering the context connects.
    It raises EngineUnavailable where that fails, and where a node works with other versions than this
    machine, since its results might differ.
    """

    elsewhere = True

    def __init__(
        self,
        jobs: Mapping[str, Job],
        *,
        address: str,
        hire: Hire,
        equipment: Callable[[], Equipment],
        most: int = 0,
        memory: int = 0,
        connect: Callable[..., AbstractContextManager[Session]] = connected,
    ) -> None:
        """``address`` is ``ray://HOST:PORT``, or ``ray`` to start a Ray here that ends with the context.

        ``hire`` and ``equipment`` run on the nodes, which know them by their names.
        """
        self._address = address
        self._connect = connect
        self._most = most
        self._equipment = equipment
        packed = {name: Packed(job) for name, job in jobs.items()}
        self._parts = pickle.dumps((hire, packed, memory, equipment), protocol=5)
        self._idle: SimpleQueue[_Post | None] = SimpleQueue()
        self._posts: list[_Post] = []
        self._starting: list[Any] = []
        self._expected = 0
        self._lock = Lock()
        self._stopped = False
        self._stack = ExitStack()

    def __len__(self) -> int:
        return max(1, len(self._posts))

    def __enter__(self) -> RayWorkers:
        with ExitStack() as stack:
            session = stack.enter_context(self._connect(self._address, cores=self._most))
            self._ray, self._failures = session.ray, session.failures
            stack.callback(self._stop)  # first of all, where a node is not alike
            self._open(min(session.free_cores, self._most or session.free_cores))
            threads = max(1, len(self._posts)) * _IN_FLIGHT
            self._threads = stack.enter_context(ThreadPoolExecutor(threads, "kebab-ray"))
            self._replacing = stack.enter_context(ThreadPoolExecutor(1, "kebab-ray-again"))
            stack.callback(self._stop)  # before the threads are waited for
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def submit(self, job: str, work: object, *, seconds: float | None = None) -> Future[Any]:
        return self._threads.submit(self._ask, job, work, seconds)

    def rest(self) -> None:
        """Nothing: what they hold is not this machine's."""

    # --- asking ------------------------------------------------------------------------------------

    def _ask(self, job: str, work: object, seconds: float | None) -> object:
        packed = pickle.dumps(work, protocol=5)
        for _ in range(TRIES):
            post = self._next()
            try:
                with warnings.catch_warnings():
                    # Ray's client warns of much data, as if it were code that travels again and again.
                    warnings.simplefilter("ignore", UserWarning)
                    outcome, answer = self._ray.get(post.actor.ask.remote(job, packed, seconds))
            except self._failures:
                self._lose(post)
                continue
            self._idle.put(post)
            return _unpacked(outcome, answer)
        raise WorkerDied

    def _next(self) -> _Post:
        while True:
            post = self._idle.get()
            if post is None:
                self._idle.put(None)  # for the next one who waits
                if self._stopped:
                    raise WorkerDied
                raise EngineUnavailable(
                    f"every worker on {self._address} is lost",
                    hint="what was read is stored; run kebab ingest again when the cluster is back",
                )
            if not post.is_lost:
                return post

    # --- coming and going --------------------------------------------------------------------------

    def _open(self, count: int) -> None:
        """Start so many actors. Raises EngineUnavailable where none answers, or a node is unlike this."""
        if count < 1:
            raise EngineUnavailable(f"{self._address} has no free core", hint="see: ray status")
        self._expected = count
        deadline = time.monotonic() + START_SECONDS
        self._starting = [self._actor() for _ in range(count)]
        for actor in list(self._starting):
            self._admit(actor, seconds=max(0.0, deadline - time.monotonic()))
        if not self._posts:
            raise EngineUnavailable(
                f"no node of {self._address} started a worker within {START_SECONDS:g} s",
                hint="see: ray status",
            )

    def _actor(self) -> Any:
        station = self._ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(Station)
        return station.remote(self._parts)

    def _admit(self, actor: Any, *, seconds: float) -> None:
        """Take the actor among the posts once it has answered; one that does not is given up."""
        try:
            node, found = self._ray.get(actor.equipment.remote(), timeout=seconds)
        except self._failures as error:
            self._dismiss(actor)
            if "No module named" in str(error):
                raise _unlike(f"a node of {self._address} cannot work: {_last_error(error)}") from error
            self._gone()
            return
        _compare(node, here=self._equipment(), there=found)
        post = _Post(actor)
        with self._lock:
            self._starting.remove(actor)
            self._posts.append(post)
        for _ in range(_IN_FLIGHT):
            self._idle.put(post)

    def _lose(self, post: _Post) -> None:
        """Do without this actor, and have another one started; every work that it had comes here once."""
        with self._lock:
            if post.is_lost:
                return
            post.is_lost = True
            self._posts.remove(post)
        if self._stopped:
            return
        self._dismiss(post.actor)
        self._replacing.submit(self._replace)

    def _replace(self) -> None:
        if self._stopped:
            return
        try:
            actor = self._actor()
            self._starting.append(actor)
            self._admit(actor, seconds=START_SECONDS)
        except EngineUnavailable:
            self._gone()  # a node that came since is not like the others
        except self._failures:
            self._gone()

    def _gone(self) -> None:
        """One actor fewer for good; whoever waits for one is told when it was the last."""
        with self._lock:
            self._expected -= 1
            none_left = self._expected <= 0
        if none_left:
            self._idle.put(None)

    def _dismiss(self, actor: Any) -> None:
        with suppress(*self._failures):
            self._ray.kill(actor)

    def _stop(self) -> None:
        """Make whoever waits give up: killing the actors ends what they do."""
        if self._stopped:
            return
        self._stopped = True
        self._idle.put(None)
        with self._lock:
            actors = [*(post.actor for post in self._posts), *self._starting]
        for actor in actors:
            self._dismiss(actor)


def _unpacked(outcome: str, answer: bytes) -> object:
    if outcome == _OVERDUE:
        raise WorkerOverdue
    if outcome == _STARVED:
        raise WorkerStarved
    if outcome == _DIED:
        raise WorkerDied
    found: object = pickle.loads(answer)
    return found


def _compare(node: str, *, here: Equipment, there: Equipment) -> None:
    differing = sorted(name for name in {*here, *there} if here.get(name) != there.get(name))
    if differing:
        told = ", ".join(
            f"{name} {there.get(name, 'missing')} (here {here.get(name, 'missing')})" for name in differing
        )
        raise _unlike(f"the node {node} works with other versions: {told}")


def _unlike(message: str) -> EngineUnavailable:
    return EngineUnavailable(
        message,
        hint="install the same kebab with the same extras on every node, so that results are the same",
    )


def _last_error(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = [line for line in lines if "Error" in line]
    return (named or lines or [type(error).__name__])[-1]
