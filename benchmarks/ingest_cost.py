"""What an ingest costs: seconds, processor time of the writer and of its workers, memory.

    python -m benchmarks.ingest_cost [--rounds 3] [--workers 2 1] [--beside OTHER/src]
    python -m benchmarks.ingest_cost --notes FOLDER --rounds 1    # of another folder of notes
    python -m benchmarks.ingest_cost --notes FOLDER --grow DATA    # into a copy of a base that has some

Each ingest is a process of its own; those of the code beside, another checkout's, take turns with these.
Medians of the rounds. Memory is what all processes hold at once, each page counted once; disk is what
the data folder takes afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.corpus import PROJECT
from benchmarks.footprint import disk_mb, share_mb
from benchmarks.ingesting import unpacked_notes

EVERY_S = 0.1
MODELS = {"without a model": {"models.embedding.provider": "none"}, "built-in model": {}}


@dataclass(frozen=True)
class Cost:
    """Of one ingest; seconds without the start of the interpreter."""

    seconds: float
    writer: float
    workers: float
    memory_mb: float = 0.0
    disk_mb: float = 0.0


def main() -> None:
    options = _options()
    if options.once:
        print(json.dumps(asdict(_ingest(options.notes, options.once, options.model, options.workers[0]))))
        return
    with tempfile.TemporaryDirectory(prefix="kebab-bench-", dir=options.work) as place:
        work = Path(place)
        notes = options.notes or unpacked_notes(options.data, PROJECT / "examples" / "vault", work / "notes")
        size = sum(path.stat().st_size for path in notes.rglob("*.md") if path.is_file()) / 1e6
        print(f"{size:.1f} MB of Markdown, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}\n")
        print("| model | workers | code | MB/s | processor s | of the writer | memory MB | disk MB |")
        print("|---|---|---|---|---|---|---|---|")
        for row in _rows(notes, size, work, options):
            print(f"| {' | '.join(row)} |", flush=True)


def _rows(notes: Path, size: float, work: Path, options: argparse.Namespace) -> Iterator[list[str]]:
    codes = {"this": PROJECT / "src"} | ({"beside": options.beside} if options.beside else {})
    for model in options.models:
        for workers in options.workers:
            costs: dict[str, list[Cost]] = {code: [] for code in codes}
            for _ in range(options.rounds):
                for code, source in codes.items():
                    begin(work / "data", options.grow)
                    costs[code].append(_measured(notes, work / "data", model, workers, source))
            for code, rounds in costs.items():
                yield [model, str(workers), code, *_summed(rounds, size)]


def _summed(rounds: list[Cost], size: float) -> list[str]:
    rates = sorted(size / one.seconds for one in rounds)
    return [
        f"{statistics.median(rates):.2f} ({rates[0]:.2f}–{rates[-1]:.2f})",
        f"{statistics.median(one.writer + one.workers for one in rounds):.1f}",
        f"{statistics.median(one.writer for one in rounds):.1f}",
        f"{statistics.median(one.memory_mb for one in rounds):.0f}",
        f"{statistics.median(one.disk_mb for one in rounds):.0f}",
    ]


def begin(data: Path, before: Path | None) -> None:
    """An empty data folder, or a copy of what was there before."""
    shutil.rmtree(data, ignore_errors=True)
    if before is not None:
        shutil.copytree(before, data)


def _measured(notes: Path, data: Path, model: str, workers: int, source: Path) -> Cost:
    """One ingest in a process of its own, watched from here."""
    command = [sys.executable, "-m", "benchmarks.ingest_cost", "--once", str(data), "--notes", str(notes)]
    command += ["--model", model, "--workers", str(workers)]
    paths = {"PYTHONPATH": f"{source}{os.pathsep}{PROJECT}"}
    most = 0.0
    with subprocess.Popen(command, env=os.environ | paths, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            most = max(most, sum(map(share_mb, _family(process.pid))))
            time.sleep(EVERY_S)
        output = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
    found = json.loads(output)
    return Cost(found["seconds"], found["writer"], found["workers"], most, disk_mb(data))


def _family(process: int) -> list[int]:
    """A process and those it started, which start none themselves."""
    found = [process]
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += map(int, thread.read_text().split())
        except OSError:
            continue
    return found


def _ingest(notes: Path, data: Path, model: str, workers: int) -> Cost:
    from kebab.app import Kebab

    overrides = {**MODELS[model], "ingest.workers": workers}
    with Kebab.open(root=notes, data_dir=data, overrides=overrides) as kebab:
        started, before = time.perf_counter(), time.process_time()
        kebab.ingest()
        seconds, writer = time.perf_counter() - started, time.process_time() - before
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(seconds, writer, children.ru_utime + children.ru_stime)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--beside", type=Path, help="the src folder of another checkout")
    parser.add_argument("--notes", type=Path, help="a folder of notes; those of the data folder otherwise")
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--grow", type=Path, help="a data folder that holds some of the notes already")
    parser.add_argument("--models", choices=list(MODELS), nargs="+", default=list(MODELS))
    parser.add_argument("--work", type=Path)
    parser.add_argument("--once", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--model", choices=list(MODELS), default="built-in model", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
