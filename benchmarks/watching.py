"""How long after saving a note is found, beside a running ``kebab watch``.

python -m benchmarks.watching [--notes 5000] [--saves 60]
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kebab.app import Kebab

IDLE_S = 20.0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--notes", type=int, default=5000)
    parser.add_argument("--saves", type=int, default=60)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        measure(Path(place), notes=asked.notes, saves=asked.saves)


def measure(place: Path, *, notes: int, saves: int) -> None:
    root, data = place / "notes", place / "data"
    for number in range(notes):
        write(
            root / f"{number % 50}" / f"{number}.md",
            f"# Note {number}\n\nThe tide of day {number} is high.\n",
        )
    environ = os.environ | {"KEBAB_WORKSPACE__ROOT": str(root), "KEBAB_STORAGE__DATA_DIR": str(data)}
    command = [sys.executable, "-m", "kebab", "watch"]
    with subprocess.Popen(command, cwd=place, env=environ, stderr=subprocess.PIPE, text=True) as watcher:
        assert watcher.stderr is not None
        wait_for_ready(watcher)
        with Kebab.open(root=root, data_dir=data) as kb:
            print("load average", os.getloadavg()[0])
            report(kb, root, saves)
            print(f"burst of 1,000 files: {burst(kb, root):.2f} s")
        time.sleep(2)
        before = processor_s(watcher.pid)
        time.sleep(IDLE_S)
        print(f"idle: {100 * (processor_s(watcher.pid) - before) / IDLE_S:.2f} % of one core")
        watcher.send_signal(signal.SIGTERM)


def wait_for_ready(watcher: subprocess.Popen[str]) -> None:
    assert watcher.stderr is not None
    for line in watcher.stderr:
        if line.startswith("watching"):
            return
    raise SystemExit("the watcher ended")


def report(kb: Kebab, root: Path, saves: int) -> None:
    waits = sorted(saved(kb, root / "7" / "save.md", f"zebra{number}q") for number in range(saves))
    p95 = waits[round(0.95 * (len(waits) - 1))]
    print(f"saved to found: p50 {statistics.median(waits):.2f} s, p95 {p95:.2f} s, longest {waits[-1]:.2f} s")


def saved(kb: Kebab, file: Path, word: str) -> float:
    write(file, f"# Saved\n\n{word}\n")
    return found(kb, word)


def burst(kb: Kebab, root: Path) -> float:
    for number in range(1000):
        write(root / "burst" / f"{number}.md", f"# Burst {number}\n\nquince{number}z\n")
    return max(found(kb, f"quince{number}z") for number in (0, 500, 999))


def found(kb: Kebab, word: str) -> float:
    """Seconds until a search by words finds the word."""
    began = time.perf_counter()
    while not any(word in hit.snippet.text for hit in kb.search(word, k=1).hits):
        time.sleep(0.005)
    return time.perf_counter() - began


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def processor_s(pid: int) -> float:
    """What all threads used, to the nanosecond; the usual counter knows hundredths of a second."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


if __name__ == "__main__":
    main()
