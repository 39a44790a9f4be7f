"""Which of the ranked passages make the answer: as many as it needs, best first, none twice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from kebab.answer.measured import FEATURES
from kebab.answer.rank import Scored
from kebab.answer.shapes import Shape, announces, breaks_off, leads
from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId

MOST = 3
NEAR = 2.0
"""How much less a further passage may be worth than the best one."""
TIED = 0.5
"""The same beside a best one that meets the question and is of the kind asked for."""
PART = 0.4
"""How much less a part of the best passage may be worth to stand for it."""
_SAME = 0.7
"""Passages that share this much of their terms say the same."""
_ABOUT = 0.75
"""Share of the best passage's coverage that a passage of another document needs."""
_HELD, _MORE = 0.7, 3
"""Share of a passage's terms that another holds to say all of it, and how many it has beyond."""
_OF_KIND, _MET = 0.9, 0.8
"""What a passage must reach to be all of an answer: of the kind asked for, and of the question's words."""
_SAID = 0.5
"""News of a passage that does more than repeat the question."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_OWN, _CONTEXT, _NEWS = (FEATURES.index(name) for name in ("own", "context", "news"))
_KINDS = tuple(FEATURES.index(name) for name in ("number", "defines"))
_ANY_KIND = tuple(
    FEATURES.index(name) for name in ("number", "place", "steps", "listed", "reason", "defines")
)
_FULLER = 4.0
"""How much less a passage may be worth that stands for a label."""
_FITS, _BESIDE = 0.5, 5.0
"""What a passage must reach to be of the kind asked for, and how much less it may be worth on its page."""


def select(ranked: Sequence[Scored], *, most: int = MOST) -> list[Scored]:
    """The best passage and those that are nearly as good and say something else, in this order.

    Little follows a passage that is just what was asked for.
    """
    chosen = [_whole(_shortest(_telling(ranked)), ranked)] if ranked and most else []
    near = TIED if chosen and _says_all(chosen[0]) else NEAR
    chosen += _of_kind(ranked, chosen)[: most - len(chosen)]
    for one in ranked:
        if len(chosen) == most or one.worth < ranked[0].worth - near:
            break
        whole = _whole(one, ranked)
        if whole in chosen:
            continue
        if (place := _restated(whole, chosen)) is not None:
            chosen[place] = whole
        elif _adds(whole, chosen):
            chosen.append(whole)
    return chosen


def _of_kind(ranked: Sequence[Scored], chosen: Sequence[Scored]) -> list[Scored]:
    """The best passage of the same page that is of the kind asked for, where the chosen one is not:
    the command below the sentence that says what it is for.
    """
    if not chosen or _kind(chosen[0]) >= _FITS:
        return []
    best = chosen[0]
    beside = (
        one
        for one in ranked
        if one.chunk.path == best.chunk.path
        and _kind(one) >= _FITS
        and one.worth >= best.worth - _BESIDE
        and _adds(one, chosen)
    )
    return [_whole(one, ranked) for one in beside][:1]


def _kind(one: Scored) -> float:
    return max(one.features[at] for at in _ANY_KIND)


def _telling(ranked: Sequence[Scored]) -> list[Scored]:
    """The passages, first the best that tells something: a label that only repeats the question gives its
    place to the passage that holds it, or stands below it.
    """
    best = ranked[0]
    label = best.passage.text
    repeats = best.features[_NEWS] < _SAID and best.features[_OWN] >= _SAID
    says = not repeats or best.features[_KINDS[0]] >= _FITS
    if says or best.passage.shape not in (Shape.ITEM, Shape.SENTENCE):
        return list(ranked)
    fuller = [
        one
        for one in ranked[1:]
        if one.chunk.chunk.chunk_id == best.chunk.chunk.chunk_id
        and one.worth >= best.worth - _FULLER
        and one.features[_NEWS] > best.features[_NEWS]
        and one.features[_CONTEXT] >= best.features[_CONTEXT]
        and (label in one.passage.text or label in one.passage.below)
    ]
    first = max(fuller, key=lambda one: (one.features[_CONTEXT], one.worth), default=best)
    return [first, *(one for one in ranked if one is not first)]


def _shortest(ranked: Sequence[Scored]) -> Scored:
    """The best passage, or the best part of it that is as good but for a little: one line when one line
    answers. A part of another kind is no answer, and neither is one that only repeats the question.
    """
    best = ranked[0]
    told = min(_SAID, best.features[_NEWS])
    parts = [
        one
        for one in ranked[1:]
        if one.worth >= best.worth - PART
        and (one.features[_NEWS] >= told or one.features[_KINDS[0]] >= _OF_KIND)
        and _kind(one) >= _kind(best)
        and (one.passage.first == best.passage.first or one.features[_KINDS[0]] >= _OF_KIND)
        and one.chunk.chunk.chunk_id == best.chunk.chunk.chunk_id
        and one.passage.text in best.passage.text
    ]
    return max(parts, key=lambda one: one.worth, default=best)


def _whole(best: Scored, ranked: Sequence[Scored]) -> Scored:
    """The passage, or where it only announces something, the one that holds both."""
    text = best.passage.text
    if best.passage.shape is Shape.LIST and (announces(text) or breaks_off(text)):
        return next((one for one in ranked if _ends_in(best, one)), best)
    if best.passage.shape in (Shape.LIST, Shape.CODE) or not (leads(text) or breaks_off(text)):
        return best
    longer = (
        one
        for one in ranked
        if one.passage.shape in (Shape.LIST, Shape.CODE)
        and one.chunk.chunk.chunk_id == best.chunk.chunk.chunk_id
        and one.passage.text.startswith(best.passage.text)
    )
    return next(longer, best)


def _ends_in(one: Scored, code: Scored) -> bool:
    """True for the code that the last item of a list announces."""
    same = code.chunk.chunk.chunk_id == one.chunk.chunk.chunk_id
    return same and code.passage.shape is Shape.CODE and code.passage.first == one.passage.last


def _says_all(one: Scored) -> bool:
    """True for a passage that meets the question and is the kind of answer it asks for."""
    kind = max(one.features[at] for at in _KINDS)
    return kind >= _OF_KIND and one.features[_CONTEXT] >= _MET


def _restated(one: Scored, chosen: Sequence[Scored]) -> int | None:
    """The place of a chosen passage of which this one says all and more, being worth nearly as much."""
    for place, other in enumerate(chosen):
        if place and other.passage.text in one.passage.text and one.worth >= other.worth - PART:
            return place
        held = other.features[_NEWS] < _SAID and len(one.terms & other.terms) >= _HELD * len(other.terms)
        more = len(one.terms) >= len(other.terms) + _MORE
        if held and more and one.worth >= other.worth - PART and not _overlap(one, other):
            return place
    return None


def _adds(one: Scored, chosen: Sequence[Scored]) -> bool:
    best = chosen[0]
    if one.chunk.path != best.chunk.path and one.features[_CONTEXT] < _ABOUT * best.features[_CONTEXT]:
        return False
    return not any(_overlap(one, other) or _repeats(one, other) for other in chosen)


def _repeats(one: Scored, other: Scored) -> bool:
    """True when both say the same: nearly the same words, and no other number."""
    numbers, others = (frozenset(_NUMBER.findall(each.passage.text)) for each in (one, other))
    return _alike(one.terms, other.terms) and not (numbers and others and numbers.isdisjoint(others))


def _overlap(one: Scored, other: Scored) -> bool:
    """True when one holds the other, or shares a quoted sentence with it."""
    if one.chunk.chunk.chunk_id != other.chunk.chunk.chunk_id:
        return False
    apart = one.passage.last < other.passage.first or other.passage.last < one.passage.first
    if apart:
        return False
    return (
        one.passage.text in other.passage.text
        or other.passage.text in one.passage.text
        or (one.passage.first == other.passage.first and one.passage.text[:40] == other.passage.text[:40])
    )


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return True
    return len(one & other) / min(len(one), len(other)) >= _SAME


def interleaved(lists: Sequence[Sequence[Scored]]) -> list[Scored]:
    """The first of each list, then the second of each, every passage once: no part starves another."""
    found: dict[tuple[ChunkId, str], Scored] = {}
    for row in zip_longest(*lists):
        for one in row:
            if one is not None:
                found.setdefault((one.chunk.chunk.chunk_id, one.passage.text), one)
    return list(found.values())


def in_order(passages: Sequence[Scored], chunks: Sequence[StoredChunk]) -> list[StoredChunk]:
    """The chunks as evidence: by the order of their first passage, then those that no passage is of."""
    order = {c.chunk.chunk_id: c for c in (*(one.chunk for one in passages), *chunks)}
    return list(order.values())
