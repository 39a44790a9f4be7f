"""What the product is measured beside, on the same chunks and queries, in the same run."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic import Block, Floats, Queries
from kebab.domain.fusion import Ranked, rrf

DEPTH = 100


@dataclass(frozen=True)
class Peer:
    """A peer's latencies in milliseconds."""

    name: str
    latencies: list[float]


class Exact:
    """Every cosine by one matrix product: the yardstick, and the truth for recall."""

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix

    def nearest(self, vector: Floats, limit: int) -> list[int]:
        scores = self.matrix @ vector
        best = np.argpartition(-scores, min(limit, len(scores) - 1))[:limit]
        return [int(row) for row in best[np.argsort(-scores[best], kind="stable")]]


def exact_scan(exact: Exact, queries: Queries) -> Peer:
    return Peer("numpy, exact scan", _timed([partial(exact.nearest, v, DEPTH) for v in queries.vectors]))


def seeds_built(folder: Path, blocks: Iterable[Block], queries: Queries) -> Callable[[], list[float]]:
    """SQLite FTS5, every match ranked by BM25 (OR), a Lance table without an index, fused by RRF."""
    connection = _fts5(folder / "seeds.sqlite")
    dataset = None
    for block in blocks:
        rows = ((block.start + place, text) for place, text in enumerate(block.texts))
        connection.executemany("INSERT INTO chunks(rowid, body) VALUES (?, ?)", rows)
        dataset = _lance(folder / "seeds.lance", block)
    connection.commit()

    def search(text: str, vector: Floats) -> object:
        words = [Ranked(str(row), -score) for row, score in _match(connection, text)]
        found = dataset.to_table(  # type: ignore[union-attr]
            columns=["number", "_distance"],
            nearest={"column": "vector", "q": vector, "k": DEPTH, "metric": "cosine"},
        )
        meaning = [Ranked(str(number), 0.0) for number in found["number"].to_pylist()]
        return rrf({"lexical": words, "vector": meaning})[:10]

    calls = [partial(search, t, v) for t, v in zip(queries.texts, queries.vectors, strict=True)]
    return lambda: _timed(calls)


def _fts5(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE VIRTUAL TABLE chunks USING fts5(body)")
    return connection


def _match(connection: sqlite3.Connection, text: str) -> list[tuple[int, float]]:
    expression = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
    return connection.execute(
        "SELECT rowid, bm25(chunks) FROM chunks WHERE chunks MATCH ? ORDER BY bm25(chunks) LIMIT ?",
        (expression, DEPTH),
    ).fetchall()


def _lance(path: Path, block: Block) -> Any:
    import lance

    return lance.write_dataset(_table(block), path, mode="append" if path.exists() else "create")


def write_arrow(path: Path, blocks: Iterable[Block]) -> None:
    import pyarrow as pa

    writer = None
    for block in blocks:
        table = _table(block, texts=True)
        writer = writer or pa.ipc.new_file(str(path), table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def _table(block: Block, *, texts: bool = False) -> Any:
    import pyarrow as pa

    width = block.vectors.shape[1]
    columns: dict[str, Any] = {
        "number": pa.array(range(block.start, block.start + len(block.texts)), pa.int64()),
        "vector": pa.FixedSizeListArray.from_arrays(pa.array(block.vectors.ravel()), width),
    }
    if texts:
        columns["text"] = pa.array(block.texts)
    return pa.table(columns)


def _timed(calls: Sequence[Callable[[], object]]) -> list[float]:
    for call in calls[:3]:
        call()
    spent = []
    for call in calls:
        started = time.perf_counter()
        call()
        spent.append((time.perf_counter() - started) * 1000)
    return spent
