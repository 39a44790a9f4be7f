"""One folder published to a Qdrant server of this machine, and searched there beside the embedded one.

    python -m benchmarks.qdrant FOLDER

Queries are the titles of notes. Search is ``Kebab.search`` whole, hybrid, query embedding included.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from pathlib import Path

from kebab import Kebab
from kebab.domain.queries import SearchMode
from tests.qdrant_server import Node, address, running_qdrant

QUERIES = 60
SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the start\n")
    print("| what | measured |\n|---|---|")
    with tempfile.TemporaryDirectory(prefix="kebab-qdrant-") as work, running_qdrant(Path(work)) as nodes:
        for what, value in _measured(options.folder, Path(work), nodes):
            print(f"| {what} | {value} |", flush=True)


def _measured(root: Path, work: Path, nodes: list[Node]) -> list[tuple[str, str]]:
    uri, own = address(nodes, "bench"), {"index.cache_dir": str(work / "cache"), "index.follow_s": 3600}
    idle = _resident(nodes[0])
    with Kebab.open(root=root, data_dir=work / "data", overrides=own) as here:
        here.ingest()
        began = time.perf_counter()
        chunks = here.publish(uri).chunks
        taken = time.perf_counter() - began
        began = time.perf_counter()
        again = here.publish(uri)
        unchanged = time.perf_counter() - began
        titles = [document.title for document in here.list_docs()]
        queries = random.Random(SEED).sample(titles, min(QUERIES, len(titles)))
        with Kebab.open(root=root, data_dir=work / "data", overrides={**own, "index.url": uri}) as there:
            rows = [_compared(here, there, queries, mode) for mode in SearchMode]
    held, disk = _resident(nodes[0]) - idle, _disk(work / "node-0" / "storage")
    return [
        ("chunks", f"{chunks:,}"),
        ("published", f"{taken:.1f} s, {chunks / taken:,.0f} chunks a second"),
        ("published again, unchanged", f"{unchanged:.2f} s, {again.changed} changed"),
        ("disk of the server", f"{disk / chunks:,.0f} bytes a chunk"),
        ("memory of the server above an empty one", f"{held / chunks:,.0f} bytes a chunk"),
        *rows,
    ]


def _compared(here: Kebab, there: Kebab, queries: list[str], mode: SearchMode) -> tuple[str, str]:
    times: dict[str, list[float]] = {"here": [], "there": []}
    same_first = shared = hits = 0
    for text in [*queries[:5], *queries]:
        found = {}
        for where, kebab in (("here", here), ("there", there)):
            began = time.perf_counter()
            found[where] = [hit.chunk_id for hit in kebab.search(text, mode=mode).hits]
            times[where].append(1000 * (time.perf_counter() - began))
        same_first += found["here"][:1] == found["there"][:1]
        shared += len(set(found["here"]) & set(found["there"]))
        hits += len(found["here"])
    told = ", ".join(f"{where} {_told(some[5:])}" for where, some in times.items())
    return (
        f"{mode}",
        f"{told}; same first hit {same_first}/{len(queries) + 5}, hits in common {shared / hits:.1%}",
    )


def _told(times: list[float]) -> str:
    return f"p50 {statistics.median(times):.1f} ms, p95 {sorted(times)[int(0.95 * len(times))]:.1f}"


def _resident(node: Node) -> int:
    assert node.process is not None
    lines = Path(f"/proc/{node.process.pid}/status").read_text().splitlines()
    anonymous = next(line for line in lines if line.startswith("RssAnon"))
    return int(anonymous.split()[1]) * 1024


def _disk(folder: Path) -> int:
    """Blocks on disk, not lengths: the server makes files of a fixed length and fills them."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
