"""Other orders than the best first, and what filters alone list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kebab.domain.documents import DocumentSummary
from kebab.domain.hits import RetrievalDetail, SearchHit
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.names import dated
from kebab.domain.queries import SearchQuery, SortOrder
from kebab.ports import DocumentStore
from kebab.search.group import Placed

SORTED = 100
"""The best so many are put in another order, whatever k: beyond them nothing fits well enough to come up."""
FITTING = 0.1
"""Nor does what has less than this share of the best hit's score."""


def put_in_order(hits: Sequence[SearchHit], order: SortOrder, store: DocumentStore) -> tuple[SearchHit, ...]:
    """The hits by path, or the newest notes first; those of one path or day keep their order.

    What hardly fits comes behind all others, as it was: it would come first as likely as not.
    """
    least = FITTING * max((hit.score for hit in hits), default=0.0)
    fitting = [hit for hit in hits if hit.score >= least]
    if order is SortOrder.PATH:
        placed = sorted(fitting, key=lambda hit: (hit.source_id, hit.doc_path))
    else:
        days = {doc_id: _day(store.document(doc_id)) for doc_id in {hit.doc_id for hit in fitting}}
        placed = sorted(fitting, key=lambda hit: days[hit.doc_id], reverse=True)
    placed += [hit for hit in hits if hit.score < least]
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(placed, start=1))


def is_listing(query: SearchQuery) -> bool:
    """Whether filters and patterns are all that was typed: then there is nothing to rank by."""
    asked = query.filters or query.only is not None
    return bool(asked) and not (query.text or query.phrases or query.excluded)


def listed(query: SearchQuery, store: DocumentStore) -> Iterator[Placed]:
    """The documents that the filters let through, each by the chunk that opens it, in the order asked for.

    By path where no order is asked for. Where patterns were looked for, it is the chunks that they match.
    """
    if query.only is not None:
        yield from _matched(query.only, query, store)
        return
    documents: Iterable[DocumentSummary] = store.list_documents(query.filters)
    if query.sort is SortOrder.DATE:
        documents = sorted(documents, key=_day, reverse=True)
    detail = RetrievalDetail(query.mode, 1.0)
    for doc_id in (document.doc_id for document in documents):
        yield from (Placed(chunk, 1.0, detail, ()) for chunk in _opening(doc_id, store))


def _matched(chunks: Sequence[ChunkId], query: SearchQuery, store: DocumentStore) -> Iterator[Placed]:
    """The chunks in their order, which is that of the paths, or those of the newest notes first."""
    if query.sort is SortOrder.DATE:
        owners = store.owners(chunks)
        days = {doc_id: _day(store.document(doc_id)) for doc_id in {own.doc_id for own in owners.values()}}
        known = (chunk for chunk in chunks if chunk in owners)
        chunks = sorted(known, key=lambda chunk: days[owners[chunk].doc_id], reverse=True)
    detail = RetrievalDetail(query.mode, 1.0)
    yield from (Placed(chunk, 1.0, detail, ()) for chunk in chunks)


def _opening(doc_id: DocId, store: DocumentStore) -> Iterator[ChunkId]:
    yield from (stored.chunk.chunk_id for stored in store.chunks_of(doc_id)[:1])


def _day(document: DocumentSummary | None) -> str:
    if document is None:
        return ""
    return dated(document.path, created=document.created_at, updated=document.updated_at)
