"""The product on synthetic chunks: built through its own stores and indexes, searched in a new process.

python -m benchmarks.product FOLDER        # searches what build() made there, prints one JSON object
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic import CHUNKS_A_DOC, DIMENSIONS, Block, Floats
from kebab.adapters.lance_vector import LanceVectorIndex
from kebab.adapters.source_files import DiskSourceFiles
from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.adapters.sqlite.embedding_store import SqliteEmbeddingStore
from kebab.adapters.tantivy_lexical import TantivyLexicalIndex
from kebab.config.sections import Search
from kebab.domain.chunks import Chunk
from kebab.domain.documents import Document, LineSpan, Media, Metadata
from kebab.domain.ids import AssetId, ChunkId, DocId, content_hash
from kebab.domain.ingests import FileState
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.ingest.catch_up import catch_up_lexical, catch_up_vector
from kebab.ports import EmbeddingKind, ModelKey
from kebab.search.analyze import Analyzer
from kebab.search.build import SearchParts, build_retriever
from kebab.search.fusion import policies
from kebab.search.hybrid import HybridRetriever

MODEL = ModelKey("bench", "1", DIMENSIONS)
WARM_UP = 20


class Place:
    """The parts of a knowledge base in one folder."""

    def __init__(self, folder: Path, *, readonly: bool) -> None:
        self.database = Database(folder / "kebab.sqlite", readonly=readonly)
        self.store = SqliteDocumentStore(self.database)
        self.embeddings = SqliteEmbeddingStore(self.database)
        self.analyzer = Analyzer()
        self.lexical = TantivyLexicalIndex(folder / "tantivy", self.analyzer)
        self.vectors = LanceVectorIndex(folder / "vectors", MODEL)


def build(folder: Path, blocks: Iterable[Block]) -> dict[str, float]:
    """Store and index every block; returns seconds by stage."""
    place = Place(folder, readonly=False)
    spent = dict.fromkeys(("store", "words", "vectors", "optimize"), 0.0)
    for block in blocks:
        spent["store"] += _timed(lambda block=block: _put(place, block))
    spent["words"] += _timed(lambda: catch_up_lexical(place.store, place.lexical))
    spent["vectors"] += _timed(lambda: catch_up_vector(place.store, place.embeddings, place.vectors))
    spent["optimize"] += _timed(place.vectors.optimize)
    place.database.close()
    return spent


def indexed(folder: Path, size: int) -> Floats:
    """The vectors as the index holds them, by number: they lean towards their document and are not those put.

    Recall asks whether the index finds the nearest of what it holds; an exact scan of these is the truth.
    """
    import lance

    (table,) = (folder / "vectors").glob("*.lance")
    rows = lance.dataset(str(table)).to_table(columns=["chunk_id", "embedding"])
    numbers = np.array([int(key, 16) for key in rows["chunk_id"].to_pylist()])
    values = rows["embedding"].combine_chunks().flatten().to_numpy().reshape(len(numbers), DIMENSIONS)
    matrix = np.zeros((size, DIMENSIONS), np.float32)
    matrix[numbers] = values / np.linalg.norm(values, axis=1, keepdims=True)
    return matrix


def chunk_id(number: int) -> str:
    return f"{number:032x}"


def _put(place: Place, block: Block) -> None:
    for offset in range(0, len(block.texts), CHUNKS_A_DOC):
        number = block.start + offset
        texts = block.texts[offset : offset + CHUNKS_A_DOC]
        doc_id = DocId(f"d{number:031x}")
        content = "\n".join(texts)
        asset = AssetId(content_hash(content.encode())[:32])
        path = f"{number:08d}.md"
        document = Document(
            doc_id=doc_id,
            source_id="bench",
            path=path,
            asset_id=asset,
            title=f"note {number}",
            lang="en",
            media=Media.MARKDOWN,
            parser_version="bench-1",
            metadata=Metadata(),
            text=content,
        )
        chunks = [_chunk(doc_id, number + place_, place_, text) for place_, text in enumerate(texts)]
        stored = place.store.put(document, chunks, FileState(path, len(content), 1, asset, doc_id, "bench"))
        keys = [item.content_key for item in stored]
        place.embeddings.put_vectors(MODEL, keys, block.vectors[offset : offset + CHUNKS_A_DOC])


def _chunk(doc_id: DocId, number: int, ordinal: int, text: str) -> Chunk:
    return Chunk(
        chunk_id=ChunkId(chunk_id(number)),
        doc_id=doc_id,
        ordinal=ordinal,
        text=text,
        heading_path=(f"part {number}",),
        spans=(LineSpan(ordinal + 1, ordinal + 1),),
        block_ids=(),
        part=0,
        token_estimate=160,
        chunker_version="bench-1",
        policy_hash="bench",
    )


class KnownEmbedder:
    """Gives each query the vector that was made for it: embedding is measured elsewhere."""

    model_id, version, dimensions = MODEL.model_id, MODEL.version, MODEL.dimensions

    def __init__(self, texts: Sequence[str], vectors: Floats) -> None:
        self._vectors = dict(zip(texts, vectors, strict=True))

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Any:
        return np.stack([self._vectors[text] for text in texts])


def retriever(place: Place, embedder: KnownEmbedder) -> HybridRetriever:
    parts = SearchParts(
        store=place.store,
        embeddings=place.embeddings,
        files=DiskSourceFiles({}, place.store.file_state),
        analyzer=place.analyzer,
        lexical=place.lexical,
        vectors=(embedder, place.vectors),
    )
    fusion = policies(k=60, lexical=0.7, vector=0.3)[Search().hybrid_fusion]
    return build_retriever(parts, fusion=fusion, old_after=timedelta(days=30))


def measure(folder: Path) -> dict[str, Any]:
    """Latencies of whole searches by mode and of the bare engines, the vector leg's hits, and memory."""
    texts = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    vectors = np.load(folder / "queries.npy")
    place = Place(folder, readonly=True)
    search = retriever(place, KnownEmbedder(texts, vectors))
    result: dict[str, Any] = {}
    for mode in SearchMode:
        result[mode.value] = _latencies(
            [lambda query=SearchQuery(text, mode, 10): search.search(query) for text in texts]
        )
    result["engine_vector"] = _latencies([lambda v=v: place.vectors.search(v, limit=100) for v in vectors])
    result["nearest"] = [[item.id for item in place.vectors.search(v, limit=10)] for v in vectors]
    result["rss_mb"], result["peak_mb"] = _memory()
    return result


def _latencies(calls: Sequence[Callable[[], object]]) -> list[float]:
    for call in calls[:WARM_UP]:
        call()
    return [_timed(call) * 1000 for call in calls]


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _memory() -> tuple[float, float]:
    """Resident memory now and at its highest, in MB (Linux; elsewhere both are 0)."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return 0.0, 0.0
    values = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
    return tuple(round(int(values[name].split()[0]) / 1024, 1) for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
