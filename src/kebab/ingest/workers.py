"""Parser processes: files in, prepared documents out, in the order they were asked for.

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
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import cast

import kebab
from kebab.domain.ingests import IngestItem, Outcome
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.prepare import FileTask, Result, prepare
from kebab.ports import Analyzer

MIN_FILES = 200
MIN_BYTES = 4 << 20
"""Below both, starting processes costs more than it saves."""
_BATCH_FILES = 32
_BATCH_BYTES = 512 << 10

_START = "import sys; sys.path.insert(0, sys.argv[1]); from kebab.ingest.serve import serve; serve()"


def prepare_all(
    tasks: list[FileTask],
    policy: ChunkPolicy,
    *,
    processes: int,
    make_analyzer: Callable[[], Analyzer] | None = None,
) -> Generator[list[Result], None, None]:
    """The results in the order of the tasks, as they come: file by file, or some dozens from a process.

    Closing the iterator early stops the processes.

    With ``make_analyzer``, which is known to other processes by its name, processes also cut the chunks
    into terms.
    """
    large = len(tasks) >= MIN_FILES or sum(task.size for task in tasks) >= MIN_BYTES
    if large and len(tasks) > 1 and processes > 0 and sys.executable:
        children = [_Child(policy, make_analyzer) for _ in range(processes)]
        yield from _in_processes(tasks, children)
    else:
        yield from ([prepare(task, policy)] for task in tasks)


def _in_processes(tasks: list[FileTask], children: Sequence[_Child]) -> Iterator[list[Result]]:
    idle: SimpleQueue[_Child] = SimpleQueue()
    for child in children:
        idle.put(child)

    def work(batch: list[FileTask]) -> list[Result]:
        child = idle.get()
        try:
            return child.results(batch)
        finally:
            idle.put(child)

    threads = ThreadPoolExecutor(len(children), "kebab-parse")
    try:
        flights: deque[Future[list[Result]]] = deque()
        for batch in _batches(tasks):
            flights.append(threads.submit(work, batch))
            # Enough ahead to keep the processes busy while the words index commits; more would only fill
            # the memory.
            if len(flights) > 4 * len(children):
                yield flights.popleft().result()
        while flights:
            yield flights.popleft().result()
    finally:
        for child in children:
            child.stop()
        threads.shutdown(wait=True, cancel_futures=True)
        for child in children:
            child.end()


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
    """One parser process, started when first needed and again after it died."""

    def __init__(self, policy: ChunkPolicy, make_analyzer: Callable[[], Analyzer] | None) -> None:
        self._setup = policy, make_analyzer
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def results(self, batch: list[FileTask]) -> list[Result]:
        """A file that brings the process down is reported as failed; the others of its batch are not lost."""
        try:
            return self._ask(batch)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.end()
            if self._stopped or len(batch) == 1:
                return [_failed(task) for task in batch]
            return [result for task in batch for result in self.results([task])]

    def stop(self) -> None:
        """Make whoever waits for the process give up; its pipes are closed by ``end``, when nobody does."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()

    def _ask(self, batch: list[FileTask]) -> list[Result]:
        if self._stopped:
            raise EOFError
        process = self._process or self._start()
        if process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(pickle.dumps(batch))
        process.stdin.flush()
        return cast("list[Result]", pickle.load(process.stdout))

    def _start(self) -> subprocess.Popen[bytes]:
        package = str(Path(kebab.__file__).resolve().parents[1])
        process = subprocess.Popen(
            [sys.executable, "-c", _START, package],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        self._process = process
        if process.stdin is not None:
            process.stdin.write(pickle.dumps(self._setup))
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


def _failed(task: FileTask) -> IngestItem:
    reason = "the parser process died while reading it"
    return IngestItem(task.source_id, task.path, Outcome.FAILED, reason, byte_len=task.size)
