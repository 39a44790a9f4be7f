"""One real folder through the product: memory and disk of an ingest, edits, and ``Kebab.search`` warm.

    python -m benchmarks.folder FOLDER

Everything is built in a temporary folder, the edits in a copy. Queries are the titles of notes.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks import footprint
from kebab import Kebab
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.wire import requests

PROJECT = Path(__file__).resolve().parent.parent
QUERIES = 300
WARM_UP = 30
EDITED = 10
SEED = 7
ENGLISH = SearchFilters(lang=("en",))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--searches", type=Path, metavar="DATA", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.searches:  # a second process that searches the same data, for the throughput of two
        with _opened(options.folder, options.searches) as kb:
            print(_rate(kb, _queries(kb), threads=1))
        return
    with tempfile.TemporaryDirectory(prefix="kebab-folder-") as work:
        root, data = Path(work) / "notes", Path(work) / "data"
        shutil.copytree(options.folder, root)
        print(f"Load average at the start: {os.getloadavg()[0]:.1f}.\n\n| what | measured |\n|---|---|")
        for what, value in (*_ingests(root, data), *_searches(root, data)):
            print(f"| {what} | {value} |", flush=True)


def _opened(root: Path, data: Path) -> Kebab:
    return Kebab.open(root=root, data_dir=data)


def _ingests(root: Path, data: Path) -> Iterator[tuple[str, str]]:
    text = footprint.disk_mb(root)
    first = _ingest(root, data)
    stored = footprint.disk_mb(data)
    yield "text", f"{text:.1f} MB in {sum(1 for path in root.rglob('*') if path.is_file())} files"
    yield "ingest", f"{first.seconds:.0f} s, {text / first.seconds:.2f} MB/s"
    yield (
        "memory of all its processes, each page once",
        f"{first.together:.0f} MB (largest process {first.largest:.0f})",
    )
    yield "disk", f"{stored:.0f} MB, {stored / text:.2f} times the text"
    yield "unchanged again", f"{_ingest(root, data).seconds:.2f} s"
    notes = sorted(root.rglob("*.md"))
    for note in random.Random(SEED).sample(notes, min(EDITED, len(notes))):
        with note.open("a", encoding="utf-8") as file:
            file.write("\nOne more line about the harbour.\n")
    yield f"{EDITED} edited files", f"{_ingest(root, data).seconds:.2f} s"


def _ingest(root: Path, data: Path) -> footprint.Footprint:
    kebab = str(Path(sys.executable).with_name("kebab"))
    own = {"KEBAB_STORAGE__DATA_DIR": str(data), "KEBAB_WORKSPACE__ROOT": str(root), "HOME": str(data.parent)}
    return footprint.run([kebab, "ingest", "--quiet"], os.environ | own)


def _searches(root: Path, data: Path) -> Iterator[tuple[str, str]]:
    with _opened(root, data) as kb:
        queries = _queries(kb)
        yield "chunks", f"{kb.engines.reading.documents.counts()[1]:,}"
        for mode in SearchMode:
            yield f"Kebab.search, {mode.value}", _spread(_latencies(kb, queries, mode=mode))
        yield "· the held searcher, hybrid", _spread(_held(kb, queries))
        yield "· filtered, lang=en", _spread(_latencies(kb, queries, filters=ENGLISH))
        with _writing(root, data):
            yield "· beside a process that ingests", _spread(_latencies(kb, queries))
        rates = {threads: _rate(kb, queries, threads=threads) for threads in (1, 8)}
        yield "searches a second", ", ".join(f"{n} threads {rate:.0f}" for n, rate in rates.items())
    one, two = _processes(root, data, 1), _processes(root, data, 2)
    yield "· by processes", f"one {one:.0f}, two together {two:.0f} ({two / one:.2f} times)"


def _queries(kb: Kebab) -> list[str]:
    titles = sorted({document.title for document in kb.list_docs() if document.title.strip()})
    return random.Random(SEED).sample(titles, min(QUERIES, len(titles)))


def _latencies(kb: Kebab, queries: Sequence[str], **options: object) -> list[float]:
    return _timed([lambda q=query: kb.search(q, k=10, **options) for query in queries])  # type: ignore[misc, arg-type]


def _held(kb: Kebab, queries: Sequence[str]) -> list[float]:
    """Without the facade: the request read beforehand, the room called directly."""
    searcher = kb._rooms.searcher
    asked = [requests.SearchRequest.of(query=query, k=10).arguments for query in queries]
    return _timed([lambda a=arguments: searcher.search(**a) for arguments in asked])  # type: ignore[misc]


def _timed(calls: Sequence[Callable[[], object]]) -> list[float]:
    for call in calls[:WARM_UP]:
        call()
    spent = []
    for call in calls:
        started = time.perf_counter()
        call()
        spent.append(1000 * (time.perf_counter() - started))
    return spent


def _spread(milliseconds: Sequence[float]) -> str:
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"


def _rate(kb: Kebab, queries: Sequence[str], *, threads: int) -> float:
    with ThreadPoolExecutor(threads) as pool:
        for query in queries[:WARM_UP]:
            kb.search(query, k=10)
        started = time.perf_counter()
        list(pool.map(lambda query: kb.search(query, k=10), queries))
        return len(queries) / (time.perf_counter() - started)


def _processes(root: Path, data: Path, count: int) -> float:
    """Searches a second of so many processes at once, summed."""
    command = [sys.executable, "-m", "benchmarks.folder", str(root), "--searches", str(data)]
    running = [
        subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) for _ in range(count)
    ]
    return sum(float(process.communicate()[0]) for process in running)


@contextmanager
def _writing(root: Path, data: Path) -> Iterator[None]:
    """Another process that edits a note and ingests, over and over."""
    note = min(root.rglob("*.md"))
    code = (
        "import sys; from pathlib import Path; from kebab import Kebab\n"
        "note, root, data = map(Path, sys.argv[1:])\n"
        "with Kebab.open(root=root, data_dir=data) as kb:\n"
        "    print('begin', flush=True)\n"
        "    while True:\n"
        "        note.write_text(note.read_text('utf-8') + '\\nmore\\n', 'utf-8')\n"
        "        kb.ingest()\n"
    )
    command = [sys.executable, "-c", code, str(note), str(root), str(data)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        try:
            yield
        finally:
            writer.kill()


if __name__ == "__main__":
    main()
