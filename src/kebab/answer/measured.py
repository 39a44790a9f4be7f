"""What is measured of each passage: a number between 0 and 1 for each feature."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kebab.answer.kinds import Kind, definition, fits, kind_of, named, wanted
from kebab.answer.meeting import Meter, WordSpace, meter, words_of
from kebab.answer.question import Keyword, Question
from kebab.answer.shapes import Passage, Shape, announces
from kebab.answer.shown import heading_name
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
class Read:
    """A passage as it is measured: what is shown of it, its terms and its words."""

    passage: Passage
    chunk: StoredChunk
    place: int
    shown: str
    terms: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What is measured once for all passages of a question."""

    question: Question
    weighed: Mapping[Keyword, float]
    kind: Kind
    private: re.Pattern[str] | None
    """What must be told, where one private thing is asked for."""
    measure: Meter
    above: Mapping[str, _Above]
    titles: Mapping[str, NDArray[np.float64]]
    """How far each word of the question is met above each chunk."""


@dataclass(frozen=True, slots=True)
class Measurer:
    """Measures the passages of one question together: what they say is embedded and compared at once."""

    analyzer: Analyzer
    space: WordSpace

    def measured(
        self,
        question: Question,
        weighed: Mapping[Keyword, float],
        found: Retrieval,
        chunks: Sequence[StoredChunk],
        read: Sequence[Read],
    ) -> list[tuple[float, ...]]:
        """The features of each passage, in the order of ``FEATURES``; ``chunks`` are those of the hits."""
        around = [words_of(one.passage.around) for one in read]
        below = [words_of(one.passage.below) for one in read]
        asked = self._asked(question, weighed, read, [*around, *below])
        cosines = self._cosines(question, read)
        called = named(question.text, [one.shown for one in read])
        places = self._places(found, chunks, read)
        return [
            (
                *self._meeting(asked, one, near, label),
                *cosine,
                asked.measure.share(_titled(asked, one, label)),
                *_fitting(asked, one, label),
                *_said(asked, one),
                name,
                _news(one, asked.measure),
                *_form(one, asked.kind),
                *place,
            )
            for one, near, label, cosine, name, place in zip(
                read, around, below, cosines, called, places, strict=True
            )
        ]

    def _asked(
        self,
        question: Question,
        weighed: Mapping[Keyword, float],
        read: Sequence[Read],
        beside: Sequence[frozenset[str]],
    ) -> _Asked:
        chunks = {one.chunk.chunk.chunk_id: one.chunk for one in read}
        above: dict[str, _Above] = {key: _Above(self.analyzer, chunk) for key, chunk in chunks.items()}
        words = [*(one.words for one in read), *(head.words for head in above.values()), *beside]
        measure = meter(weighed, words, self.space)
        return _Asked(
            question=question,
            weighed=weighed,
            kind=kind_of(question.text),
            private=wanted(question.text),
            measure=measure,
            above=above,
            titles={chunk: measure.met(head.terms, head.words) for chunk, head in above.items()},
        )

    def _meeting(
        self, asked: _Asked, one: Read, near: frozenset[str], label: frozenset[str]
    ) -> tuple[float, float, float, float, float]:
        """How much of the question is met by the passage, with what stands above it, and around it."""
        import numpy as np

        measure = asked.measure
        met = measure.met(one.terms, one.words)
        in_context = np.maximum(met, _titled(asked, one, label))
        wide = np.maximum(in_context, measure.met(self._around(one.passage), near))
        shares = (measure.share(met), measure.share(in_context), measure.share(wide))
        return (*shares, _rarest(measure, met), _exact(asked.weighed, one.shown))

    def _around(self, passage: Passage) -> frozenset[str]:
        """The terms of what stands around a passage; where a model compares words, those are enough."""
        return frozenset(self.analyzer.terms(passage.around)) if self.space.embedder is None else frozenset()

    def _cosines(self, question: Question, read: Sequence[Read]) -> list[tuple[float, float]]:
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

    def _places(
        self, found: Retrieval, chunks: Sequence[StoredChunk], read: Sequence[Read]
    ) -> list[tuple[float, float, float, float]]:
        """Of each passage: how early its chunk was found, how its document stands, its share in each leg."""
        by_words, by_meaning = (_leg_scores(found, leg) for leg in (Leg.LEXICAL, Leg.VECTOR))
        standing = _standing(chunks[:READ])
        names = [str(chunks[one.place].chunk.chunk_id) for one in read]
        return [
            (
                1.0 / (1.0 + 0.5 * one.place),
                standing.get(one.chunk.path, 0.0),
                by_words.get(name, 0.0),
                by_meaning.get(name, 0.0),
            )
            for one, name in zip(read, names, strict=True)
        ]


class _Above:
    """What stands above a chunk: the title of its document and its headings."""

    def __init__(self, analyzer: Analyzer, chunk: StoredChunk) -> None:
        text = words_above(chunk)
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


def words_above(chunk: StoredChunk) -> str:
    """The same with the tags of the note: what it is about, in the words of who wrote it."""
    return " ".join((title_of(chunk), *(_JOINED.sub(" ", tag) for tag in chunk.tags)))


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


def _defines(kind: Kind, one: Read, measure: Meter, head: _Above) -> float:
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


def _opens(kind: Kind, one: Read, measure: Meter, head: _Above) -> float:
    """For a definition: the passage opens the page or the section that is called by the word."""
    if kind is not Kind.DEFINITION:
        return 0.0
    later = 1.0 if one.chunk.chunk.ordinal <= 1 or one.chunk.chunk.heading_path else 0.6
    return _names(measure, head.name) * later / (1.0 + 0.3 * one.passage.place)


def _field(one: Read, measure: Meter, head: _Above, question: Question) -> float:
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


def _news(one: Read, measure: Meter) -> float:
    """How much the passage says besides the question's own words; a handful of words is enough."""
    return min(1.0, measure.others(one.words) / _ENOUGH)


def _titled(asked: _Asked, one: Read, label: frozenset[str]) -> NDArray[np.float64]:
    """How far each word of the question is met above the passage: by titles, headings and its own label."""
    import numpy as np

    titled = asked.titles[one.chunk.chunk.chunk_id]
    if not label:
        return titled
    both: NDArray[np.float64] = np.maximum(titled, asked.measure.met(frozenset(), label))
    return both


def _fitting(asked: _Asked, one: Read, label: frozenset[str]) -> list[float]:
    """How well the passage looks like the kind of answer that is asked for, at the place of that kind."""
    fitting = [0.0] * 5
    if asked.kind in _GROUPS:
        # A list that only its heading announces is what was asked for as far as the heading says so.
        above = 1.0 if one.passage.announced else asked.measure.share(_titled(asked, one, label))
        fit = fits(asked.kind, one.passage.shape, one.shown, asked.question.text)
        fitting[_GROUPS[asked.kind]] = above * fit
    if asked.private is not None:
        fitting[0] = float(bool(asked.private.search(one.passage.text)))
    return fitting


def _said(asked: _Asked, one: Read) -> tuple[float, float, float]:
    """How far the passage defines what is asked for, opens the page about it, is the field of that name."""
    head = asked.above[one.chunk.chunk.chunk_id]
    return (
        _defines(asked.kind, one, asked.measure, head),
        _opens(asked.kind, one, asked.measure, head),
        _field(one, asked.measure, head, asked.question),
    )


def _form(one: Read, kind: Kind) -> tuple[float, float, float, float]:
    """How good the passage is to read: short, complete in itself, not hanging on what is before, no code."""
    text, shape = one.shown, one.passage.shape
    unfinished = announces(text) and shape not in (Shape.LIST, Shape.CODE)
    return (
        1.0 - min(1.0, len(text) / 400),
        0.0 if unfinished or pattern("points").search(text) else 1.0,
        0.0 if pattern("dangles").match(text) else 1.0,
        1.0 if kind in _TYPED or shape is not Shape.CODE else 0.0,
    )


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
