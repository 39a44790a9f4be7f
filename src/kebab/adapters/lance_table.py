"""A table of vectors in Lance: its rows, and the conditions that choose among them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.adapters.flat_vectors import FlatVectors
from kebab.disk.sizes import bytes_of
from kebab.domain.chunks import StoredChunk
from kebab.errors import ModelMismatch
from kebab.ports import IndexShape, ModelKey

if TYPE_CHECKING:
    import pyarrow as pa

    from kebab.ports import Vectors

_PIECE = 2048
"""Rows that are read at once where all are."""
_BUFFER = 16 << 20
"""Bytes that the engine may read ahead meanwhile; by itself it takes two gigabytes."""


def copied(dataset: Any, row_ids: Any | None = None) -> FlatVectors:
    """All rows of the table, or some of them, in order of their ids."""
    chosen = None if row_ids is None else among_rows(row_ids.tolist())
    table = dataset.to_table(columns=["chunk_id", "doc_id", "embedding"], filter=chosen, with_row_id=True)
    return _in_order(table)


def _in_order(table: pa.Table) -> FlatVectors:
    import numpy as np

    dimensions = table.schema.field("embedding").type.list_size
    vectors = table["embedding"].combine_chunks().flatten().to_numpy().reshape(-1, dimensions)
    order = np.argsort(table["_rowid"].to_numpy())
    return FlatVectors(
        table["_rowid"].to_numpy()[order],
        np.array(table["chunk_id"].to_pylist(), dtype="S")[order],
        np.array(table["doc_id"].to_pylist(), dtype="S")[order],
        vectors[order] if np.any(np.diff(order) != 1) else vectors,
    )


def pieces_of(dataset: Any) -> Iterator[FlatVectors]:
    """All rows of the table in order of their ids, some thousand at a time."""
    import pyarrow as pa

    columns = ["chunk_id", "doc_id", "embedding"]
    for fragment in sorted(dataset.get_fragments(), key=lambda one: one.fragment_id):
        scanner = fragment.scanner(
            columns=columns, with_row_id=True, batch_size=_PIECE, batch_readahead=1, io_buffer_size=_BUFFER
        )
        for batch in scanner.to_batches():
            yield _in_order(pa.table(batch))


def lance_engine() -> Any:
    """The engine. Its log goes to stderr, which is ours to talk on, so only its errors are let through."""
    os.environ.setdefault("LANCE_LOG", "error")
    import lance

    return lance


def opened_table(table: Path, version: int | None = None) -> Any:
    return lance_engine().dataset(str(table), version=version)


def unindexed(dataset: Any) -> int:
    """Rows that no index of the table knows yet."""
    covered = {
        fragment
        for index in dataset.describe_indices()
        for segment in index.segments
        for fragment in segment.fragment_ids
    }
    return sum(f.count_rows() for f in dataset.get_fragments() if f.fragment_id not in covered)


def shape_of(dataset: Any, places: Sequence[Path]) -> IndexShape:
    """The shape of a table. Without an index every search reads all of it, as it is meant to."""
    fragments = dataset.get_fragments()
    removed = sum(fragment.num_deletions for fragment in fragments)
    outside = unindexed(dataset) if dataset.describe_indices() else 0
    return IndexShape(len(fragments), removed, outside, bytes_of(places))


def rows_of(model: ModelKey, chunks: Sequence[StoredChunk], vectors: Sequence[Vectors]) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    wrong = {len(vector) for vector in vectors} - {model.dimensions}
    if wrong:
        raise ModelMismatch(f"vectors of {wrong} dimensions, {model.model_id} has {model.dimensions}")
    matrix = np.array(vectors, dtype=np.float32).reshape(len(vectors), model.dimensions)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True).astype(np.float32)
    norms[norms == 0] = 1
    matrix /= norms
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    embedding = pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), model.dimensions)
    text = pa.string()
    columns = {
        "chunk_id": pa.array([stored.chunk.chunk_id for stored in chunks], text),
        "doc_id": pa.array([stored.chunk.doc_id for stored in chunks], text),
        "embedding": embedding,
        "model_id": pa.array([model.model_id] * len(chunks), text),
        "embedding_version": pa.array([model.version] * len(chunks), text),
        "text": pa.array([stored.chunk.text for stored in chunks], text),
        "heading_path": pa.array([list(stored.chunk.heading_path) for stored in chunks], pa.list_(text)),
        "created_at": pa.array([now] * len(chunks), text),
    }
    return pa.table(columns)


def among(column: str, values: Sequence[str]) -> str:
    quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
    return f"{column} IN ({quoted})"


def among_rows(row_ids: Sequence[int]) -> str:
    return f"_rowid IN ({', '.join(map(str, row_ids))})" if row_ids else "false"
