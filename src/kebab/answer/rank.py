"""Which passage answers a question: a small learned ranking over all passages that were found.

Every feature lies between 0 and 1, and more of it never speaks against a passage: the weights are fitted with
that constraint (training/answers). ``weights.json`` beside this module holds them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kebab.answer.admitted import may_answer, says_something
from kebab.answer.kinds import Kind, definition, fits, kind_of, named, wanted
from kebab.answer.meeting import Meter, WordSpace, meter, words_of
from kebab.answer.passages import passages
from kebab.answer.question import Keyword, Question
from kebab.answer.shapes import Passage, Shape, announces
from kebab.answer.shown import heading_name, show
from kebab.answer.words import pattern
from kebab.domain.chunks import StoredChunk
from kebab.domain.hits import Leg, Retrieval
from kebab.domain.readable import readable
from kebab.ports import Analyzer, EmbeddingKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

READ = 10
"""Chunks looked into."""
_IDENTIFIER = re.compile(r"\b[A-Za-z][A-Za-z0-9]{0,60}(?:[._][A-Za-z]\w{0,60}){1,9}", re.ASCII)
_OTHER = 0.3
"""What a field counts of something whose name is another than the one asked for."""
_BELOW = 3
"""Passages below a heading among which its description stands."""
_DESCRIBED = 0.9
_ENOUGH = 5
"""Words beyond the question's own that make a passage say something."""

FEATURES = (
    "own",
    "context",
    "near",
    "rarest",
    "exact",
    "cosine",
    "cosine_context",
    "about",
    "number",
    "place",
    "steps",
    "listed",
    "reason",
    "defines",
    "opens",
    "field",
    "names",
    "news",
    "short",
    "complete",
    "fresh",
    "readable",
    "rank",
    "standing",
    "words_leg",
    "meaning_leg",
)
_GROUPS = {
    Kind.NUMBER: 0,
    Kind.WHEN: 0,
    Kind.WHERE: 1,
    Kind.WHO: 1,
    Kind.HOW: 2,
    Kind.LIST: 3,
    Kind.WHY: 4,
    Kind.YES_NO: 4,
}
_TYPED = (Kind.HOW, Kind.WHERE)
"""Kinds that lines of code may answer."""
_JOINED = re.compile(r"[-_]+")


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage with the chunk it stands in, what was measured of it, and what it is worth."""

    passage: Passage
    chunk: StoredChunk
    place: int
    """The place of the chunk among those found, from 0."""
    features: tuple[float, ...]
    worth: float
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Read:
    passage: Passage
    chunk: StoredChunk
    place: int
    shown: str
    terms: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True)
class Ranker:
    """Ranks the passages of what a search found. The same input gives the same order."""

    analyzer: Analyzer
    space: WordSpace
    weights: Mapping[str, float]

    def rank(
        self,
        question: Question,
        weighed: Mapping[Keyword, float],
        found: Retrieval,
        chunks: Sequence[StoredChunk],
        more: Sequence[tuple[int, StoredChunk]] = (),
    ) -> list[Scored]:
        """Every passage worth reading, best first.

        ``chunks`` are those of the hits, in their order; ``more`` are others of the same documents, each with
        the place of the hit that led to it.
        """
        kind = kind_of(question.text)
        read = [
            one
            for place, chunk in [*enumerate(chunks[:READ]), *more]
            for one in self._read(chunk, place, kind)
        ]
        if not read:
            return []
        measured = self._measure(question, weighed, found, chunks, read)
        scored = [
            Scored(one.passage, one.chunk, one.place, values, self._worth(values), one.terms)
            for one, values in zip(read, measured, strict=True)
        ]
        return sorted(scored, key=lambda one: (-one.worth, one.place, one.passage.place))

    def _worth(self, values: Sequence[float]) -> float:
        return sum(self.weights[name] * value for name, value in zip(FEATURES, values, strict=True))

    def _read(self, chunk: StoredChunk, place: int, kind: Kind) -> list[_Read]:
        found = [
            (p, shown)
            for p in passages(chunk.chunk.text)
            if says_something(shown := show(p)) and may_answer(p, kind)
        ]
        return [
            _Read(p, chunk, place, shown, frozenset(self.analyzer.terms(shown)), words_of(shown))
            for p, shown in found
        ]

    def _measure(
        self,
        question: Question,
        weighed: Mapping[Keyword, float],
        found: Retrieval,
        chunks: Sequence[StoredChunk],
        read: Sequence[_Read],
    ) -> list[tuple[float, ...]]:
        import numpy as np

        kind, private = kind_of(question.text), wanted(question.text)
        above: dict[str, _Above] = {}
        for one in read:
            if one.chunk.chunk.chunk_id not in above:
                above[one.chunk.chunk.chunk_id] = _Above(self.analyzer, one.chunk)
        around = [words_of(one.passage.around) for one in read]
        below = [words_of(one.passage.below) for one in read]
        measure = meter(
            weighed,
            [*(one.words for one in read), *(a.words for a in above.values()), *around, *below],
            self.space,
        )
        cosines = self._cosines(question, read)
        called = named(question.text, [one.shown for one in read])
        legs = [_leg_scores(found, leg) for leg in (Leg.LEXICAL, Leg.VECTOR)]
        standing = _standing(chunks[:READ])
        titles = {chunk: measure.met(head.terms, head.words) for chunk, head in above.items()}
        result = []
        for one, near, label, (cosine, inside), name in zip(
            read, around, below, cosines, called, strict=True
        ):
            head = above[one.chunk.chunk.chunk_id]
            titled = titles[one.chunk.chunk.chunk_id]
            if label:
                titled = np.maximum(titled, measure.met(frozenset(), label))
            met = measure.met(one.terms, one.words)
            in_context = np.maximum(met, titled)
            wide = np.maximum(in_context, measure.met(self._around(one.passage), near))
            text, shape = one.shown, one.passage.shape
            fitting = [0.0] * 5
            if kind in _GROUPS:
                # A list that only its heading announces is what was asked for as far as the heading says so.
                named_above = 1.0 if one.passage.announced else measure.share(titled)
                fit = fits(kind, one.passage.shape, one.shown, question.text)
                fitting[_GROUPS[kind]] = named_above * fit
            if private is not None:
                fitting[0] = float(bool(private.search(one.passage.text)))
            result.append(
                (
                    measure.share(met),
                    measure.share(in_context),
                    measure.share(wide),
                    _rarest(measure, met),
                    _exact(weighed, text),
                    cosine,
                    inside,
                    measure.share(titled),
                    *fitting,
                    _defines(kind, one, measure, head),
                    _opens(kind, one, measure, head),
                    _field(one, measure, head, question),
                    name,
                    _news(one, measure),
                    1.0 - min(1.0, len(text) / 400),
                    0.0
                    if pattern("points").search(text)
                    or (announces(text) and shape not in (Shape.LIST, Shape.CODE))
                    else 1.0,
                    0.0 if pattern("dangles").match(text) else 1.0,
                    1.0 if kind in _TYPED or shape is not Shape.CODE else 0.0,
                    1.0 / (1.0 + 0.5 * one.place),
                    standing.get(one.chunk.path, 0.0),
                    legs[0].get(chunks[one.place].chunk.chunk_id, 0.0),
                    legs[1].get(chunks[one.place].chunk.chunk_id, 0.0),
                )
            )
        return result

    def _around(self, passage: Passage) -> frozenset[str]:
        """The terms of what stands around a passage; where a model compares words, those are enough."""
        return frozenset(self.analyzer.terms(passage.around)) if self.space.embedder is None else frozenset()

    def _cosines(self, question: Question, read: Sequence[_Read]) -> list[tuple[float, float]]:
        if self.space.embedder is None:
            return [(0.0, 0.0)] * len(read)
        asked = self.space.embedder.embed([question.text], EmbeddingKind.QUERY)[0]
        alone = self.space.embedder.embed([one.passage.text for one in read], EmbeddingKind.DOCUMENT)
        titles = list(dict.fromkeys(title_of(one.chunk) for one in read))
        heads = dict(zip(titles, self.space.embedder.embed(titles, EmbeddingKind.DOCUMENT), strict=True))
        result = []
        for row, one in zip(alone, read, strict=True):
            both = row + 0.5 * heads[title_of(one.chunk)]
            length = float(both @ both) ** 0.5 or 1.0
            result.append((max(0.0, float(row @ asked)), max(0.0, float(both @ asked) / length)))
        return result


class _Above:
    """What stands above a chunk: the title of its document and its headings."""

    def __init__(self, analyzer: Analyzer, chunk: StoredChunk) -> None:
        text = title_of(chunk)
        self.terms = frozenset(analyzer.terms(text))
        self.words = words_of(text)
        last = chunk.chunk.heading_path[-1] if chunk.chunk.heading_path else chunk.title
        self.last_words = words_of(last)
        self.name = words_of(heading_name(last), parts=False)


def title_of(chunk: StoredChunk) -> str:
    """What stands above a chunk: the names of its folder and file, the title of its document, its headings.

    Notes on one subject lie in one folder, and need not name it.
    """
    folder, _, file = chunk.path.rpartition("/")
    names = (_JOINED.sub(" ", name) for name in (folder.rpartition("/")[2], file.rpartition(".")[0]))
    return readable(" ".join(dict.fromkeys((*names, chunk.title, *chunk.chunk.heading_path))))


def _rarest(measure: Meter, met: NDArray[np.float64]) -> float:
    pairs = sorted(zip(measure.weights.values(), met.tolist(), strict=True), reverse=True)[:2]
    total = sum(weight for weight, _ in pairs)
    return sum(weight * value for weight, value in pairs) / total if total else 0.0


def _exact(weighed: Mapping[Keyword, float], text: str) -> float:
    """The share of the question's words that stand in the text letter by letter."""
    folded = text.lower()
    total = sum(weighed.values())
    held = sum(weight for keyword, weight in weighed.items() if keyword.text.lower() in folded)
    return held / total if total else 0.0


def _defines(kind: Kind, one: _Read, measure: Meter, head: _Above) -> float:
    """For a definition: how far the passage is about the word asked for, and nothing else.

    Below a heading, "Enables access logs." and "A tool that …" say of the heading what it is.
    """
    if kind is not Kind.DEFINITION:
        return 0.0
    subject, strength = definition(one.shown)
    said = strength * _names(measure, words_of(subject, parts=False))
    described = pattern("describes").match(one.shown) or (
        one.passage.place == 0 and pattern("noun_phrase").search(one.shown)
    )
    if one.passage.place > _BELOW or not described:
        return said
    return max(said, _DESCRIBED * _names(measure, head.name))


def _names(measure: Meter, words: frozenset[str]) -> float:
    """How far these words are those asked for, and no others."""
    return measure.share(measure.met(frozenset(), words)) * measure.precision(words)


def _opens(kind: Kind, one: _Read, measure: Meter, head: _Above) -> float:
    """For a definition: the passage opens the page or the section that is called by the word."""
    if kind is not Kind.DEFINITION:
        return 0.0
    later = 1.0 if one.chunk.chunk.ordinal <= 1 or one.chunk.chunk.heading_path else 0.6
    return _names(measure, head.name) * later / (1.0 + 0.3 * one.passage.place)


def _field(one: _Read, measure: Meter, head: _Above, question: Question) -> float:
    """How far a passage of the form "Type: a number" is the field asked for of what its heading names.

    `server.host` and `preview.host` are nearly the same words and two things.
    """
    label = pattern("label").match(one.shown)
    if label is None:
        return 0.0
    words = words_of(label[1])
    asked = _IDENTIFIER.findall(question.text)
    other = any(name.lower() not in (*head.name, *words) for name in asked)
    near = measure.share(measure.met(frozenset(), words | head.last_words))
    return _precise(measure, words) * near * (_OTHER if other else 1.0)


def _precise(measure: Meter, words: frozenset[str]) -> float:
    """1 when all of these words are asked for; a label with as many others is another's."""
    return max(0.0, 2 * measure.precision(words) - 1)


def _news(one: _Read, measure: Meter) -> float:
    """How much the passage says besides the question's own words; a handful of words is enough."""
    return min(1.0, measure.others(one.words) / _ENOUGH)


def _leg_scores(found: Retrieval, leg: Leg) -> dict[str, float]:
    """Each hit's score in a leg as a share of the leg's best."""
    raw = {
        hit.chunk_id: evidence.raw_score
        for hit in found.hits
        for evidence in hit.evidence
        if evidence.leg is leg and evidence.raw_score > 0
    }
    best = max(raw.values(), default=1.0)
    return {str(chunk): score / best for chunk, score in raw.items()}


def _standing(chunks: Sequence[StoredChunk]) -> dict[str, float]:
    """How much of what was found each document holds, by place, the best 1: several sections beat one."""
    total: dict[str, float] = {}
    for place, chunk in enumerate(chunks):
        total[chunk.path] = total.get(chunk.path, 0.0) + 1.0 / (1.0 + 0.5 * place)
    best = max(total.values(), default=1.0)
    return {path: value / best for path, value in total.items()}
