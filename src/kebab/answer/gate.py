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

from kebab.answer.question import Keyword, Question
from kebab.answer.sentences import sentences
from kebab.domain.answers import GATE_FEATURES, GateFeatures, GateReport
from kebab.domain.chunks import StoredChunk, searchable_text
from kebab.domain.hits import Leg, Retrieval
from kebab.ports import Analyzer, LexicalIndex

GATE_VERSION = "gate-v1"
LOOKED_AT = 5
"""How many of the best chunks are read."""
WINDOW = 3
"""Sentences that count as standing together."""
NEUTRAL = {"lexical": 0.3, "semantic": 0.3}
"""Means over the calibration questions."""
_BM25_K1 = 1.2
_TAIL_FROM = 10
_TAIL_LEAST = 10


@dataclass(frozen=True, slots=True)
class GateWeights:
    """The fitted logistic function: P(an answer is there) = 1 / (1 + exp(-(bias + Σ weight × feature)))."""

    bias: float
    coverage: float
    specific: float
    closeness: float
    lexical: float
    semantic: float

    def probability(self, features: GateFeatures) -> float:
        values = {name: getattr(features, name) for name in GATE_FEATURES}
        # A leg that took no part speaks neither for nor against: it counts as the boundary case does.
        values = {name: NEUTRAL[name] if value is None else value for name, value in values.items()}
        total = self.bias + sum(getattr(self, name) * value for name, value in values.items())
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, total))))


@dataclass(frozen=True, slots=True)
class Gate:
    """Judges what a search found for a question."""

    analyzer: Analyzer
    lexical: LexicalIndex
    weights: GateWeights
    threshold: float

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
            semantic=semantic_margin(_raw_scores(found, Leg.VECTOR)),
        )
        confidence = self.weights.probability(features)
        missing = tuple(k.text for k in question.keywords if not any(k.met_by(terms) for terms in texts))
        return GateReport(confidence >= self.threshold, confidence, self.threshold, features, missing)

    def weigh(self, question: Question) -> dict[Keyword, float]:
        """Each keyword with its idf; the rarest of its terms decides."""
        terms = [term for keyword in question.keywords for term in keyword.terms]
        idf = self._idf(terms)
        return {keyword: max(idf[term] for term in keyword.terms) for keyword in question.keywords}

    def _idf(self, terms: Sequence[str]) -> dict[str, float]:
        total = self.lexical.count()
        frequencies = self.lexical.document_frequencies(list(dict.fromkeys(terms)))
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

    def _lexical(self, question: Question, found: Retrieval) -> float | None:
        scores = _raw_scores(found, Leg.LEXICAL)
        if not scores:
            return None
        best = max(scores)
        idf = self._idf(self.analyzer.query_terms(question.text))
        # What BM25 tends to when a text repeats every term of the question: Σ idf · (k1 + 1).
        ceiling = sum(idf.values()) * (_BM25_K1 + 1)
        return min(1.0, best / ceiling) if ceiling > 0 else 0.0


def coverage(weighed: Mapping[Keyword, float], terms: frozenset[str]) -> float:
    """The share of the keywords' weight that these terms meet; 0 for a question without keywords."""
    total = sum(weighed.values())
    return sum(weight * key.met_by(terms) for key, weight in weighed.items()) / total if total > 0 else 0.0


def semantic_margin(cosines: Sequence[float]) -> float | None:
    """How far the best cosine stands out of its background, in standard deviations / 10, within 0 and 1.

    None where there are too few candidates to know the background.

    The background are the candidates from the eleventh on: a model that finds everything alike has a high
    cosine for anything, and its raw value says nothing.
    """
    ordered = sorted(cosines, reverse=True)
    tail = ordered[_TAIL_FROM:]
    if len(tail) < _TAIL_LEAST:
        return None
    mean = sum(tail) / len(tail)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in tail) / len(tail))
    return max(0.0, min(1.0, (ordered[0] - mean) / (10 * deviation))) if deviation > 0 else 0.0


def _rarest(weighed: Mapping[Keyword, float], count: int = 2) -> dict[Keyword, float]:
    return dict(sorted(weighed.items(), key=lambda item: -item[1])[:count])


def _raw_scores(found: Retrieval, leg: Leg) -> list[float]:
    """The leg's raw scores: of all its candidates where the search kept them, else of the hits."""
    if traced := found.trace.legs.get(leg.value):
        return [candidate.raw_score for candidate in traced]
    return [e.raw_score for hit in found.hits for e in hit.evidence if e.leg is leg]
