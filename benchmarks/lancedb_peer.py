"""LanceDB's own hybrid query over the chunks in FOLDER; needs nothing but lancedb.

python benchmarks/lancedb_peer.py FOLDER    # says what it built; then a round's times for each line it reads
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.rerankers import RRFReranker


def main(folder: Path) -> None:
    texts = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    vectors = np.load(folder / "queries.npy")
    started = time.perf_counter()
    with pa.memory_map(str(folder / "corpus.arrow")) as source:
        rows = pa.ipc.open_file(source).read_all()
    table = lancedb.connect(folder / "lancedb").create_table("chunks", rows, mode="overwrite")
    table.create_index(metric="cosine", vector_column_name="vector", index_type="IVF_HNSW_SQ")
    table.create_fts_index("text")
    table.wait_for_index([index.name for index in table.list_indices()])
    built = time.perf_counter() - started
    reranker = RRFReranker()

    def search(text: str, vector: np.ndarray) -> None:
        query = table.search(query_type="hybrid", vector_column_name="vector", fts_columns="text")
        query.vector(vector).text(text).rerank(reranker).limit(10).select(["number"]).to_arrow()

    pairs = list(zip(texts, vectors, strict=True))
    for text, vector in pairs[:20]:
        search(text, vector)
    print(json.dumps({"build_s": built, "version": lancedb.__version__}), flush=True)
    for _ in sys.stdin:
        print(json.dumps([_spent(search, text, vector) for text, vector in pairs]), flush=True)


def _spent(search: Callable[[str, np.ndarray], None], text: str, vector: np.ndarray) -> float:
    started = time.perf_counter()
    search(text, vector)
    return 1000 * (time.perf_counter() - started)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
