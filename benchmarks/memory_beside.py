"""The memory of two versions of kebab side by side, through the public object and the command line.

    python -m benchmarks.memory_beside --records 10000 --before ../kebab-before

``--before`` names a checkout of another version; without it only this one is measured. Each version fills a
folder of its own, then a fresh process searches it, alone and just after another process recorded something.
Processor time says more than the clock where other work runs on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
RUN = "import sys; sys.argv = ['kebab', *sys.argv[1:]]; from kebab.cli import main; main()"
QUERIES = 100


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--phase", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.phase:
        PHASES[options.phase[0]](Path(options.phase[1]), options)
        return
    versions = {"this version": PROJECT}
    if options.before:
        versions = {"before": options.before.resolve(), **versions}
    columns = [
        "records",
        "import/s",
        "cold search",
        "cold record",
        "warm search",
        "just after a write",
        "warm record",
        "peak",
    ]
    print(f"| version | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}", flush=True)
    for name, code in versions.items():
        print(f"| {name} | {' | '.join(measured(code, options))} |", flush=True)


def measured(code: Path, options: argparse.Namespace) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="kebab-beside-") as folder:
        subprocess.run(
            [sys.executable, "-c", RUN, "init", "."],
            cwd=folder,
            env=environment(code),
            check=True,
            capture_output=True,
        )
        filled = phase(code, "fill", folder, options)
        searched = phase(code, "search", folder, options)
        cold = [
            cold_run(code, folder, *what)
            for what in (("search", "fix the login test"), ("record", "fix it", "--agent", "a"))
        ]
        return [
            f"{options.records:,}",
            f"{filled['rate']:,.0f} ({filled['busy']:,.0f} a CPU second)",
            *cold,
            searched["warm"],
            searched["written"],
            searched["record"],
            f"{searched['peak_mb']:.0f} MB",
        ]


def environment(code: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": f"{code / 'src'}",
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": f"{tempfile.gettempdir()}/kebab-beside-pyc",
    }


def phase(code: Path, name: str, folder: str, options: argparse.Namespace) -> dict[str, Any]:
    done = subprocess.run(
        [
            sys.executable,
            str(Path(__file__)),
            "--records",
            str(options.records),
            "--data",
            str(options.data),
            "--phase",
            name,
            folder,
        ],
        env=environment(code),
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def cold_run(code: Path, folder: str, *what: str) -> str:
    best = (9.0, 9.0)
    for _ in range(4):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", RUN, "memory", *what],
            cwd=folder,
            env=environment(code),
            check=False,
            capture_output=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best[0], busy), min(best[1], time.perf_counter() - began)
    return f"{best[0]:.2f} s CPU, {best[1]:.2f} s"


def fill(folder: Path, options: argparse.Namespace) -> None:
    sys.path.insert(0, str(PROJECT))
    from kebab import Kebab

    records = filled_up(list(records_of(options.data)), options.records)
    kb = Kebab.open(root=folder)
    began, worked = time.perf_counter(), time.process_time()
    kb.memory.record_many(records)
    kb.close()
    took, busy = time.perf_counter() - began, time.process_time() - worked
    print(json.dumps({"rate": len(records) / took, "busy": len(records) / busy}))


def search(folder: Path, options: argparse.Namespace) -> None:
    from kebab import Kebab

    kb, dice = Kebab.open(root=folder), random.Random(1)
    texts = [" ".join(dice.sample(WORDS, 4)) for _ in range(QUERIES)]
    warm = timed(lambda n: kb.memory.hybrid_search(texts[n % len(texts)]))
    written = timed(
        lambda n: kb.memory.hybrid_search(texts[n % len(texts)]),
        before=lambda n: elsewhere(folder, n),
        times=8,
    )
    record = timed(lambda n: kb.memory.record(one(f"here-{n}")), times=50)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kb.close()
    print(json.dumps({"warm": warm, "written": written, "record": record, "peak_mb": peak}))


def elsewhere(folder: Path, number: int) -> None:
    """Another process records something."""
    subprocess.run(
        [sys.executable, "-c", RUN, "memory", "record", f"fix something number {number}", "--agent", "other"],
        cwd=folder,
        check=False,
        capture_output=True,
    )


def timed(
    call: Callable[[int], Any], *, before: Callable[[int], Any] | None = None, times: int = QUERIES
) -> str:
    for number in range(3):
        call(number)
    walls, busy = [], []
    for number in range(times):
        if before:
            before(number)
        began, worked = time.perf_counter(), time.process_time()
        call(number)
        walls.append((time.perf_counter() - began) * 1000)
        busy.append((time.process_time() - worked) * 1000)
    walls.sort()
    busy.sort()
    p50, p95 = walls[len(walls) // 2], walls[int(len(walls) * 0.95)]
    return f"{busy[len(busy) // 2]:.1f} ms CPU, {p50:.1f} / {p95:.1f} ms"


WORDS = [
    "fix",
    "login",
    "test",
    "cache",
    "build",
    "index",
    "parser",
    "search",
    "update",
    "remove",
    "add",
    "error",
    "crash",
    "memory",
    "page",
    "link",
    "image",
    "문서",
    "오류",
    "추가",
    "수정",
    "번역",
]


def one(key: str) -> Any:
    from datetime import UTC, datetime

    from kebab.domain.executions import Execution

    now = datetime.now(UTC)
    return Execution(
        id=key,
        agent_id="a",
        task_id="t",
        task_type="x",
        task_description=f"fix the login test {key}",
        success=True,
        quality_score=1.0,
        latency_ms=1,
        started_at=now,
        finished_at=now,
    )


def records_of(data: Path) -> Any:
    import re
    import tarfile
    from datetime import UTC, datetime

    from kebab.domain.executions import Execution

    with tarfile.open(data / "git-commits-10k.tar.gz") as archive:
        lines = archive.extractfile("git-commits-10k/corpus.jsonl")
        assert lines is not None
        for line in lines:
            row = json.loads(line)
            text = re.sub(r"(Repository|Date|Files changed \(\d+\)): .*", "", row["text"]).strip()
            now = datetime(2024, 1, 1, tzinfo=UTC)
            yield Execution(
                id=row["id"],
                agent_id="a",
                task_id=row["id"],
                task_type="commit",
                task_description=f"{row['title']}\n{text}"[:1500],
                success=True,
                quality_score=0.5,
                latency_ms=5,
                started_at=now,
                finished_at=now,
            )


def filled_up(records: list[Any], size: int) -> list[Any]:
    from dataclasses import replace

    dice, found = random.Random(3), records[:size]
    while len(found) < size:
        original = records[len(found) % len(records)]
        words = [word for word in original.task_description.split() if dice.random() > 0.33]
        found.append(
            replace(original, id=f"{original.id}-{len(found)}", task_description=" ".join(words) or "x")
        )
    return found


PHASES = {"fill": fill, "search": search}

if __name__ == "__main__":
    main()
