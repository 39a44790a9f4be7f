"""How documents and chunks lie in datasets, and how these are changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kebab.adapters.lance_published.storage import opened, opened_or_none
from kebab.adapters.lance_table import among, lance_engine
from kebab.domain.chunks import called, searchable_text
from kebab.domain.ids import DocId
from kebab.domain.names import plain_words
from kebab.ports import ModelKey, PublishedChunk, PublishedDocument, Record

if TYPE_CHECKING:
    import pyarrow as pa

_LISTED = 500
_BATCH_BYTES = 24_000_000
_CHUNKS_AT_ONCE = 500
# More small files than this, or a larger share of rows that are gone, call for compaction.
_MAX_SMALL = 24
_MAX_DELETED = 0.2
# Rows from which a file is large enough: a batch of a first publication has more of them. What was put
# together would be read and written again, and lie twice in the store until it is collected.
LARGE = {"documents": 100, "chunks": 1000, "words": 2}
# Rows from which the engine's own approximate index pays; the same as for a local table.
ANN_THRESHOLD = 30_000
_MAX_DELTAS = 8
# What the engine may hold while it makes the index of words; its own default is two gigabytes for each core.
_WORDS_MB = 64
# Vectors for each cell of the index that it learns the cells from at a time: a quarter of its own default.
_SAMPLED = 64


def document_schema() -> pa.Schema:
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("doc_id", "source_id", "mark")]
    return pa.schema([*texts, ("rows", pa.large_binary()), ("vectors", pa.large_binary())])


def chunk_schema(model: ModelKey | None) -> pa.Schema:
    import pyarrow as pa

    names = ("chunk_id", "doc_id", "source_id", "path", "title", "lang", "heading_path", "text")
    fields = [(name, pa.string()) for name in (*names, "body", "exact", "name", "about", "called")]
    if model is not None:
        # Half precision: enough for the engine's approximate index, which ranks again by these.
        fields.append(("embedding", pa.list_(pa.float16(), model.dimensions)))
    return pa.schema(fields)


def document_rows(records: Sequence[Record]) -> pa.Table:
    import pyarrow as pa

    columns = ("doc_id", "source_id", "mark", "rows", "vectors")
    values = {name: [getattr(record, name) for record in records] for name in columns}
    return pa.table(values, schema=document_schema())


def chunk_rows(chunks: Iterable[PublishedChunk], model: ModelKey | None) -> pa.Table:
    import pyarrow as pa

    schema = chunk_schema(model)
    published = list(chunks)
    if not published:
        return schema.empty_table()
    texts = [_texts(chunk) for chunk in published]
    columns: list[Any] = [pa.array(column, pa.string()) for column in zip(*texts, strict=True)]
    if model is not None:
        columns.append(_embeddings(published, schema.field("embedding").type))
    return pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema)


def _embeddings(published: Sequence[PublishedChunk], kind: Any) -> Any:
    """The vectors, with a null for each chunk that has none."""
    import numpy as np
    import pyarrow as pa

    matrix = np.zeros((len(published), kind.list_size), dtype=np.float16)
    lacking = np.array([chunk.vector is None for chunk in published])
    for row, chunk in zip(matrix, published, strict=True):
        if chunk.vector is not None:
            row[:] = chunk.vector
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), type=kind, mask=pa.array(lacking))


def _texts(published: PublishedChunk) -> tuple[str | None, ...]:
    """The columns of a chunk but its vector, in the order of the schema."""
    stored = published.stored
    return (
        stored.chunk.chunk_id,
        stored.chunk.doc_id,
        stored.source_id,
        stored.path,
        stored.title,
        stored.lang,
        " > ".join(stored.chunk.heading_path),
        stored.chunk.text,
        published.terms,
        " ".join(plain_words(searchable_text(stored))),
        published.name,
        published.about,
        " ".join(called(stored)),
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """What is written at once, in the engine's form: as objects a chunk takes several times as much."""

    doc_ids: list[DocId]
    documents: pa.Table
    chunks: pa.Table


def batches(documents: Iterable[PublishedDocument], model: ModelKey | None) -> Iterator[Batch]:
    """Some documents at a time, so many as fit into memory whatever their size."""
    records: list[Record] = []
    waiting: list[PublishedChunk] = []
    ready: list[pa.Table] = []
    size = 0
    for document in documents:
        records.append(document.record)
        size += len(document.record.rows) + len(document.record.vectors)
        waiting += document.chunks
        if len(waiting) >= _CHUNKS_AT_ONCE:
            ready.append(chunk_rows(waiting, model))
            size += ready[-1].nbytes
            waiting = []
        if size >= _BATCH_BYTES:
            yield _batch(records, [*ready, chunk_rows(waiting, model)])
            records, waiting, ready, size = [], [], [], 0
    if records:
        yield _batch(records, [*ready, chunk_rows(waiting, model)])


def _batch(records: list[Record], chunks: list[pa.Table]) -> Batch:
    import pyarrow as pa

    return Batch([record.doc_id for record in records], document_rows(records), pa.concat_tables(chunks))


def begun(uri: str, version: int | None, empty: pa.Table) -> Any:
    """The dataset at a version, whatever a killed publisher left after it; emptied where there is none."""
    lance = lance_engine()
    dataset = opened_or_none(uri)
    if dataset is None:
        return lance.write_dataset(empty, uri, mode="create")
    if version is None or dataset.schema != empty.schema:
        return lance.write_dataset(empty, uri, mode="overwrite")
    if dataset.version != version:
        dataset = opened(uri, version)
        dataset.restore()
    return dataset


def without(dataset: Any, column: str, names: Sequence[str]) -> None:
    """Delete the rows of these names."""
    for start in range(0, len(names), _LISTED):
        dataset.delete(among(column, names[start : start + _LISTED]))


def appended(dataset: Any, rows: pa.Table) -> Any:
    return lance_engine().write_dataset(rows, dataset, mode="append") if rows.num_rows else dataset


def selected(
    dataset: Any, columns: Sequence[str], name: str, among_these: Sequence[str] | None
) -> Iterator[Any]:
    """Rows of some names, or all, in batches that fit into memory."""
    if among_these is None:
        yield from dataset.scanner(columns=list(columns), batch_size=256).to_batches()
        return
    for start in range(0, len(among_these), _LISTED):
        condition = among(name, among_these[start : start + _LISTED])
        yield from dataset.scanner(columns=list(columns), filter=condition, batch_size=256).to_batches()


def tidied(dataset: Any, kind: str) -> Any:
    """Put small files together and drop rows that are gone, where there are many."""
    fragments = dataset.get_fragments()
    small = sum(fragment.physical_rows < LARGE[kind] for fragment in fragments)
    deleted = sum(fragment.num_deletions for fragment in fragments)
    if small <= _MAX_SMALL and deleted <= _MAX_DELETED * max(dataset.count_rows(), 1):
        return dataset
    dataset.optimize.compact_files(
        target_rows_per_fragment=LARGE[kind], materialize_deletions_threshold=_MAX_DELETED
    )
    return opened(dataset.uri)


def indexed_by_name(dataset: Any, column: str) -> Any:
    """With an index by which single rows are found; new rows join it as a small part of their own."""
    return _indexed(dataset, f"{column}_idx", lambda: dataset.create_scalar_index(column, "BTREE"))


def indexed_words(dataset: Any) -> Any:
    """With the engine's full-text index over the analyzer's terms, as they are."""
    options = {
        "base_tokenizer": "whitespace",
        "lower_case": False,
        "stem": False,
        "remove_stop_words": False,
        "ascii_folding": False,
        "with_position": True,
        "max_token_length": None,
        "memory_limit": _WORDS_MB,
    }
    return _indexed(dataset, "body_idx", lambda: dataset.create_scalar_index("body", "INVERTED", **options))


def indexed_vectors(dataset: Any) -> Any:
    rows = dataset.count_rows()
    if rows < ANN_THRESHOLD or "embedding" not in dataset.schema.names:
        return dataset
    options = {"metric": "cosine", "num_bits": 1, "streaming_sample_rate": _SAMPLED}
    make = lambda: dataset.create_index("embedding", "IVF_RQ", **options)  # noqa: E731
    return _indexed(dataset, "embedding_idx", make)


def _indexed(dataset: Any, name: str, make: Any) -> Any:
    if not dataset.count_rows():
        return dataset
    known = {index.name: index for index in dataset.describe_indices()}
    if name not in known:
        make()
        return opened(dataset.uri)
    covered = {number for segment in known[name].segments for number in segment.fragment_ids}
    if all(fragment.fragment_id in covered for fragment in dataset.get_fragments()):
        return dataset
    deltas = len(list(known[name].segments))
    merged = deltas if deltas >= _MAX_DELTAS else 0
    dataset.optimize.optimize_indices(num_indices_to_merge=merged, index_names=[name])
    return opened(dataset.uri)
