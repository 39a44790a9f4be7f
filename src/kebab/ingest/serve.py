"""A worker process from inside: requests on standard input, answers on standard output.

Apart from ``workers``, whose threads and pipes a process that only works need not load.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys


def serve() -> None:
    """Answer until the input ends. The first message holds the jobs by name; each request names one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up among the answers
    jobs = pickle.load(requests)
    while True:
        try:
            name, work = pickle.load(requests)
        except EOFError:
            return
        answers.write(pickle.dumps(jobs[name](work), protocol=5))
        answers.flush()
