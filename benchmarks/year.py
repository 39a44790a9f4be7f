"""A year of small changes: many single notes saved and ingested, then the same notes built anew beside it.

    python -m benchmarks.year [--notes 2000] [--updates 5000] [--every 1000]

Prints, after every so many saves, what a save takes and what the data folder holds; at the end latency,
recall and disk of the knowledge base that followed every change, of one built from nothing, and their ratio.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import footprint, searching
from benchmarks.corpus import PROJECT, Corpus, notes_of
from kebab import Kebab

QUERIES = 200
PARTS = ("kebab.sqlite", "index/tantivy", "index/vectors")
SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=2_000)
    parser.add_argument("--updates", type=int, default=5_000)
    parser.add_argument("--every", type=int, default=1_000, help="saves between two lines of the first table")
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--work", type=Path, help="where the temporary folder is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kebab-year-", dir=options.work) as place:
        work = Path(place)
        corpus = notes_of(options.data, work)
        print(f"{options.notes:,} notes, {options.updates:,} saves. Load average {os.getloadavg()[0]:.1f}.\n")
        report(corpus, work, notes=options.notes, updates=options.updates, every=options.every)


def report(corpus: Corpus, work: Path, *, notes: int, updates: int, every: int) -> None:
    lived, fresh = work / "lived", work / "fresh"
    spent = live(corpus, lived, notes=notes, updates=updates, every=every)
    with _base(lived / "notes", fresh / "data") as kb:
        kb.ingest()
    print(f"A save takes {1000 * statistics.median(spent):.0f} ms until it is ingested (median).\n")
    print("| | after all saves | built anew | ratio |\n|---|---|---|---|")
    queries = corpus.queries(QUERIES)
    times = [_p50(lived, lived / "notes", queries), _p50(fresh, lived / "notes", queries)]
    disk = [footprint.disk_mb(one / "data") for one in (lived, fresh)]
    print(f"| hybrid p50, ms | {times[0]:.1f} | {times[1]:.1f} | {times[0] / times[1]:.2f} |")
    print(f"| disk, MB | {disk[0]:.1f} | {disk[1]:.1f} | {disk[0] / disk[1]:.2f} |")
    print(f"| same first ten, by meaning | {_agreement(lived, fresh, queries):.4f} | 1 | |")


def live(corpus: Corpus, folder: Path, *, notes: int, updates: int, every: int = 1_000) -> list[float]:
    """Ingest so many notes, then save one after the other, each an ingest of its own; seconds of each."""
    begin(corpus, folder, notes=notes)
    print("| saves | a save, median ms | longest ms | memory MB | disk MB: " + ", ".join(PARTS) + " |")
    print("|---|---|---|---|---|")
    spent: list[float] = []
    for one in save(corpus, folder, notes=notes, updates=updates):
        spent.append(one)
        if len(spent) % every == 0:
            print(f"| {len(spent):,} | {_state(spent[-every:], folder / 'data')} |", flush=True)
    print()
    return spent


def _state(spent: list[float], data: Path) -> str:
    """What the latest saves took, and what this process and the parts of the data folder hold."""
    times = f"{1000 * statistics.median(spent):.0f} | {1000 * max(spent):.0f}"
    parts = [sum(map(_size_mb, data.glob(f"{name}*"))) for name in PARTS]
    return f"{times} | {searching.memory()[0]:.0f} | {', '.join(f'{part:.1f}' for part in parts)}"


def begin(corpus: Corpus, folder: Path, *, notes: int) -> None:
    for path, text in list(corpus.texts.items())[:notes]:
        target = folder / "notes" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    with _base(folder / "notes", folder / "data") as kb:
        kb.ingest()


def _size_mb(place: Path) -> float:
    return footprint.disk_mb(place) if place.is_dir() else place.stat().st_size / 1e6


def save(corpus: Corpus, folder: Path, *, notes: int, updates: int) -> Iterator[float]:
    """Save single notes, each ingested before the next; the seconds that each took."""
    chosen = list(corpus.texts.items())[:notes]
    chance = random.Random(SEED)
    with _base(folder / "notes", folder / "data") as kb:
        for number in range(updates):
            path, text = chosen[chance.randrange(len(chosen))]
            note = folder / "notes" / path
            note.write_text(
                f"{text}\n\nSaved for the {number}th time, about the harbour.\n", encoding="utf-8"
            )
            began = time.perf_counter()
            kb.ingest([note])
            yield time.perf_counter() - began


def _base(root: Path, data: Path) -> Kebab:
    data.parent.mkdir(parents=True, exist_ok=True)
    config = data.parent / "config.toml"
    config.write_text("", encoding="utf-8")
    return Kebab.open(config, root=root, data_dir=data)


def _p50(folder: Path, root: Path, queries: list[str]) -> float:
    with _base(root, folder / "data") as kb:
        for text in queries[::2]:
            kb.search(text)
        spent = []
        for text in queries[1::2]:
            began = time.perf_counter()
            kb.search(text)
            spent.append(1000 * (time.perf_counter() - began))
    return float(np.median(spent))


def _agreement(lived: Path, fresh: Path, queries: list[str]) -> float:
    """How many of the ten nearest of a fresh index the index that followed all changes gives."""
    shares = []
    with _base(lived / "notes", lived / "data") as old, _base(lived / "notes", fresh / "data") as new:
        vectors = searching.embedded(new, queries)
        model = searching.model_of(new)[1]
        for vector in vectors:
            found = [
                {item.id for item in kb.engines.vector_index(model).search(vector, limit=10)}
                for kb in (old, new)
            ]
            shares.append(len(found[0] & found[1]) / max(1, len(found[1])))
    return statistics.mean(shares)


if __name__ == "__main__":
    main()
