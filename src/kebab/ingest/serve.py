"""A parser process from inside: batches of files on standard input, prepared documents on standard output.

Apart from ``workers``, whose threads and pipes a process that only parses need not load.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from kebab.ingest.prepare import Prepared, Result, prepare
from kebab.ingest.ready_terms import terms_of

if TYPE_CHECKING:
    from kebab.ports import Analyzer


def serve() -> None:
    """Read batches until the input ends. The first message holds what is the same for all of them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up among the answers
    policy, make_analyzer = pickle.load(requests)
    analyzer = make_analyzer() if make_analyzer else None
    while True:
        try:
            batch = pickle.load(requests)
        except EOFError:
            return
        results = [_with_terms(prepare(task, policy), analyzer) for task in batch]
        answers.write(pickle.dumps(results, protocol=5))
        answers.flush()


def _with_terms(result: Result, analyzer: Analyzer | None) -> Result:
    if analyzer is None or not isinstance(result, Prepared):
        return result
    return replace(result, terms=terms_of(result.document, result.chunks, analyzer))
