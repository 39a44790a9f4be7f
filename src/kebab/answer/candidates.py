"""What is shown of the places that were read: beside an answer, or instead of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kebab.answer.prompt import printable
from kebab.answer.rank import Scored
from kebab.answer.shown import show
from kebab.domain.answers import AskCandidate
from kebab.domain.hits import SearchHit
from kebab.domain.ids import ChunkId


def candidate(hit: SearchHit) -> AskCandidate:
    return AskCandidate(
        hit.chunk_id,
        hit.doc_path,
        hit.heading_path,
        hit.citation,
        hit.score,
        printable(" ".join(hit.snippet.text.split())),
    )


def nearest(hits: Sequence[SearchHit], ranked: Sequence[Scored]) -> tuple[AskCandidate, ...]:
    """What came nearest to an answer that is refused: the best passage of each chunk, best first."""
    best: dict[ChunkId, Scored] = {}
    for one in ranked:
        best.setdefault(one.chunk.chunk.chunk_id, one)
    named = {hit.chunk_id: hit for hit in hits}
    shown = [(named[chunk], one) for chunk, one in best.items() if chunk in named]
    told = [replace(candidate(hit), snippet=printable(show(one.passage))) for hit, one in shown]
    return tuple(told) or tuple(candidate(hit) for hit in hits)
