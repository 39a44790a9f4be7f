"""The product on synthetic chunks: built through its own stores and indexes, searched by ``Kebab.search``.

python -m benchmarks.product search FOLDER    # searches what build() made there, prints one JSON object
python -m benchmarks.product write FOLDER     # changes a note and ingests it, again and again, until killed
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic import CHUNKS_A_DOC, Block, Floats
from kebab import Kebab
from kebab.domain.chunks import Chunk
from kebab.domain.documents import Document, LineSpan, Media, Metadata
from kebab.domain.ids import AssetId, ChunkId, DocId, content_hash
from kebab.domain.ingests import FileState
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import Locked
from kebab.ingest.catch_up import catch_up_lexical, catch_up_vector
from kebab.ingest.lean import leaning
from kebab.ports import EmbeddingKind, ModelKey, Stores

PROJECT = Path(__file__).resolve().parent.parent
WARM_UP = 20
THREADS = 8
FILTERS = {
    "one document": SearchFilters(path=("00000000.md",)),
    "half of them": SearchFilters(lang=("en",)),
    "all of them, by path": SearchFilters(path=("*.md",)),
}


def opened(folder: Path) -> Kebab:
    """The knowledge base below a folder, as anybody would open it, with the default settings."""
    config, notes = folder / "config.toml", folder / "notes"
    config.write_text("", encoding="utf-8")  # nothing from this machine's own configuration
    notes.mkdir(exist_ok=True)
    return Kebab.open(config, root=notes, data_dir=folder / "data")


def build(folder: Path, blocks: Iterable[Block]) -> dict[str, float]:
    """Store and index every block, its vectors under the built-in model's name; returns seconds by stage."""
    spent = dict.fromkeys(("store", "words", "vectors", "optimize"), 0.0)
    with opened(folder) as kb, kb.engines.writing("bench") as stores:
        model = _model(kb)
        for block in blocks:
            spent["store"] += _timed(partial(_put, stores, model, block))
        spent["words"] += _timed(lambda: catch_up_lexical(stores.documents, kb.engines.lexical_index))
        index = kb.engines.vector_index(model)
        spent["vectors"] += _timed(lambda: catch_up_vector(stores.documents, stores.embeddings, index))
        spent["optimize"] += _timed(index.optimize)
    return spent


def indexed(folder: Path, size: int) -> Floats:
    """The vectors as they are indexed, by number: they lean towards their document and are not those put.

    Recall asks whether the index finds the nearest of what it holds; an exact scan of these is the truth.
    """
    with opened(folder) as kb:
        stores, model = kb.engines.reading, _model(kb)
        matrix = np.zeros((size, model.dimensions), np.float32)
        for summary in stores.documents.list_documents():
            chunks = stores.documents.chunks_of(summary.doc_id)
            vectors = stores.embeddings.vectors(model, [one.content_key for one in chunks])
            for key, vector in leaning(chunks, vectors).items():
                matrix[int(key, 16)] = vector / np.linalg.norm(vector)
    return matrix


def _model(kb: Kebab) -> ModelKey:
    embedder = kb.engines.embedder
    assert embedder is not None, "the built-in model is always there"
    return ModelKey.of(embedder)


def chunk_id(number: int) -> str:
    return f"{number:032x}"


def _put(stores: Stores, model: ModelKey, block: Block) -> None:
    with stores.documents.together():
        for offset in range(0, len(block.texts), CHUNKS_A_DOC):
            number = block.start + offset
            texts = block.texts[offset : offset + CHUNKS_A_DOC]
            _put_document(stores, model, number, texts, block.vectors[offset : offset + CHUNKS_A_DOC])


def _put_document(stores: Stores, model: ModelKey, number: int, texts: list[str], vectors: Floats) -> None:
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
        lang="ko" if number // CHUNKS_A_DOC % 2 else "en",
        media=Media.MARKDOWN,
        parser_version="bench-1",
        metadata=Metadata(),
        text=content,
    )
    chunks = [_chunk(doc_id, number + place, place, text) for place, text in enumerate(texts)]
    stored = stores.documents.put(document, chunks, FileState(path, len(content), 1, asset, doc_id, "bench"))
    stores.embeddings.put_vectors(model, [item.content_key for item in stored], vectors)


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
    """Gives each query the vector that was made for it: embedding is measured apart."""

    def __init__(self, model: ModelKey, texts: Sequence[str], vectors: Floats) -> None:
        self.model_id, self.version, self.dimensions = model.model_id, model.version, model.dimensions
        self._vectors = dict(zip(texts, vectors, strict=True))

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Any:
        return np.stack([self._vectors[text] for text in texts])


def measure(folder: Path) -> dict[str, Any]:
    """Latencies of ``Kebab.search`` in every way that it is used, the vector leg's hits, and memory."""
    texts = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    vectors = np.load(folder / "queries.npy")
    with opened(folder) as kb:
        model = _model(kb)
        kb.engines.embedder = KnownEmbedder(model, texts, vectors)
        result: dict[str, Any] = {
            mode.value: _latencies([_search(kb, text, mode) for text in texts]) for mode in SearchMode
        }
        result["rss_mb"], result["peak_mb"] = _memory()
        result["filtered"] = {
            name: _latencies([_search(kb, text, filters=filters) for text in texts])
            for name, filters in FILTERS.items()
        }
        index = kb.engines.vector_index(model)
        result["engine_vector"] = _latencies([partial(index.search, v, limit=100) for v in vectors])
        result["nearest"] = [[item.id for item in index.search(v, limit=10)] for v in vectors]
        result["threads"] = {threads: _rate(kb, texts, threads) for threads in (1, THREADS)}
        with _writing(folder):
            result["beside"] = _latencies([_search(kb, text) for text in texts])
    with opened(folder) as kb:
        result["embedded"] = _latencies([_search(kb, text) for text in texts])
    return result


def _search(
    kb: Kebab, text: str, mode: SearchMode = SearchMode.HYBRID, filters: SearchFilters | None = None
) -> Callable[[], object]:
    return lambda: kb.search(text, mode=mode, k=10, filters=filters)


def _rate(kb: Kebab, texts: Sequence[str], threads: int) -> float:
    """Searches a second of so many threads together."""
    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        list(pool.map(lambda text: kb.search(text, k=10), texts))
        return len(texts) / (time.perf_counter() - started)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Another process that ingests small changes meanwhile."""
    command = [sys.executable, "-m", "benchmarks.product", "write", str(folder)]
    writer = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE)
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        yield
    finally:
        writer.kill()
        writer.wait()


def write(folder: Path) -> None:
    """Change a note and ingest it until killed; says once that it has begun."""
    note = folder / "notes" / "changing.md"
    with opened(folder) as kb:
        for number in count():
            note.write_text(f"# Changing\n\nThis is edition {number}.\n", encoding="utf-8")
            try:
                kb.ingest([note])
            except Locked:
                time.sleep(0.05)
            if not number:
                print("writing", flush=True)


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
    task, place = sys.argv[1], Path(sys.argv[2])
    if task == "write":
        write(place)
    else:
        print(json.dumps(measure(place)))
