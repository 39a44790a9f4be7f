"""Which of many chunks found by other words meet a question best.

A search for sixteen words of like meaning in place of each counts that word most which has most of them.
So it reads further down, and what it found is put in order by how much of the question each chunk meets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kebab.answer.measured import words_above
from kebab.answer.meeting import WordSpace, meter, words_of
from kebab.answer.question import Keyword
from kebab.domain.chunks import StoredChunk, searchable_text
from kebab.domain.hits import Retrieval
from kebab.ports import Analyzer

FURTHER = 40
"""Chunks that are looked at."""
_ABOVE = 0.5
"""What a word of the question counts more where headings and names meet it."""


def by_meeting(
    weighed: Mapping[Keyword, float], chunks: Sequence[StoredChunk], analyzer: Analyzer
) -> list[StoredChunk]:
    """These chunks, those first that meet most of the question; ties as they came.

    By the words and the lists alone: the model would have to read every word of all of them.
    """
    above = [words_above(chunk) for chunk in chunks]
    texts = [searchable_text(chunk) for chunk in chunks]
    words = [words_of(text) | words_of(head) for text, head in zip(texts, above, strict=True)]
    heads = [words_of(head) for head in above]
    measure = meter(weighed, words, WordSpace(None))

    def meets(place: int) -> float:
        own = measure.met(frozenset(analyzer.terms(texts[place])), words[place])
        head = measure.met(frozenset(analyzer.terms(above[place])), heads[place])
        return measure.share(own) + _ABOVE * measure.share(head)

    return [chunks[place] for place in sorted(range(len(chunks)), key=lambda place: (-meets(place), place))]


def of_chunks(found: Retrieval, chunks: Sequence[StoredChunk]) -> Retrieval:
    """What was found, of these chunks alone and in their order."""
    hits = {hit.chunk_id: hit for hit in found.hits}
    return replace(found, hits=tuple(hits[chunk.chunk.chunk_id] for chunk in chunks))
