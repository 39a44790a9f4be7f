"""Search and ingest of real notes beside what people could use instead, as Markdown for docs/benchmarks.md.

    python -m benchmarks.run --sizes 10000 100000 [1000000] [--parts search ingest shell] [--work FOLDER]

The notes of ``shared/data``, multiplied with edits (``benchmarks.corpus``), are ingested by ``kebab ingest``
with the built-in model; one knowledge base grows from size to size. Every search is ``Kebab.search`` whole,
ten hits with snippets and citations, the query's embedding included; the engines that it is compared with
return names only, which favours them. Rounds of all take turns; a figure is the median of the rounds' own,
with their range. LanceDB is measured where ``make bench-peers`` installed it, or
``KEBAB_BENCH_LANCEDB`` names a Python that can import it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import engine_peers, footprint, ingesting, searching, shell
from benchmarks.corpus import PROJECT, Corpus, notes_of
from benchmarks.growth import chart

QUERIES = 400
ROUNDS = 3
BYTES_A_CHUNK = 1_450
"""Of these notes; how many chunks a size really has is printed."""


def main() -> None:
    options = _options()
    print(f"CPython {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory(prefix="kebab-bench-", dir=options.work) as place:
        work = Path(place)
        corpus = notes_of(options.data, work)
        if "search" in options.parts:
            _print_search(options, corpus, work / "base")
        if "ingest" in options.parts:
            _print_ingest(corpus, work)
        if "shell" in options.parts:
            print("\n### From the shell\n")
            shell.measure(work / "shell", notes=10_000, rounds=15)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], help="chunks, roughly")
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parts = ["search", "ingest", "shell"]
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--no-peers", action="store_true", help="measure the product alone")
    parser.add_argument("--no-recall", action="store_true", help="do not compare with an exact scan")
    parser.add_argument("--work", type=Path, help="where the temporary folder is made")
    return parser.parse_args()


# --- search -------------------------------------------------------------------------


def _print_search(options: argparse.Namespace, corpus: Corpus, folder: Path) -> None:
    folder.mkdir(parents=True)
    queries = corpus.queries(QUERIES)
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    medians: dict[int, float] = {}
    for size in sorted(options.sizes):
        _grow(corpus, folder / "notes", size)
        medians |= _print_size(options, folder)
    if len(medians) > 1:
        small, large = min(medians), max(medians)
        print(
            f"\nFrom {small:,} to {large:,} chunks ({large / small:.0f} times as many) a hybrid search takes"
            f" {medians[large] / medians[small]:.1f} times as long.\n\n{chart(medians)}"
        )


def _grow(corpus: Corpus, notes: Path, size: int) -> None:
    """Write notes, edition by edition, until there are about so many chunks of them."""
    wanted = size * BYTES_A_CHUNK
    written = sum(path.stat().st_size for path in notes.rglob("*.md")) if notes.exists() else 0
    number = 0
    while written < wanted:
        for path, text in corpus.edition(number):
            target = notes / f"{number:03d}" / path
            if written >= wanted or target.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            written += len(text.encode())
        number += 1


def _print_size(options: argparse.Namespace, folder: Path) -> dict[int, float]:
    before = footprint.disk_mb(folder / "data") if (folder / "data").exists() else 0.0
    text, ingest = footprint.disk_mb(folder / "notes"), _shell_ingest(folder)
    disk = footprint.disk_mb(folder / "data")
    with searching.opened(folder) as kb:
        documents, chunks = kb.engines.reading.documents.counts()[:2]
    print(f"\n### {chunks:,} chunks of {documents:,} notes, {text:.0f} MB\n\n{_load()}\n")
    grown = "added to the size before" if before else "from nothing"
    print(
        f"Ingest with the built-in model, {grown}: {ingest.seconds:.0f} s, {ingest.together:.0f} MB of memory"
        f" in all its processes (each page once). Disk {disk:.0f} MB, {disk / text:.2f} times the notes.\n"
    )
    peers = [] if options.no_peers else list(engine_peers.built(folder))
    rounds = [_round(folder, peers) for _ in range(options.rounds)]
    print("| what | p50 ms | range | p95 ms | p99 ms | to hybrid |\n|---|---|---|---|---|---|")
    hybrid = statistics.median(_percentile(one["hybrid"], 50) for one, _ in rounds)
    for name in rounds[0][0]:
        _print_times(name, [one[name] for one, _ in rounds], hybrid)
    _print_rest(options, folder, [rest for _, rest in rounds])
    for peer in peers:
        peer.close()
    return {chunks: hybrid}


def _round(folder: Path, peers: Sequence[engine_peers.Peer]) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """One turn of everybody: milliseconds by name, and what else the product's process told."""
    found = _process("measure", folder)
    times: dict[str, list[float]] = found.pop("times")
    return {**times, **{peer.name: peer.times() for peer in peers}}, found


def _print_times(name: str, rounds: list[list[float]], hybrid: float) -> None:
    shown = f"**Kebab.search {name}**" if name == "hybrid" else name
    if not rounds[0]:
        return print(f"| {shown} | not measured | | | | |", flush=True)
    middle = [statistics.median(_percentile(one, share) for one in rounds) for share in (50, 95, 99)]
    halves = [_percentile(one, 50) for one in rounds]
    spread = f"{min(halves):.1f}–{max(halves):.1f}"
    return print(
        f"| {shown} | {middle[0]:.1f} | {spread} | {middle[1]:.1f} | {middle[2]:.1f} "
        f"| {middle[0] / hybrid:.2f} |",
        flush=True,
    )


def _print_rest(options: argparse.Namespace, folder: Path, rounds: Sequence[dict[str, Any]]) -> None:
    rates = {name: statistics.median(one["rates"][name] for one in rounds) for name in rounds[0]["rates"]}
    print("\nSearches a second: " + ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items()) + ".")
    peak = max(one["peak"] for one in rounds)
    print(f"Memory of the searching process: {rounds[0]['rss']:.0f} MB after all modes, peak {peak:.0f} MB.")
    if not options.no_recall:
        found = _process("recall", folder)
        print(f"Recall@10 of the vector leg against an exact scan of float32: {found:.4f}.", flush=True)


def _process(task: str, folder: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.searching", task, str(folder)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def _percentile(values: Sequence[float], share: float) -> float:
    return float(np.percentile(values, share))


# --- ingest -------------------------------------------------------------------------


def _print_ingest(corpus: Corpus, work: Path) -> None:
    originals = work / "originals"
    print(f"\n### Ingest of the notes as they are\n\n{_load()}\n\n| what | measured | asked |\n|---|---|---|")
    for line in ingesting.stages(originals, work / "ingests"):
        print(f"| {line.what} | {line.value} | {line.target} |", flush=True)
    pieces = (text[at : at + 900] for text in corpus.texts.values() for at in range(0, len(text), 900))
    tree = ingesting.many_files(work / "tree", pieces)
    for line in ingesting.unchanged(tree, work / "tree-data"):
        print(f"| {line.what} | {line.value} | {line.target} |", flush=True)
    for what, value, asked in _again(originals, work / "again"):
        print(f"| {what} | {value} | {asked} |", flush=True)


def _again(originals: Path, folder: Path) -> Iterator[tuple[str, str, str]]:
    """The memory and the disk of an ingest from the shell, and runs over a tree that hardly changed."""
    shutil.copytree(originals, folder / "notes")
    text = footprint.disk_mb(folder / "notes")
    first = _shell_ingest(folder)
    disk = footprint.disk_mb(folder / "data")
    yield "from the shell", f"{first.seconds:.1f} s, {text / first.seconds:.2f} MB/s", ""
    yield "· memory of all processes, each page once", f"{first.together:.0f} MB", "≤ 500 MB"
    yield "· disk", f"{disk:.0f} MB, {disk / text:.2f} times the notes", "≤ 4 times"
    yield "nothing changed", _median(lambda: _shell_ingest(folder).seconds), ""
    notes = sorted((folder / "notes").rglob("*.md"))
    some = notes[:: max(1, len(notes) // max(1, len(notes) // 100))]
    yield f"{len(some)} of {len(notes)} changed", _median(lambda: _changed(some, folder)), ""
    yield "10 changed", _median(lambda: _changed(some[:10], folder)), ""


def _median(call: Callable[[], float]) -> str:
    spent = [call() for _ in range(3)]
    return f"{statistics.median(spent):.2f} s ({min(spent):.2f}–{max(spent):.2f})"


def _changed(notes: Sequence[Path], folder: Path) -> float:
    for note in notes:
        with note.open("a", encoding="utf-8") as file:
            file.write(f"\nOne more line about the harbour at {time.time_ns()}.\n")
    return _shell_ingest(folder).seconds


def _shell_ingest(folder: Path) -> footprint.Footprint:
    own = {
        "KEBAB_STORAGE__DATA_DIR": str(folder / "data"),
        "KEBAB_WORKSPACE__ROOT": str(folder / "notes"),
        "HOME": str(folder),
    }
    kebab = str(Path(sys.executable).with_name("kebab"))
    return footprint.run([kebab, "ingest", "--quiet"], os.environ | own)


def _load() -> str:
    """How busy the machine was before: above the number of cores, the milliseconds below are too high."""
    return f"Load average at the start: {os.getloadavg()[0]:.1f}."


if __name__ == "__main__":
    main()
