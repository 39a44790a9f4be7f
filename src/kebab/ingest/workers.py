"""Worker processes: they parse files and cut them into words, and embed where the model is light.

They are started as plain child processes rather than through multiprocessing: forking a process that has
threads may lock up, and spawning would run the user's own script again. A child is in a process group of its
own, since Ctrl-C is the main process's to handle, and ends when its standard input does, so that none
outlives a killed parent.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Timer
from typing import Any, cast

import kebab
from kebab.domain.ingests import IngestItem, Outcome
from kebab.ingest.parse.formats import extension, kind_of
from kebab.ingest.parse.parsed import Format
from kebab.ingest.prepare import TOO_LARGE, FileTask, Preparing, Result, carrying
from kebab.ports import Job, WorkerDied, WorkerOverdue, Workers, WorkerStarved

MIN_FILES = 200
MIN_BYTES = 4 << 20
"""Below both, starting processes costs more than it saves."""
_BATCH_FILES = 64
_BATCH_BYTES = 1 << 20
_CARRIED_BYTES = 64 << 20
"""Bytes of files that may be on their way to other machines at once."""
# An answer takes some megabytes; the default pipe would pass it on in dozens of pieces, each a switch.
_PIPE_BYTES = 1 << 20

_START = "import sys; sys.path.insert(0, sys.argv[1]); from kebab.ingest.serve import serve; serve()"


class ProcessWorkers:
    """Some processes that do named jobs; a job and its work must be picklable.

    A process is started when first needed, and again after it died. Leaving the context stops them all,
    whatever they are doing.
    """

    def __init__(self, jobs: Mapping[str, Job], *, processes: int, memory: int = 0) -> None:
        """``memory`` is what each process may use, in bytes; 0 means no limit."""
        self._children = [_Child(jobs, memory) for _ in range(processes)]
        self._idle: SimpleQueue[_Child] = SimpleQueue()
        for child in self._children:
            self._idle.put(child)
        self._threads = ThreadPoolExecutor(processes, "kebab-worker")

    @property
    def elsewhere(self) -> bool:
        return False

    def __len__(self) -> int:
        return len(self._children)

    def __enter__(self) -> ProcessWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            child.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for child in self._children:
            child.end()

    def submit(self, job: str, work: object, *, seconds: float | None = None) -> Future[Any]:
        """The answer of the first process that is free; raises WorkerDied, or what unpickling it raises.

        One that takes more than ``seconds`` is killed, which raises WorkerOverdue; one that needs too much
        memory raises WorkerStarved.
        """
        return self._threads.submit(self._ask, job, work, seconds)

    def rest(self) -> None:
        """End the processes that are idle: each holds what it remembers of the words that it met."""
        idle: list[_Child] = []
        with suppress(Empty):
            while True:
                idle.append(self._idle.get_nowait())
        for child in idle:
            child.end()
            self._idle.put(child)

    def _ask(self, job: str, work: object, seconds: float | None) -> object:
        child = self._idle.get()
        try:
            return child.ask(job, work, seconds)
        finally:
            self._idle.put(child)


def one_process(jobs: Mapping[str, Job], memory: int) -> ProcessWorkers:
    """What a core of another machine is given to work with."""
    return ProcessWorkers(jobs, processes=1, memory=memory)


def needs_workers(tasks: list[FileTask], formats: Mapping[str, Format]) -> bool:
    """Whether these files are many, or one of them may only be read in a process of its own."""
    kinds = {extension(task.path) for task in tasks}
    return is_large(tasks) or any(kind_of(formats, kind).isolated for kind in kinds)


def is_large(tasks: list[FileTask]) -> bool:
    """Whether reading these files is worth processes of its own."""
    return len(tasks) >= MIN_FILES or (len(tasks) > 1 and sum(task.size for task in tasks) >= MIN_BYTES)


def prepare_all(
    tasks: list[FileTask],
    workers: Workers,
    *,
    job: str,
    seconds: float | None = None,
    idle: Callable[[], object] = lambda: None,
) -> Iterator[list[Result]]:
    """The results in the order of the tasks, some dozens at a time; ``job`` is the workers' Preparing.

    ``idle`` is called where they are not ready yet.

    A file that brings its process down, or takes more than ``seconds``, is reported as failed; the others of
    its batch are not lost. At the end the workers may rest.
    """
    flights: deque[_Flight] = deque()
    for batch in _batches(tasks):
        work = [carrying(task) for task in batch] if workers.elsewhere else batch
        flights.append(_Flight(work, workers.submit(job, work, seconds=seconds)))
        while _is_far_enough(flights, workers):
            yield _landed(_next(flights, idle), workers, job, seconds)
    while flights:
        yield _landed(_next(flights, idle), workers, job, seconds)
    workers.rest()


def prepare_here(tasks: Iterable[FileTask], preparing: Preparing) -> Iterator[list[Result]]:
    """The same in this process, file by file."""
    return (preparing([task]) for task in tasks)


@dataclass(frozen=True, slots=True)
class _Flight:
    """A batch that some process reads."""

    work: Sequence[FileTask | IngestItem]
    results: Future[list[Result]]

    @property
    def carried(self) -> int:
        return sum(len(task.content or b"") for task in self.work if isinstance(task, FileTask))


def _next(flights: deque[_Flight], idle: Callable[[], object]) -> _Flight:
    flight = flights.popleft()
    if not flight.results.done():
        idle()
    return flight


def _is_far_enough(flights: Sequence[_Flight], workers: Workers) -> bool:
    """Whether there is enough ahead to keep the processes busy while the words index commits.

    More would only fill the memory.
    """
    carried = sum(flight.carried for flight in flights)
    return len(flights) > 2 * len(workers) or (carried > _CARRIED_BYTES and len(flights) > 1)


def _landed(flight: _Flight, workers: Workers, job: str, seconds: float | None) -> list[Result]:
    """The results of a batch. Where its process did not survive, each file is read alone: one is to blame."""
    try:
        return flight.results.result()
    except WorkerDied as error:
        if len(flight.work) == 1:
            return [_failed(flight.work[0], error, seconds)]
    results = []
    for task in flight.work:
        alone = _Flight([task], workers.submit(job, [task], seconds=seconds))
        results += _landed(alone, workers, job, seconds)
    return results


def _batches(tasks: Iterable[FileTask]) -> Iterator[list[FileTask]]:
    batch: list[FileTask] = []
    size = 0
    for task in tasks:
        batch.append(task)
        size += task.size
        if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Child:
    """One process, started when first needed and again after it died."""

    def __init__(self, jobs: Mapping[str, Job], memory: int) -> None:
        self._jobs = dict(jobs)
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def ask(self, job: str, work: object, seconds: float | None) -> object:
        if self._stopped:
            raise WorkerDied
        overdue = Event()
        watch = self._watch(seconds, overdue) if seconds else None
        try:
            answer = self._answer(job, work)
            if isinstance(answer, WorkerStarved):
                self.end()  # what it still holds would starve the next one
                raise answer
            return answer
        except (OSError, EOFError, pickle.UnpicklingError):
            self.end()
            raise (WorkerOverdue if overdue.is_set() else WorkerDied) from None
        finally:
            if watch is not None:
                watch.cancel()
                watch.join()
            if overdue.is_set():
                self.end()  # the time was up just when the answer came

    def _watch(self, seconds: float, overdue: Event) -> Timer:
        """Kills the process when the time is up: whoever reads its answer then meets the end of the pipe."""
        process = self._process or self._start()

        def kill() -> None:
            overdue.set()
            process.kill()

        watch = Timer(seconds, kill)
        watch.daemon = True
        watch.start()
        return watch

    def stop(self) -> None:
        """Make whoever waits for the process give up; its pipes are closed by ``end``, when nobody does."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()

    def _answer(self, job: str, work: object) -> object:
        process = self._process or self._start()
        if process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(pickle.dumps((job, work), protocol=5))
        process.stdin.flush()
        return cast("object", pickle.load(process.stdout))

    def _start(self) -> subprocess.Popen[bytes]:
        package = str(Path(kebab.__file__).resolve().parents[1])
        process = subprocess.Popen(
            [sys.executable, "-c", _START, package],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pipesize=_PIPE_BYTES,
            process_group=0,
        )
        self._process = process
        if process.stdin is not None:
            process.stdin.write(pickle.dumps((self._jobs, self._memory)))
        return process

    def end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # what was still to be written has no reader any more
        process.wait()


def _failed(task: FileTask | IngestItem, error: WorkerDied, seconds: float | None) -> IngestItem:
    if isinstance(task, IngestItem):
        return task
    match error:
        case WorkerOverdue():
            reason = f"took more than {seconds:g} s to read (ingest.file_timeout_s)"
        case WorkerStarved():
            reason = TOO_LARGE
        case _:
            reason = "the parser process died while reading it"
    return IngestItem(task.source_id, task.path, Outcome.FAILED, reason, byte_len=task.size)
