"""The wall time of ``kebab search`` and ``kebab ask`` from the shell, cold and while a process is open.

python -m benchmarks.shell [--notes 10000] [--rounds 15]
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.watching import wait_for_ready, write

KEBAB = Path(sys.executable).with_name("kebab")
COMMANDS = {
    "search, words": ["search", "tide of day 77", "--mode", "lexical"],
    "search, hybrid": ["search", "tide of day 77"],
    "search, hybrid, JSON": ["search", "tide of day 77", "--json"],
    "ask": ["ask", "When is the tide of day 77 high?"],
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        measure(Path(place), notes=asked.notes, rounds=asked.rounds)


def measure(place: Path, *, notes: int, rounds: int) -> None:
    root, data = place / "notes", place / "data"
    for number in range(notes):
        write(
            root / f"{number % 50}" / f"{number}.md",
            f"# Note {number}\n\nThe tide of day {number} is high.\n",
        )
    environ = os.environ | {"KEBAB_WORKSPACE__ROOT": str(root), "KEBAB_STORAGE__DATA_DIR": str(data)}
    command = [sys.executable, "-m", "kebab", "watch"]
    with subprocess.Popen(
        command, cwd=place, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as watcher:
        wait_for_ready(watcher)
        time.sleep(2)
        print(f"load average {os.getloadavg()[0]:.1f}; {notes} notes; {rounds} rounds\n")
        print("| command | warm p50 | shortest | processor | cold p50 | shortest | processor |")
        print("|---|---|---|---|---|---|---|")
        print(f"| python -c pass | {row([sys.executable, '-c', 'pass'], place, environ, rounds)} | | | |")
        for name, arguments in COMMANDS.items():
            warm = row([str(KEBAB), *arguments], place, environ, rounds)
            cold = row([str(KEBAB), *arguments, "--no-daemon"], place, environ, rounds)
            print(f"| {name} | {warm} | {cold} |")
        watcher.send_signal(signal.SIGTERM)


def row(command: list[str], cwd: Path, environ: dict[str, str], rounds: int) -> str:
    walls, processors = zip(*(once(command, cwd, environ) for _ in range(rounds)), strict=True)
    return f"{statistics.median(walls):.0f} | {min(walls):.0f} | {statistics.median(processors):.0f}"


def once(command: list[str], cwd: Path, environ: dict[str, str]) -> tuple[float, float]:
    """Milliseconds of wall time, and of processor time of the command itself."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=cwd, env=environ, capture_output=True, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return 1000 * wall, 1000 * used


if __name__ == "__main__":
    main()
