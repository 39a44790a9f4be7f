"""What the knowledge base holds, as far as this server may see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import kebab
from kebab.app import Kebab
from kebab.domain.documents import DocumentSummary
from kebab.errors import KebabError, NotIndexed
from kebab.wire.upkeep import MemoryState, Status

TOP_TAGS = 20


def overview(base: Kebab, *, memory: bool) -> Status:
    """With ``memory`` the execution memory is opened and counted too."""
    try:
        documents: Sequence[DocumentSummary] | None = base.list_docs()
    except NotIndexed:
        documents = None
    found = documents or ()
    return Status(
        kebab_version=kebab.__version__,
        indexed=documents is not None,
        readonly=base.engines.readonly,
        documents=len(found),
        chunks=sum(document.chunk_count for document in found),
        sources=_tally(document.source_id for document in found),
        languages=_tally(document.lang for document in found),
        media=_tally(str(document.media) for document in found),
        tags=dict(list(_tally(tag for doc in found for tag in set(doc.tags)).items())[:TOP_TAGS]),
        last_indexed_at=max((document.indexed_at for document in found), default=None),
        memory=_memory(base) if memory else None,
    )


def _memory(base: Kebab) -> MemoryState | None:
    try:
        stats = base.memory.stats()
    except KebabError:
        return None
    ended = stats.last_finished_at
    return MemoryState(
        executions=stats.executions,
        successes=stats.successes,
        last_finished_at=ended.isoformat().replace("+00:00", "Z") if ended else None,
    )


def _tally(values: Iterable[str]) -> dict[str, int]:
    """Most frequent first."""
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))
