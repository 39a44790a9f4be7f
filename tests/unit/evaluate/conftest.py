"""A small knowledge base in memory: three documents, one of them with two sections."""

from __future__ import annotations

import pytest

from kebab.domain.chunks import Chunk
from kebab.domain.documents import Document, LineSpan, Media, Metadata
from kebab.domain.ids import AssetId, ChunkId, DocId
from kebab.domain.ingests import FileState
from tests.fakes import FakeDocumentStore

SECTIONS = {
    "pasta.md": [
        ("Pasta", "Boil the water."),
        ("Pasta/Sauce", "Tomatoes and basil."),
        ("Pasta/Cheese", "Pecorino."),
    ],
    "bread.md": [("Bread", "Flour, water, salt.")],
    "김치.md": [("김치", "배추를 절인다.")],
}


@pytest.fixture
def store() -> FakeDocumentStore:
    """Chunk ids are ``path:number``; document ids are ``id-of-path``."""
    filled = FakeDocumentStore()
    for path, sections in SECTIONS.items():
        doc_id = DocId(f"id-of-{path}")
        chunks = [_chunk(doc_id, path, number, *section) for number, section in enumerate(sections)]
        state = FileState(path, 1, 1, AssetId(path), doc_id, "")
        document = Document(
            doc_id, "default", path, AssetId(path), path, "en", Media.MARKDOWN, "md-1", Metadata(), ()
        )
        filled.put(document, chunks, state)
    return filled


def _chunk(doc_id: DocId, path: str, number: int, headings: str, text: str) -> Chunk:
    return Chunk(
        chunk_id=ChunkId(f"{path}:{number}"),
        doc_id=doc_id,
        ordinal=number,
        text=text,
        heading_path=tuple(headings.split("/")),
        spans=(LineSpan(number + 1, number + 1),),
        block_ids=(),
        part=0,
        token_estimate=5,
        chunker_version="fake-1",
        policy_hash="p",
    )
