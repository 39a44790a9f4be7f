"""Which chunks the writer of an answer gets to see, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from kebab.domain.answers import Evidence
from kebab.domain.chunks import StoredChunk
from kebab.domain.citations import Citation, SourceState, cite
from kebab.domain.documents import LineSpan
from kebab.domain.ids import ChunkId
from kebab.domain.tokens import estimate_tokens

_MOST_ITEMS = 15
"""More evidence than this makes small models forget the rules, and costs minutes on a CPU."""


States = Mapping[ChunkId, SourceState | None]
"""What became of the file of each chunk."""


def pack(
    chunks: Sequence[StoredChunk], *, budget: int, states: States = MappingProxyType({})
) -> tuple[Evidence, ...]:
    """The chunks that fit, best first, numbered from 1 without gaps.

    One that does not fit is skipped and smaller ones after it still may. When not even one fits, the first is
    cut at the end of a line, so that a small budget gives little evidence rather than none.
    """
    packed: list[Evidence] = []
    left = budget
    for stored in chunks:
        if len(packed) == _MOST_ITEMS:
            break
        citation = _cited(stored, stored.chunk.spans, states.get(stored.chunk.chunk_id))
        item = _evidence(stored, len(packed) + 1, stored.chunk.text, citation)
        if item.tokens <= left:
            packed.append(item)
            left -= item.tokens
    if not packed and chunks:
        packed += _cut(chunks[0], budget, states.get(chunks[0].chunk.chunk_id))
    return tuple(packed)


def label(item: Evidence) -> str:
    """The line above a packed chunk: what the model may know of its origin."""
    heading = " > ".join(item.heading_path) or item.title
    span = item.citation.uri.rpartition("#")[2]
    origin = f"source={item.source_id} trust={item.trust_level}"
    return f"[#{item.marker}] path={item.doc_path} heading={heading} span={span} {origin}"


def _cut(stored: StoredChunk, budget: int, state: SourceState | None) -> list[Evidence]:
    lines = stored.chunk.text.split("\n")
    while len(lines) > 1:
        lines.pop()
        span = stored.chunk.spans[0] if stored.chunk.spans else LineSpan(1, 1)
        last = min(span.end, span.start + len(lines) - 1)
        citation = _cited(stored, (LineSpan(span.start, last),), state)
        item = _evidence(stored, 1, "\n".join(lines), citation)
        if item.tokens <= budget:
            return [item]
    return []


def _cited(stored: StoredChunk, spans: tuple[LineSpan, ...], state: SourceState | None) -> Citation:
    return cite(stored.path, spans, place=stored.chunk.place, state=state)


def _evidence(stored: StoredChunk, marker: int, text: str, citation: Citation) -> Evidence:
    chunk = stored.chunk
    item = Evidence(
        marker=marker,
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        doc_path=stored.path,
        title=stored.title,
        heading_path=chunk.heading_path,
        citation=citation,
        source_id=stored.source_id,
        trust_level=stored.trust_level,
        lang=stored.lang,
        text=text,
        tokens=0,
    )
    return _with_tokens(item)


def _with_tokens(item: Evidence) -> Evidence:
    return replace(item, tokens=estimate_tokens(label(item)) + estimate_tokens(item.text))
