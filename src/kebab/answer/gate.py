"""May this question be answered from what was found? Decided on evidence, never on fused rank.

A fused rank says who came first, not whether anyone arrived: the top hit of reciprocal rank fusion scores at
least 0.5 by construction. The gate looks at what the legs know instead, turns it into five features that
mean the same in any corpus, and weighs them with a logistic function fitted on questions with and without an
answer (docs/decisions/0004-answer-gate.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kebab.answer.background import Background
from kebab.answer.question import Keyword, Question
from kebab.answer.sentences import sentences
from kebab.domain.answers import GATE_FEATURES, GateFeatures, GateReport
from kebab.domain.chunks import StoredChunk, searchable_text
from kebab.domain.hits import Leg, Retrieval
from kebab.errors import EngineError
from kebab.ports import Analyzer, LexicalIndex

GATE_VERSION = "gate-v1"
LOOKED_AT = 5
"""How many of the best chunks are read."""
COVERED = 0.8
"""Share of a part's words, by idf, that one chunk must hold for the part to count as found."""
WINDOW = 3
"""Sentences that count as standing together."""
NEUTRAL = {"lexical": 0.385, "semantic": 0.245}
"""Means over the calibration questions."""
_BM25_K1 = 1.2


@dataclass(frozen=True, slots=True)
class GateWeights:
    """The fitted logistic function: P(an answer is there) = 1 / (1 + exp(-(bias + Σ weight × feature)))."""

    bias: float
    coverage: float
    specific: float
    closeness: float
    lexical: float
    semantic: float

    foreign_bias: float
    foreign_semantic: float
    """For evidence in another language than the question: there meaning alone may carry it."""

    def probability(self, features: GateFeatures, *, foreign: bool = False) -> float:
        values = {name: getattr(features, name) for name in GATE_FEATURES}
        # A leg that took no part speaks neither for nor against: it counts as the boundary case does.
        values = {name: NEUTRAL[name] if value is None else value for name, value in values.items()}
        total = self.bias + sum(getattr(self, name) * value for name, value in values.items())
        if foreign and features.semantic is not None:
            total = max(total, self.foreign_bias + self.foreign_semantic * features.semantic)
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, total))))


@dataclass(frozen=True, slots=True)
class Gate:
    """Judges what a search found for a question."""

    analyzer: Analyzer
    lexical: LexicalIndex
    weights: GateWeights
    threshold: float
    background: Background | None
    """None where nothing can be found by meaning."""

    def judge(self, question: Question, found: Retrieval, chunks: Sequence[StoredChunk]) -> GateReport:
        """``chunks`` are those of the hits, in their order. Nothing found is never enough."""
        if not chunks:
            return GateReport(False, 0.0, self.threshold, None, tuple(k.text for k in question.keywords))
        weighed = self.weigh(question)
        texts = [frozenset(self.analyzer.terms(searchable_text(chunk))) for chunk in chunks[:LOOKED_AT]]
        features = GateFeatures(
            coverage=max(coverage(weighed, terms) for terms in texts),
            specific=max(coverage(_rarest(weighed), terms) for terms in texts),
            closeness=max(self._closeness(weighed, chunk) for chunk in chunks[:LOOKED_AT]),
            lexical=self._lexical(question, found),
            semantic=self._semantic(found),
        )
        confidence = self.weights.probability(features, foreign=_foreign(question, chunks))
        missing = tuple(k.text for k in question.keywords if not any(k.met_by(terms) for terms in texts))
        return GateReport(confidence >= self.threshold, confidence, self.threshold, features, missing)

    def covers(self, question: Question, chunks: Sequence[StoredChunk]) -> bool:
        """Whether one of the best chunks holds most of what a question, or a part of one, is about."""
        weighed = self.weigh(question)
        texts = (frozenset(self.analyzer.terms(searchable_text(chunk))) for chunk in chunks[:LOOKED_AT])
        return any(coverage(weighed, terms) >= COVERED for terms in texts)

    def weigh(self, question: Question) -> dict[Keyword, float]:
        """Each keyword with its idf; the rarest of its terms decides."""
        terms = [term for keyword in question.keywords for term in keyword.terms]
        idf = self._idf(terms)
        return {keyword: max(idf[term] for term in keyword.terms) for keyword in question.keywords}

    def _idf(self, terms: Sequence[str]) -> dict[str, float]:
        """Rarity of each term as BM25 counts it; equal where the words index cannot be used, since the search
        went on without it too.
        """
        distinct = list(dict.fromkeys(terms))
        try:
            total, frequencies = self.lexical.count(), self.lexical.document_frequencies(distinct)
        except EngineError:
            return dict.fromkeys(distinct, 1.0)
        return {
            term: math.log(1 + (max(total, df) - df + 0.5) / (df + 0.5)) for term, df in frequencies.items()
        }

    def _closeness(self, weighed: Mapping[Keyword, float], chunk: StoredChunk) -> float:
        parts = [frozenset(self.analyzer.terms(s.text)) for s in sentences(chunk.chunk.text)]
        if not parts:
            return 0.0
        # The heading belongs to every window: a section rarely repeats it.
        heading = frozenset(self.analyzer.terms(" ".join((chunk.title, *chunk.chunk.heading_path))))
        starts = range(max(1, len(parts) - WINDOW + 1))
        return max(coverage(weighed, heading.union(*parts[i : i + WINDOW])) for i in starts)

    def _semantic(self, found: Retrieval) -> float | None:
        cosines = _raw_scores(found, Leg.VECTOR)
        background = self.background.cosine() if self.background and cosines else None
        return above_background(max(cosines), background) if background is not None else None

    def _lexical(self, question: Question, found: Retrieval) -> float | None:
        scores = _raw_scores(found, Leg.LEXICAL)
        if not scores:
            return None
        best = max(scores)
        weights = self.analyzer.query_weights(question.text)
        idf = self._idf(list(weights))
        # What BM25 tends to when a text repeats every term of the question: Σ weight · idf · (k1 + 1).
        ceiling = sum(weights[term] * rarity for term, rarity in idf.items()) * (_BM25_K1 + 1)
        return min(1.0, best / ceiling) if ceiling > 0 else 0.0


def _foreign(question: Question, chunks: Sequence[StoredChunk]) -> bool:
    """True when most of the best chunks are in another language than the question."""
    langs = [chunk.lang for chunk in chunks[:LOOKED_AT]]
    return sum(lang != question.lang for lang in langs) * 2 > len(langs)


def coverage(weighed: Mapping[Keyword, float], terms: frozenset[str]) -> float:
    """The share of the keywords' weight that these terms meet; 0 for a question without keywords."""
    total = sum(weighed.values())
    return sum(weight * key.met_by(terms) for key, weight in weighed.items()) / total if total > 0 else 0.0


def above_background(cosine: float, background: float) -> float:
    """How far a cosine has come from what unrelated texts reach (0) to being the same (1)."""
    return max(0.0, min(1.0, (cosine - background) / (1 - background))) if background < 1 else 0.0


def _rarest(weighed: Mapping[Keyword, float], count: int = 2) -> dict[Keyword, float]:
    return dict(sorted(weighed.items(), key=lambda item: -item[1])[:count])


def _raw_scores(found: Retrieval, leg: Leg) -> list[float]:
    """The leg's raw scores: of all its candidates where the search kept them, else of the hits."""
    if traced := found.trace.legs.get(leg.value):
        return [candidate.score for candidate in traced]
    return [e.raw_score for hit in found.hits for e in hit.evidence if e.leg is leg]
