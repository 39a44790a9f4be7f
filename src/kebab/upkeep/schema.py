"""What this knowledge base can do and what it holds, for agents that want to know before they ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kebab.domain.reports import SchemaReport
from kebab.ports import DocumentStore, EmbeddingStore


def describe(
    *,
    kebab_version: str,
    versions: Mapping[str, str],
    capabilities: Mapping[str, bool],
    documents: DocumentStore | None,
    embeddings: EmbeddingStore | None,
) -> SchemaReport:
    """Without stores, as before the first ingest, the statistics are empty."""
    stats = _stats(documents, embeddings) if documents and embeddings else {}
    return SchemaReport(kebab_version, dict(versions), dict(capabilities), stats)


def _stats(documents: DocumentStore, embeddings: EmbeddingStore) -> dict[str, object]:
    summaries = documents.list_documents()
    count, chunks = documents.counts()
    return {
        "documents": count,
        "chunks": chunks,
        "bytes": sum(summary.byte_len for summary in summaries),
        "revision": documents.revision(),
        "sources": _tally(summary.source_id for summary in summaries),
        "languages": _tally(summary.lang for summary in summaries),
        "media": _tally(str(summary.media) for summary in summaries),
        "vectors": {model.model_id: held for model, held in embeddings.models().items()},
    }


def _tally(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
