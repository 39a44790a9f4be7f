"""Engines that kebab could have been made of, on the same chunks, vectors and queries, in the same run."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers, searching
from benchmarks.synthetic import Block, Floats, Queries
from kebab.domain.fusion import Ranked, rrf

NUMPY_CHUNKS = 200_000
"""More would need gigabytes for a yardstick."""
SURREAL_CHUNKS = 2_000
PEERS = Path(__file__).resolve().parent.parent / ".venv" / "peers"


@dataclass(frozen=True)
class Peer:
    """Something built on the chunks. ``times`` gives the milliseconds of one round; none where it failed."""

    name: str
    times: Callable[[], list[float]]
    close: Callable[[], None] = lambda: None


def built(folder: Path) -> Iterator[Peer]:
    """All that can be built here on what the knowledge base below a folder holds."""
    with searching.opened(folder) as kb:
        texts = searching.queries(folder)[1]
        asked = Queries(texts, searching.embedded(kb, texts))
        count = kb.engines.reading.documents.counts()[1]
        if count <= NUMPY_CHUNKS:
            exact = peers.Exact(np.concatenate([block.vectors for _, block in searching.blocks(kb)]))
            yield Peer("numpy, exact scan, vectors alone", lambda: peers.exact_scan(exact, asked).latencies)
        few = Queries(asked.texts[: _few(count)], asked.vectors[: _few(count)])
        place = folder / f"peers-{count}"
        place.mkdir()
        yield Peer(
            "FTS5 (OR, bm25) + Lance scan, RRF (the seeds)",
            peers.seeds_built(place, (block for _, block in searching.blocks(kb)), few),
        )
        yield _lancedb(place, (block for _, block in searching.blocks(kb)), asked)
        yield _surreal((block for _, block in searching.blocks(kb)), asked)


def _few(chunks: int) -> int:
    """Queries for what takes a tenth of a second or more each."""
    return max(20, min(200, 2_000_000 // chunks))


def _lancedb(folder: Path, blocks: Iterator[Block], asked: Queries) -> Peer:
    """LanceDB's own hybrid query, in a process of the interpreter that has it (``make bench-peers``)."""
    name = "LanceDB hybrid query, RRFReranker"
    python = os.environ.get("KEBAB_BENCH_LANCEDB", str(PEERS / "lancedb" / "bin" / "python"))
    if not Path(python).exists():
        return Peer(f"{name}: not installed", list)
    if subprocess.run([python, "-c", "import lancedb"], capture_output=True, check=False).returncode:
        return Peer(f"{name}: not installed", list)
    peers.write_arrow(folder / "corpus.arrow", blocks)
    (folder / "queries.json").write_text(json.dumps(asked.texts), encoding="utf-8")
    np.save(folder / "queries.npy", asked.vectors)
    script = str(Path(__file__).with_name("lancedb_peer.py"))
    process = subprocess.Popen(
        [python, "-W", "ignore", script, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LANCE_LOG": "error"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    inlet, outlet = process.stdin, process.stdout
    version = json.loads(outlet.readline() or '{"version": "failed"}')["version"]

    def once() -> list[float]:
        if process.poll() is not None:
            return []
        inlet.write("again\n")
        inlet.flush()
        found: list[float] = json.loads(outlet.readline() or "[]")
        return found

    return Peer(f"{name} ({version})", once, process.kill)


def _surreal(blocks: Iterator[Block], asked: Queries) -> Peer:
    """SurrealDB's own full-text and vector index, embedded, on a few of the chunks, fused by RRF."""
    block = next(blocks)
    texts, vectors = block.texts[:SURREAL_CHUNKS], block.vectors[:SURREAL_CHUNKS]
    name = f"SurrealDB, native full-text and HNSW, RRF, {len(texts):,} chunks alone"
    try:
        search = _surreal_search(texts, vectors)
    except ImportError:
        return Peer(f"{name}: not installed", list)
    pairs = list(zip(asked.texts, asked.vectors, strict=True))[:50]
    return Peer(name, lambda: [_spent(lambda t=t, v=v: search(t, v)) for t, v in pairs])  # type: ignore[misc]


def _surreal_search(texts: list[str], vectors: Floats) -> Callable[[str, Floats], object]:
    from surrealdb import Surreal

    db = Surreal("mem://")
    db.connect()
    db.use("bench", "bench")

    def rows(statement: str, **given: Any) -> list[Any]:
        return list(db.query(statement, given))

    rows("DEFINE ANALYZER words TOKENIZERS class FILTERS lowercase, snowball(english)")
    rows("DEFINE TABLE chunk SCHEMALESS")
    rows("DEFINE INDEX said ON chunk FIELDS text FULLTEXT ANALYZER words BM25")
    near = f"HNSW DIMENSION {vectors.shape[1]} DIST COSINE TYPE F32 M 16 EFC 200"
    rows(f"DEFINE INDEX near ON chunk FIELDS vector {near}")
    for text, vector in zip(texts, vectors, strict=True):
        rows("CREATE chunk SET text = $text, vector = $vector", text=text, vector=vector.tolist())
    rows("REBUILD INDEX near ON chunk")

    def search(text: str, vector: Floats) -> object:
        by_words = rows(
            "SELECT id, search::score(1) AS score FROM chunk WHERE text @1,OR@ $text "
            "ORDER BY score DESC LIMIT 100",
            text=text,
        )
        by_meaning = rows("SELECT id FROM chunk WHERE vector <|100,64|> $vector", vector=vector.tolist())
        legs = {"lexical": by_words, "vector": by_meaning}
        return rrf({leg: [Ranked(str(row["id"]), 0.0) for row in found] for leg, found in legs.items()})[:10]

    search("a", vectors[0])
    return search


def _spent(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)
