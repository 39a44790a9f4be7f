"""The product on synthetic chunks, built through its own stores and indexes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from benchmarks.synthetic import CHUNKS_A_DOC, Block, Floats
from kebab import Kebab
from kebab.domain.chunks import Chunk
from kebab.domain.documents import Document, LineSpan, Media, Metadata
from kebab.domain.ids import AssetId, ChunkId, DocId, content_hash
from kebab.domain.ingests import FileState
from kebab.domain.queries import SearchFilters
from kebab.ingest.catch_up import catch_up_lexical, catch_up_vector
from kebab.ports import ModelKey, Stores

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
