"""LanceDB's own hybrid query over the chunks in FOLDER; needs nothing but lancedb.

python benchmarks/lancedb_peer.py FOLDER    # prints one JSON object
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.rerankers import RRFReranker


def main(folder: Path) -> dict[str, object]:
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

    for text, vector in list(zip(texts, vectors, strict=True))[:20]:
        search(text, vector)
    latencies = []
    for text, vector in zip(texts, vectors, strict=True):
        started = time.perf_counter()
        search(text, vector)
        latencies.append((time.perf_counter() - started) * 1000)
    return {"latencies": latencies, "build_s": built, "version": lancedb.__version__}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
