"""Ingest of one folder here and on Ray clusters of one and two nodes of this machine, with one core each.

    python -m benchmarks.cluster FOLDER

All nodes share the cores of one machine, so two of them can only be faster than one while cores are idle.
Rounds are interleaved; content is compared with what this machine makes alone.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from kebab import Kebab
from tests.ray_nodes import RayNodes, ray_nodes

ROUNDS = 2
_CONTENT = (
    "SELECT doc_id, path, title FROM documents ORDER BY doc_id",
    "SELECT chunk_id, doc_id, text FROM chunks ORDER BY chunk_id",
    "SELECT content_key, vector FROM embeddings ORDER BY content_key",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    size = sum(path.stat().st_size for path in options.folder.rglob("*") if path.is_file()) / 1e6
    print(f"{size:.1f} MB, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the start\n")
    with tempfile.TemporaryDirectory(prefix="kebab-cluster-") as work, ray_nodes(1) as one:
        os.environ.update(one.environment)
        _report(_measured(options.folder, Path(work), one, options.rounds), size)


def _measured(root: Path, work: Path, cluster: RayNodes, rounds: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {"1 process here": [], "1 node": [], "2 nodes": []}
    for number in range(rounds):
        data = work / str(number)
        seconds["1 process here"].append(_ingest(root, data / "here", {"ingest.workers": 1}))
        for nodes in (1, 2):
            if nodes == 2:
                second = cluster.start()
                cluster.wait(cores=2)
            taken = _ingest(root, data / str(nodes), {"ingest.on": cluster.address})
            seconds["1 node" if nodes == 1 else "2 nodes"].append(taken)
            if _content(data / str(nodes)) != _content(data / "here"):
                raise SystemExit("the cluster's content differs from that of this machine")
        cluster.kill(second)
        cluster.nodes.remove(second)
        time.sleep(8)  # until the cluster believes it
    return seconds


def _ingest(root: Path, data: Path, overrides: dict[str, object]) -> float:
    with Kebab.open(root=root, data_dir=data, overrides=overrides) as kebab:
        started = time.perf_counter()
        kebab.ingest()
        return time.perf_counter() - started


def _content(data: Path) -> list[list[object]]:
    with sqlite3.connect(f"file:{data}/kebab.sqlite?mode=ro", uri=True) as store:
        return [list(store.execute(query)) for query in _CONTENT]


def _report(seconds: dict[str, list[float]], size: float) -> None:
    print("| where | seconds | MB/s (median) |\n|---|---|---|")
    for where, taken in seconds.items():
        told = ", ".join(f"{one:.1f}" for one in taken)
        print(f"| {where} | {told} | {size / statistics.median(taken):.2f} |")
    print("\nDocuments, chunks and vectors are the same in every row.")


if __name__ == "__main__":
    main()
