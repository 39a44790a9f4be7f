"""Search, ingest and cold start beside the peers, in one run, as Markdown for docs/benchmarks.md.

    python -m benchmarks.run --sizes 10000 100000 [1000000]

Everything is built in a temporary folder. Milliseconds depend on the machine; the ratios within a run are
what counts. LanceDB is measured where ``KEBAB_BENCH_LANCEDB`` names a Python that can import it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import ingesting, peers, product
from benchmarks.synthetic import Language, Queries, real_text

PROJECT = Path(__file__).resolve().parent.parent
QUERIES = 200


def main() -> None:
    options = _options()
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, {_cores()}\n"
    )
    with tempfile.TemporaryDirectory(prefix="kebab-bench-") as work:
        if "search" in options.parts:
            _print_search(options, Path(work))
        if "ingest" in options.parts:
            _print_ingest(options, Path(work))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], help="chunks")
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--parts", nargs="+", choices=["search", "ingest"], default=["search", "ingest"])
    parser.add_argument("--no-peers", action="store_true", help="measure the product alone")
    return parser.parse_args()


def _print_search(options: argparse.Namespace, work: Path) -> None:
    print(f"\n## Search, query embedding apart\n\n{_load()}\n")
    print(
        "| chunks | what | p50 ms | p95 ms | recall@10 | memory MB | build s |\n|---|---|---|---|---|---|---|"
    )
    medians: dict[int, float] = {}
    for size in options.sizes:
        medians[size] = _print_size(size, options, work / str(size))
    if len(medians) > 1:
        small, large = min(medians), max(medians)
        growth = medians[large] / medians[small]
        print(
            f"\nGrowth of hybrid p50 from {small:,} to {large:,} chunks ({large / small:.0f}×): {growth:.1f}×"
        )


def _print_size(size: int, options: argparse.Namespace, folder: Path) -> float:
    folder.mkdir(parents=True)
    language = Language(real_text(options.data, PROJECT / "examples" / "vault"), topics=max(200, size // 200))
    queries = language.queries(QUERIES, seed=size)
    (folder / "queries.json").write_text(json.dumps(queries.texts), encoding="utf-8")
    np.save(folder / "queries.npy", queries.vectors)
    spent = product.build(folder, language.blocks(size))
    exact = peers.Exact(product.indexed(folder, size))
    found = _search_process(folder)
    build = f"{sum(spent.values()):.0f} (" + ", ".join(f"{k} {v:.0f}" for k, v in spent.items()) + ")"
    memory = f"{found['rss_mb']:.0f} (peak {found['peak_mb']:.0f})"
    _row(size, "Kebab.search lexical", found["lexical"])
    _row(
        size,
        "Kebab.search vector",
        found["vector"],
        recall=f"{_recall(exact, queries, found['nearest']):.4f}",
    )
    _row(size, "Kebab.search hybrid", found["hybrid"], memory=memory, build=build)
    _row(size, "· with query embedding", found["embedded"])
    for name, times in found["filtered"].items():
        _row(size, f"· filter: {name}", times)
    _row(size, "· beside a process that ingests", found["beside"])
    _row(size, "· vector engine alone, 100 nearest", found["engine_vector"])
    rates = ", ".join(f"{threads} threads {rate:.0f}" for threads, rate in found["threads"].items())
    print(f"| {size:,} | kebab hybrid, searches a second: {rates} | | | | | |", flush=True)
    yardstick = peers.exact_scan(exact, queries)
    _row(size, yardstick.name, yardstick.latencies, recall="1")
    if not options.no_peers:
        for peer in _peers(size, language, queries, folder):
            _row(size, peer.name, peer.latencies, build=f"{peer.build_s:.0f}", note=peer.note)
    return float(np.percentile(found["hybrid"], 50))


def _peers(size: int, language: Language, queries: Queries, folder: Path) -> Iterator[peers.Peer]:
    count = QUERIES if size <= 10_000 else max(20, QUERIES * 10_000 // size)
    yield peers.seeds_design(folder, language.blocks(size), queries, count=count)
    yield peers.lancedb_hybrid(folder, language.blocks(size))


def _search_process(folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.product", "search", str(folder)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _recall(exact: peers.Exact, queries: Queries, nearest: list[list[str]]) -> float:
    hits = 0
    for vector, found in zip(queries.vectors, nearest, strict=True):
        truth = {product.chunk_id(number) for number in exact.nearest(vector, 10)}
        hits += len(truth & set(found))
    return hits / (10 * len(nearest))


def _row(
    size: int,
    what: str,
    times: list[float],
    *,
    recall: str = "",
    memory: str = "",
    build: str = "",
    note: str = "",
) -> None:
    p50, p95 = (f"{value:.1f}" for value in np.percentile(times, [50, 95])) if times else ("–", "–")
    label = f"{what} ({note})" if note else what
    print(f"| {size:,} | {label} | {p50} | {p95} | {recall} | {memory} | {build} |", flush=True)


def _print_ingest(options: argparse.Namespace, work: Path) -> None:
    vault = PROJECT / "examples" / "vault"
    print(f"\n## Ingest and cold start\n\n{_load()}\n\n| what | measured | target |\n|---|---|---|")
    notes = ingesting.unpacked_notes(options.data, vault, work / "notes")
    _print_all(ingesting.stages(notes, work / "ingests"))
    language = Language(real_text(options.data, vault), topics=200)
    texts = (text for block in language.blocks(ingesting.UNCHANGED_FILES) for text in block.texts)
    tree = ingesting.many_files(work / "tree", texts)
    _print_all(ingesting.unchanged(tree, work / "tree-data"))
    query = language.queries(1, seed=1).texts[0]
    _print_all(ingesting.cold(tree, work / "tree-data", query))


def _print_all(measurements: Iterator[ingesting.Measurement]) -> None:
    for line in measurements:
        print(f"| {line.what} | {line.value} | {line.target} |", flush=True)


def _cores() -> str:
    return f"{os.cpu_count()} cores"


def _load() -> str:
    """How busy the machine was before: above the number of cores, the milliseconds below are too high."""
    return f"Load average at the start: {os.getloadavg()[0]:.1f}."


if __name__ == "__main__":
    main()
