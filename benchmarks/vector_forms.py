"""The forms of the vector index beside each other, on the vectors of a real knowledge base.

    python -m benchmarks.vector_forms FOLDER [--rows 1000000] [--forms int8 lance] [--work DIR]

FOLDER holds ``notes``, ``data`` and ``queries.json``, as ``benchmarks.run`` makes them. Each form is filled
from the store in a process of its own, whose memory is told at its highest after the rows came and after the
index was put in order, and searched from another one: milliseconds of the hundred nearest, the share of the
nearest by float32 that are found, and the memory of the process, which holds the built-in model as well.
"""

from __future__ import annotations

import argparse
import heapq
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import footprint, searching
from kebab import Kebab
from kebab.assembly.vectors import build_vector_index
from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId
from kebab.ingest.lean import leaning
from kebab.ports import VectorIndex, Vectors

QUERIES = 200
DOCS_A_BATCH = 500
DEPTHS = (10, 100)
PROJECT = searching.PROJECT


def main() -> None:
    options = _options()
    if options.task:
        print(json.dumps(TASKS[options.task](options.folder, options.place, options.form, options.rows)))
        return
    with tempfile.TemporaryDirectory(prefix="kebab-forms-", dir=options.work) as work:
        truth = Path(work) / "truth.json"
        truth.write_text(json.dumps(_nearest(options.folder, options.rows)), encoding="utf-8")
        print(
            "| form | rows | filled, in order s | memory then MB | disk MB "
            "| p50 ms | p95 ms | recall@10 | @100 | memory MB |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|")
        for form in options.forms:
            told = [value for task in TASKS for value in _process(task, options, Path(work), form)]
            print(f"| {form} | {' | '.join(told)} |", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10**9, help="no more than so many, roughly")
    parser.add_argument("--forms", nargs="+", choices=["int8", "lance"], default=["int8", "lance"])
    parser.add_argument("--work", type=Path, help="where the temporary folder is made")
    parser.add_argument("--task", choices=["fill", "search"], help=argparse.SUPPRESS)
    parser.add_argument("--place", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--form", help=argparse.SUPPRESS)
    return parser.parse_args()


def _process(task: str, options: argparse.Namespace, work: Path, form: str) -> list[str]:
    command = [sys.executable, "-m", "benchmarks.vector_forms", str(options.folder), "--task", task]
    command += ["--place", str(work), "--form", form, "--rows", str(options.rows)]
    done = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    told: list[str] = json.loads(done.stdout.splitlines()[-1])
    return told


Batch = tuple[list[StoredChunk], dict[ChunkId, Vectors]]


def _batches(kb: Kebab, rows: int) -> Iterator[Batch]:
    """Chunks with their vectors as they are indexed, some thousand at a time, until there are so many."""
    stores, model = kb.engines.reading, searching.model_of(kb)[1]
    documents = [summary.doc_id for summary in stores.documents.list_documents()]
    given = 0
    for first in range(0, len(documents), DOCS_A_BATCH):
        chunks = list(stores.documents.stored_chunks(documents[first : first + DOCS_A_BATCH]))
        vectors = stores.embeddings.vectors(model, [one.content_key for one in chunks])
        yield chunks, leaning(chunks, vectors)
        given += len(chunks)
        if given >= rows:
            break


def _index(kb: Kebab, place: Path, form: str) -> VectorIndex:
    return build_vector_index(form, place / form, searching.model_of(kb)[1], refill=_never)


def _never(_: VectorIndex) -> None:
    raise AssertionError("one form alone does not change")


def fill(folder: Path, place: Path, form: str, rows: int) -> list[str]:
    with searching.opened(folder) as kb:
        index, started = _index(kb, place, form), time.perf_counter()
        for number, (chunks, vectors) in enumerate(_batches(kb, rows)):
            index.apply(removed=(), chunks=chunks, vectors=vectors, checkpoint=number + 1)
        fed = time.perf_counter() - started, searching.memory()[1]
        index.optimize()
        spent, most = time.perf_counter() - started, searching.memory()[1]
        disk = footprint.disk_mb(place / form)
        return [
            f"{index.count():,}",
            f"{fed[0]:.0f} + {spent - fed[0]:.0f}",
            f"{fed[1]:.0f}, {most:.0f}",
            f"{disk:.0f}",
        ]


def search(folder: Path, place: Path, form: str, rows: int) -> list[str]:
    with searching.opened(folder) as kb:
        asked = searching.embedded(kb, _queries(folder))
        index = _index(kb, place, form)
    for vector in asked[::2]:
        index.search(vector, limit=DEPTHS[-1])
    spent, found = [], []
    for vector in asked[1::2]:
        started = time.perf_counter()
        found.append([item.id for item in index.search(vector, limit=DEPTHS[-1])])
        spent.append(1000 * (time.perf_counter() - started))
    held = searching.memory()[0]
    truth = json.loads((place / "truth.json").read_text("utf-8"))[1::2]
    times = [f"{value:.1f}" for value in np.percentile(spent, [50, 95])]
    return [*times, *(f"{_recall(found, truth, depth):.4f}" for depth in DEPTHS), f"{held:.0f}"]


def _queries(folder: Path) -> list[str]:
    texts: list[str] = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    return texts[:QUERIES]


def _recall(found: list[list[str]], truth: list[list[str]], depth: int) -> float:
    shares = [len(set(one[:depth]) & set(own[:depth])) / depth for one, own in zip(found, truth, strict=True)]
    return float(np.mean(shares))


def _nearest(folder: Path, rows: int) -> list[list[ChunkId]]:
    """The hundred nearest of each query by float32, all compared."""
    with searching.opened(folder) as kb:
        asked = searching.embedded(kb, _queries(folder))
        asked /= np.linalg.norm(asked, axis=1, keepdims=True)
        best: list[list[tuple[float, ChunkId]]] = [[] for _ in asked]
        for _, vectors in _batches(kb, rows):
            names, own = list(vectors), np.stack(list(vectors.values())).astype(np.float32)
            own /= np.linalg.norm(own, axis=1, keepdims=True)
            for place, row in enumerate(asked @ own.T):
                top = (
                    np.argpartition(-row, DEPTHS[-1])[: DEPTHS[-1]]
                    if len(row) > DEPTHS[-1]
                    else range(len(row))
                )
                mine = [(float(row[at]), names[at]) for at in top]
                best[place] = heapq.nlargest(DEPTHS[-1], [*best[place], *mine])
    return [[name for _, name in one] for one in best]


TASKS = {"fill": fill, "search": search}

if __name__ == "__main__":
    main()
