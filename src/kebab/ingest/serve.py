"""A worker process from inside: requests on standard input, answers on standard output.

Apart from ``workers``, whose threads and pipes a process that only works need not load.
"""

from __future__ import annotations

import copyreg
import os
import pickle
import signal
import sys
from dataclasses import fields
from operator import attrgetter
from typing import Any

from kebab.domain.chunks import Chunk
from kebab.domain.documents import Document, LineSpan, Metadata
from kebab.domain.ingests import FileState
from kebab.ingest.allocator import give_back
from kebab.ingest.limits import limit_memory
from kebab.ingest.prepare import Prepared
from kebab.ports import Job, WorkerStarved


def serve() -> None:
    """Answer until the input ends.

    The first message holds the jobs by name and the memory they may use; each request names a job.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _take_one_core()
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up among the answers
    for kind in (Chunk, LineSpan, Document, Metadata, FileState, Prepared):
        _pack_by_fields(kind)
    jobs, memory = pickle.load(requests)
    limit_memory(memory)
    while True:
        try:
            name, work = pickle.load(requests)
        except EOFError:
            return
        answers.write(_answer(jobs[name], work))
        answers.flush()
        give_back()


def _answer(job: Job, work: object) -> bytes:
    """What the job gives, packed; that there was too little memory for either is an answer as well."""
    try:
        return pickle.dumps(job(work), protocol=5)
    except MemoryError:
        return pickle.dumps(WorkerStarved())


def _take_one_core() -> None:
    """There are as many processes as cores: threads of the algebra libraries would only wait for each other.

    They look once, when numpy is imported; what the user has set counts.
    """
    for library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def _pack_by_fields(kind: type[Any]) -> None:
    """Pickle a dataclass as a call with its fields: half the time of what dataclasses with slots do."""
    values = attrgetter(*[field.name for field in fields(kind)])
    copyreg.pickle(kind, lambda one: (kind, values(one)))
