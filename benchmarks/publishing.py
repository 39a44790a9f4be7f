"""A folder published to a real object store on loopback, and searched there: time, requests and bytes.

    python -m benchmarks.publishing FOLDER [--copies N] [--data DIR] [--work DIR] [--parts PART …]

The store is SeaweedFS from its package; requests and bytes are what it counted itself. Everything lies in a
temporary folder, or in ``--work``, where a later run finds it: parts can be measured one by one. ``--copies``
multiplies the notes, each copy with a line of its own in every file; ``--data`` takes the knowledge base in
that folder as it is, with FOLDER as its source. Queries are titles of notes, the same for all. Processor time
is that of kebab alone, without the store's.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import httpx
import msgspec
import numpy as np

from benchmarks import footprint
from kebab import Kebab, wire
from kebab.domain.queries import SearchMode
from tests.object_store import BUCKET, environment, in_environment, running_store

QUERIES = 300
WARM_UP = 30
EDITED = 10
SEED = 7
DIRECT = 100
REPLICAS, CLIENTS, ASKED = 4, 32, 60
"""Of several replicas at once: how many, with how many clients, who ask how many questions each."""
URI = f"s3://{BUCKET}/kb"
VOLUMES = 400
"""Of 64 MB each, for what is published."""
T = TypeVar("T")
_COUNTED = re.compile(
    r"^SeaweedFS_s3_(request_seconds_count|bucket_traffic_(?:sent|received)_bytes_total)"
    r'{bucket="team"[^}]*} ([0-9.e+]+)$',
    re.MULTILINE,
)


@dataclass(frozen=True)
class Traffic:
    """What the store was asked for, and sent and received."""

    requests: float
    sent: float
    received: float

    def __sub__(self, other: Traffic) -> Traffic:
        return Traffic(self.requests - other.requests, self.sent - other.sent, self.received - other.received)

    def __str__(self) -> str:
        return f"{self.requests:.0f} requests, {self.received / 1e6:.2f} MB up, {self.sent / 1e6:.2f} MB down"


@dataclass(frozen=True)
class Bench:
    root: Path
    work: Path
    data: Path
    metrics: int

    def traffic(self) -> Traffic:
        text = httpx.get(f"http://127.0.0.1:{self.metrics}/metrics", timeout=30).text
        sums = {"request_seconds_count": 0.0, "sent": 0.0, "received": 0.0}
        for name, value in _COUNTED.findall(text):
            key = name if name == "request_seconds_count" else "sent" if "_sent_" in name else "received"
            sums[key] += float(value)
        return Traffic(sums["request_seconds_count"], sums["sent"], sums["received"])

    def opened(self, uri: str = "", *, cache: str = "cache", follow_s: float = 10.0) -> Kebab:
        overrides = {
            "index.url": uri,
            "index.cache_dir": str(self.work / cache),
            "index.follow_s": follow_s,
            "index.cache_mb": 60_000,
        }
        return Kebab.open(root=self.root, data_dir=self.data, overrides=overrides)

    def timed(self, act: Callable[[], T]) -> tuple[float, Traffic, T]:
        before, began = self.traffic(), time.perf_counter()
        result = act()
        return time.perf_counter() - began, self.traffic() - before, result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--ask", nargs=4, metavar=("ROOT", "WORK", "DATA", "THREADS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        root, work, data, threads = options.ask
        _ask(Bench(Path(root), Path(work), Path(data), 0), int(threads))
    elif options.work:
        options.work.mkdir(parents=True, exist_ok=True)
        _report(options, options.work)
    else:
        with tempfile.TemporaryDirectory(prefix="kebab-publish-") as place:
            _report(options, Path(place))


def _report(options: argparse.Namespace, work: Path) -> None:
    root = options.folder if options.data else _copied(options.folder, work / "notes", options.copies)
    (work / "store").mkdir(exist_ok=True)
    metrics = 28_571
    with _store(work, metrics) as port, in_environment(environment(port)):
        bench = Bench(root, work, options.data or work / "data", metrics)
        print(f"Load average at the start: {os.getloadavg()[0]:.1f}.\n\n| what | measured |\n|---|---|")
        for part in options.parts:
            for what, value in PARTS[part](bench):
                print(f"| {what} | {value} |", flush=True)


def _store(work: Path, metrics: int) -> AbstractContextManager[int]:
    return running_store(work / "store", metrics=metrics, volumes=VOLUMES)


def _copied(folder: Path, target: Path, copies: int) -> Path:
    for number in range(0 if target.exists() else copies):
        shutil.copytree(folder, target / f"copy{number}")
        for note in (target / f"copy{number}").rglob("*.md") if number else ():
            with note.open("a", encoding="utf-8", errors="surrogateescape") as file:
                file.write(f"\nCopy number {number} of this note.\n")
    return target


def _stored(bench: Bench) -> Iterator[tuple[str, str]]:
    with bench.opened() as own:
        own.ingest()
        documents, chunks = own.engines.reading.documents.counts()
    stored = footprint.disk_mb(bench.data)
    yield "knowledge base", f"{documents} documents, {chunks} chunks, {stored:.0f} MB"


def _publishes(bench: Bench) -> Iterator[tuple[str, str]]:
    with bench.opened() as own:
        chunks = own.engines.reading.documents.counts()[1]
        began = time.process_time()
        spent, traffic, _ = bench.timed(lambda: own.publish(URI))
        worked = time.process_time() - began
        yield "first publish", f"{spent:.1f} s, {worked:.0f} s of processor time, {traffic}"
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield "memory of the publisher at most", f"{most:.0f} MB"
        yield "published", f"{traffic.received / chunks:.0f} bytes a chunk"
        spent, traffic, _ = bench.timed(lambda: own.publish(URI))
        yield "publish of nothing new", f"{spent:.2f} s, {traffic}"
        _edit(bench.root)
        own.ingest()
        spent, traffic, report = bench.timed(lambda: own.publish(URI))
        yield f"publish of {EDITED} edited files", f"{spent:.2f} s, {traffic}, {report.changed} sent"


def _sizes(bench: Bench) -> Iterator[tuple[str, str]]:
    with bench.opened() as own:
        chunks = own.engines.reading.documents.counts()[1]
        folder = bench.work / "published"
        own.publish(str(folder))
    parts = {path.name: footprint.disk_mb(path) for path in sorted(folder.glob("parts/*/*.lance"))}
    sizes = ", ".join(f"{name} {size * 1e6 / chunks:.0f}" for name, size in parts.items())
    yield "published to a folder, bytes a chunk", f"{sum(parts.values()) * 1e6 / chunks:.0f} ({sizes})"


def _edit(root: Path) -> None:
    for note in random.Random(SEED).sample(sorted(root.rglob("*.md")), EDITED):
        with note.open("a", encoding="utf-8") as file:
            file.write("\nOne more line about the harbour.\n")


def _opens(bench: Bench) -> Iterator[tuple[str, str]]:
    with bench.opened() as own:
        chunks = own.engines.reading.documents.counts()[1]
    command = [sys.executable, "-m", "kebab", "search", "harbour", "--index", URI, "--json"]
    places = {
        "KEBAB_INDEX__CACHE_DIR": str(bench.work / "cold"),
        "KEBAB_INDEX__CACHE_MB": "60000",
        "KEBAB_STORAGE__DATA_DIR": str(bench.work / "home"),
        "KEBAB_WORKSPACE__ROOT": str(bench.root),
    }

    def search() -> object:
        return subprocess.run(command, env={**os.environ, **places}, check=True, capture_output=True)

    spent, traffic, _ = bench.timed(search)
    yield "cold first query, nothing in the cache", f"{spent:.1f} s, {traffic}"
    cached = footprint.disk_mb(bench.work / "cold")
    yield "cache", f"{cached:.0f} MB, {cached * 1e6 / chunks:.0f} bytes a chunk"
    rounds = [bench.timed(search) for _ in range(3)]
    yield "query from the shell, cache present", f"{min(r[0] for r in rounds):.2f} s, {rounds[-1][1]}"


def _queries(bench: Bench) -> Iterator[tuple[str, str]]:
    with bench.opened() as own, bench.opened(URI) as replica:
        titles = _titles(own)
        same = sum(
            _answer(own, text, mode) == _answer(replica, text, mode) for text in titles for mode in SearchMode
        )
        yield "answers equal byte for byte", f"{same} of {len(titles) * len(SearchMode)}"
        for name, kebab in (("the knowledge base itself", own), ("replica", replica)):
            _, traffic, times = bench.timed(partial(_times, kebab, titles))
            low, high = np.percentile(np.array(times) * 1000, [50, 95])
            a_query = f"{traffic.requests / len(titles):.3f} requests, {traffic.sent / len(titles):.0f} bytes"
            yield f"warm hybrid search, {name}", f"p50 {low:.1f} ms, p95 {high:.1f} ms; a query: {a_query}"


def _direct(bench: Bench) -> Iterator[tuple[str, str]]:
    """What the alternative would be: the published indexes asked in the store, for each query."""
    import lance
    from lance.query import MatchQuery

    from kebab.search.analyze import Analyzer

    dataset = lance.dataset(f"{URI}/parts/default/chunks.lance")
    analyzer = Analyzer()

    def ask(text: str) -> set[str]:
        query = MatchQuery(" ".join(analyzer.query_terms(text)), "body")
        return set(
            dataset.scanner(columns=["chunk_id"], full_text_query=query, limit=10)
            .to_table()["chunk_id"]
            .to_pylist()
        )

    with bench.opened() as own:
        titles = _titles(own)[:DIRECT]
        best = [
            {hit.chunk_id for hit in own.search(text, mode=SearchMode.LEXICAL, k=10).hits} for text in titles
        ]

    def ask_all() -> list[tuple[float, set[str]]]:
        found = []
        for text in titles:
            began = time.perf_counter()
            names = ask(text)
            found.append((time.perf_counter() - began, names))
        return found

    for name in ("cold", "again"):
        _, traffic, found = bench.timed(ask_all)
        low, high = np.percentile([1000 * spent for spent, _ in found], [50, 95])
        a_query = f"{traffic.requests / len(titles):.1f} requests, {traffic.sent / len(titles) / 1000:.0f} KB"
        yield (
            f"Lance's full-text index asked in the store, {name}",
            f"p50 {low:.1f} ms, p95 {high:.1f} ms; a query: {a_query}",
        )
    shared = np.mean(
        [len(names & own) / max(len(own), 1) for (_, names), own in zip(found, best, strict=True)]
    )
    yield "of the first ten by words, the same", f"{shared:.2f}"


def _titles(kebab: Kebab) -> list[str]:
    titles = sorted({document.title for document in kebab.list_docs()})
    return random.Random(SEED).sample(titles, min(QUERIES, len(titles)))


def _answer(kebab: Kebab, text: str, mode: SearchMode) -> bytes:
    return msgspec.json.encode(wire.search_response(kebab.search(text, mode=mode, explain=True)))


def _times(kebab: Kebab, texts: Sequence[str]) -> list[float]:
    for text in texts[:WARM_UP]:
        kebab.search(text)
    found = []
    for text in texts:
        began = time.perf_counter()
        kebab.search(text)
        found.append(time.perf_counter() - began)
    return found


def _follows(bench: Bench) -> Iterator[tuple[str, str]]:
    with bench.opened(URI, follow_s=0.0) as replica:
        with bench.opened() as own:
            _edit(bench.root)
            own.ingest()
            own.publish(URI)
            revision = own.revision()

        def wait() -> None:
            while replica.revision() != revision:
                time.sleep(0.01)

        spent, traffic, _ = bench.timed(wait)
    yield f"an open replica follows {EDITED} edited files", f"{spent:.1f} s, {traffic}"


def _crowd(bench: Bench) -> Iterator[tuple[str, str]]:
    """Several replicas, each with its share of the clients, all on this computer."""
    each = CLIENTS // REPLICAS
    with bench.opened(URI):
        pass  # the release is in the cache: several that fetch it would wait for the first
    command = [sys.executable, "-m", "benchmarks.publishing", ".", "--ask"]
    places = [str(bench.root), str(bench.work), str(bench.data), str(each)]
    before = bench.traffic()
    running = [
        subprocess.Popen([*command, *places], stdout=subprocess.PIPE, text=True) for _ in range(REPLICAS)
    ]
    outputs = [process.communicate()[0].split() for process in running]
    traffic = bench.traffic() - before
    rate = sum(float(words[0]) for words in outputs)
    middle, worst, memory = (max(float(words[at]) for words in outputs) for at in (1, 2, 3))
    told = (
        f"{rate:.0f} searches/s, p50 {middle:.0f} ms, p95 {worst:.0f} ms, "
        f"{memory:.0f} MB a replica, shared pages once; "
        f"{CLIENTS * ASKED} searches and the opening together: {traffic}"
    )
    yield f"{REPLICAS} replicas, {CLIENTS} clients, {os.cpu_count()} cores", told


PARTS: dict[str, Callable[[Bench], Iterator[tuple[str, str]]]] = {
    "ingest": _stored,
    "publish": _publishes,
    "sizes": _sizes,
    "open": _opens,
    "query": _queries,
    "direct": _direct,
    "follow": _follows,
    "crowd": _crowd,
}


def _ask(bench: Bench, threads: int) -> None:
    """One replica under load; prints searches a second, two percentiles in ms, and its memory in MB."""
    with bench.opened(URI) as replica, ThreadPoolExecutor(threads) as pool:
        titles = _titles(replica)[:ASKED]
        _times(replica, titles)
        began = time.perf_counter()
        found = pool.map(lambda _: _times(replica, titles), range(threads))
        times = [one for some in found for one in some]
        spent = time.perf_counter() - began
        memory = footprint.share_mb(os.getpid())
    print(len(times) / spent, *np.percentile(np.array(times) * 1000, [50, 95]), memory)


if __name__ == "__main__":
    main()
