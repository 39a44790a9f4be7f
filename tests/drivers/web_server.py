"""A served knowledge base for tests: the sample vault, a memory of runs, two evaluation runs."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from kebab import Kebab
from kebab.domain.evaluations import EvalReport, QueryScore
from kebab.domain.executions import Execution
from kebab.domain.queries import SearchMode
from kebab.web.app import Access, create_app
from kebab.web.serve import PatientProtocol

VAULT = Path(__file__).parents[2] / "examples" / "vault"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)

HOSTILE = """---
title: Hostile note
tags: [security]
---
# A note that <script>window.hacked = 1</script> attacks

<script>window.hacked = 1</script>
<img src="http://198.51.100.7/pixel.png" onerror="window.hacked = 1">

![remote](http://198.51.100.7/a.png) [run](javascript:window.hacked=1) [data](data:text/html,x) [[Vault map]]

A [link](https://example.com/"onmouseover="x) and a [note](../README.md) and `<b>`.
"""


KESTREL = "# Kestrel\n\nA kestrel hovers above the meadow and looks for voles.\n"
TALK = """WEBVTT

00:00:01.000 --> 00:00:04.000
Welcome to the talk about tide tables.

00:10:05.000 --> 00:10:09.000
The albatross navigates by the smell of plankton.
"""


@dataclass(frozen=True, slots=True)
class Served:
    """A server in a thread of this process."""

    kebab: Kebab
    url: str
    port: int


def a_kebab(folder: Path) -> Kebab:
    """The sample vault with a hostile note, ingested with the built-in model; memory and runs recorded."""
    notes = folder / "notes"
    shutil.copytree(VAULT, notes)
    (notes / "hostile.md").write_text(HOSTILE, encoding="utf-8")
    (notes / "danger\x1b[31mred.md").write_text("# Escapes\n\nA terminal escape name.\n", encoding="utf-8")
    (notes / "talk.vtt").write_text(TALK, encoding="utf-8")
    for name in ("kestrel.md", "kestrel copy.md"):
        (notes / name).write_text(KESTREL, encoding="utf-8")
    file = folder / "config.toml"
    file.write_text(
        f'[workspace]\nroot = "{notes}"\n[storage]\ndata_dir = "{folder / "data"}"\n', encoding="utf-8"
    )
    kebab = Kebab.open(file)
    kebab.ingest()
    _remember(kebab)
    for number in range(2):
        kebab.keep_evaluation(_evaluation(number))
    return kebab


def _remember(kebab: Kebab) -> None:
    parent: str | None = None
    for number in range(24):
        agent = ("planner", "coder", "reviewer")[number % 3]
        begun = START + timedelta(days=number // 2, hours=number % 2)
        run = Execution(
            id=f"run-{number:02}",
            agent_id=agent,
            task_id=f"task-{number}",
            task_type="fix" if number % 2 else "plan",
            task_description=f"Mend the seat hold timeout, try {number}",
            success=number % 3 != 0 or number > 12,
            error=None if number % 3 else "the build was red",
            quality_score=min(1.0, 0.3 + number * 0.03),
            latency_ms=900 + number * 10,
            cost_cents=number,
            provider="local",
            lesson="release the hold before the payment" if number % 5 == 0 else None,
            started_at=begun,
            finished_at=begun + timedelta(minutes=3),
            documents_used=("README.md",),
            parent=parent if number % 4 else None,
        )
        parent = kebab.memory.record(run).id


def _evaluation(number: int) -> EvalReport:
    names = ("nDCG@10", "R@100", "MRR@10", "hit@1", "hit@3", "hit@5", "hit@10", "P@10")
    scores = tuple(
        QueryScore(
            query_id=f"q{index}",
            text=f"question {index}",
            metrics={name: min(1.0, (index % 5) / 5 + number * 0.1) for name in names},
            first_rank=index + 1,
            found=("README.md",),
            latency_ms=3.0,
        )
        for index in range(12)
    )
    means = {name: sum(score.metrics[name] for score in scores) / len(scores) for name in names}
    return EvalReport(
        run_id=f"20260301T09000{number}-aaaa",
        created_at=f"2026-03-0{number + 1}T09:00:00Z",
        name="vault",
        mode=SearchMode.HYBRID,
        fusion="adaptive",
        index_version="hybrid",
        embedding_model="kebab-static",
        documents=32,
        metrics=means | {"p50_ms": 3.0, "p95_ms": 6.0},
        groups={"en": means},
        scores=scores,
    )


@contextmanager
def serving(app: ASGIApp, *, protocol: type[PatientProtocol] = PatientProtocol) -> Iterator[int]:
    """The application on a free port of this computer; gives the port."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=protocol, ws="none", log_level="error", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.started
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


@contextmanager
def served(kebab: Kebab, *, access: Access = Access(), readonly: bool = False) -> Iterator[Served]:
    with serving(create_app(kebab, access=access, readonly=readonly)) as port:
        yield Served(kebab, f"http://127.0.0.1:{port}", port)
