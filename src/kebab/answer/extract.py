"""Answering without a model: the sentences of the evidence that say most about the question, verbatim."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kebab.answer.gate import Gate, coverage
from kebab.answer.prompt import inert
from kebab.answer.question import Keyword, Question, read_question
from kebab.answer.sentences import Sentence, sentences, with_lists
from kebab.answer.split import split
from kebab.domain.answers import Evidence
from kebab.ports import Analyzer, Embedder, EmbeddingKind

MOST_SENTENCES = 4
WORDS, MEANING, PLACE = 0.4, 0.4, 0.2
"""What a sentence's words, its meaning and the place of its chunk count."""
_READ = 8
"""Evidence items looked into; the rest is there for models."""
_SHORTEST, _LONGEST = 12, 640
_SAME = 0.8
"""Sentences that share this much of their terms say the same."""
_LEAST_NEWS = 3
"""Words of its own that a sentence needs to be worth quoting; a long one surely has them."""
_SURELY_NEW = 100
_FLOOR = 0.55
"""A sentence worth less than this share of the best is left out."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence with its terms and what it is worth."""

    sentence: Sentence
    item: Evidence
    own: frozenset[str]
    worth: float


@dataclass(frozen=True, slots=True)
class ExtractiveWriter:
    """Writes an answer of at most four sentences, each one line with its marker, in the source's language.

    Needs no model and gives the same answer every time. Where an embedder is there, it also finds the
    sentence that means the same in other words or in the other language.
    """

    gate: Gate
    analyzer: Analyzer
    embedder: Embedder | None = None

    name: ClassVar[str] = "extractive"
    prompt_version: ClassVar[str] = "extractive-v1"
    verbatim: ClassVar[bool] = True

    def budget(self, question: Question, most: int) -> int:
        return most

    def write(self, question: Question, evidence: Sequence[Evidence]) -> Generator[str, None, None]:
        for chosen in self.choose(question, evidence):
            yield f"{inert(chosen.sentence.text)} [#{chosen.item.marker}]\n"

    def choose(self, question: Question, evidence: Sequence[Evidence]) -> list[Candidate]:
        """The sentences of the answer, best first; each part of a compound question gets its share."""
        parts = split(question, self.analyzer) or (question,)
        share = max(1, MOST_SENTENCES // len(parts))
        chosen: dict[tuple[int, str], Candidate] = {}
        for part in parts:
            for candidate in self._best(part, evidence, most=share):
                chosen.setdefault((candidate.item.marker, candidate.sentence.text), candidate)
        return list(chosen.values())

    def _best(self, question: Question, evidence: Sequence[Evidence], *, most: int) -> list[Candidate]:
        weighed = self.gate.weigh(question)
        candidates = self._candidates(question, weighed, evidence[:_READ])
        chosen: list[Candidate] = []
        while len(chosen) < most and (best := _next(candidates, chosen, weighed)):
            chosen.append(best)
        return chosen

    def _candidates(
        self, question: Question, weighed: Mapping[Keyword, float], evidence: Sequence[Evidence]
    ) -> list[Candidate]:
        found = [
            (sentence, item)
            for item in evidence
            for sentence in with_lists(sentences(item.text))
            if _SHORTEST <= len(sentence.text) <= _LONGEST and "</" not in sentence.text
        ]
        meant = self._similarities(question, [sentence.text for sentence, _ in found])
        standing = _standing(evidence)
        return [
            self._candidate(sentence, item, weighed, similarity, standing[item.doc_path])
            for (sentence, item), similarity in zip(found, meant, strict=True)
        ]

    def _candidate(
        self,
        sentence: Sentence,
        item: Evidence,
        weighed: Mapping[Keyword, float],
        similarity: float,
        standing: float,
    ) -> Candidate:
        own = frozenset(self.analyzer.terms(sentence.text))
        headings = frozenset(self.analyzer.terms(" ".join((item.title, *item.heading_path))))
        # Words of the heading count half: the sentence is about them without saying them. A list is what its
        # heading promises.
        said = 0.0 if sentence.holds_list else 0.5
        words = said * coverage(weighed, own) + (1 - said) * coverage(weighed, own | headings)
        place = 0.5 * _place(item) + 0.5 * standing
        worth = WORDS * words + MEANING * max(0.0, similarity) + PLACE * place
        if self._says_nothing_new(sentence, weighed):
            worth *= 0.6
        return Candidate(sentence, item, own, worth)

    def _says_nothing_new(self, sentence: Sentence, weighed: Mapping[Keyword, float]) -> bool:
        """ "First, let's look at the ownership rules": the question's words and hardly any other."""
        if len(sentence.text) > _SURELY_NEW:
            return False
        asked = {term for keyword in weighed for term in keyword.terms}
        said = read_question(sentence.text, self.analyzer).keywords
        return sum(not asked.issuperset(keyword.terms) for keyword in said) < _LEAST_NEWS

    def _similarities(self, question: Question, texts: Sequence[str]) -> list[float]:
        if self.embedder is None or not texts:
            return [0.0] * len(texts)
        asked = self.embedder.embed([question.text], EmbeddingKind.QUERY)[0]
        return [float(value) for value in self.embedder.embed(texts, EmbeddingKind.DOCUMENT) @ asked]


def _place(item: Evidence) -> float:
    return 1.0 / (1.0 + 0.5 * (item.marker - 1))


def _standing(evidence: Sequence[Evidence]) -> dict[str, float]:
    """How much of the evidence each document holds, by place, the best 1: several sections beat one."""
    total: dict[str, float] = {}
    for item in evidence:
        total[item.doc_path] = total.get(item.doc_path, 0.0) + _place(item)
    best = max(total.values(), default=1.0)
    return {path: value / best for path, value in total.items()}


def _next(
    candidates: Sequence[Candidate], chosen: Sequence[Candidate], weighed: Mapping[Keyword, float]
) -> Candidate | None:
    """The best sentence that repeats none of the chosen; later ones must add words or be nearly as good."""
    if not chosen:
        return max(candidates, key=_worth, default=None)
    said = frozenset[str]().union(*(candidate.own for candidate in chosen))
    floor = _FLOOR * max(candidate.worth for candidate in chosen)
    fresh = [c for c in candidates if not any(_alike(c.own, other.own) for other in chosen)]
    gains = [(c, c.worth + 0.3 * (coverage(weighed, said | c.own) - coverage(weighed, said))) for c in fresh]
    best, gain = max(gains, key=lambda pair: (pair[1], _worth(pair[0])), default=(None, 0.0))
    return best if gain >= floor else None


def _worth(candidate: Candidate) -> tuple[float, int, int]:
    return candidate.worth, -candidate.item.marker, -candidate.sentence.first


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return True
    return len(one & other) / min(len(one), len(other)) >= _SAME
