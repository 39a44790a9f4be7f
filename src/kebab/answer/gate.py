"""May this question be answered from what was found? Decided on evidence, never on fused rank.

A fused rank says who came first, not whether anyone arrived: the top hit of reciprocal rank fusion scores at
least 0.5 by construction. The gate looks at what the legs and the best passages know instead, turns it into
features that mean the same in any corpus, and weighs them with a logistic function fitted on questions with
and without an answer in many folders (docs/decisions/0009-answers-on-any-folder.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kebab.answer.background import Background
from kebab.answer.kinds import Kind, demanded, kind_of, wanted
from kebab.answer.measured import FEATURES
from kebab.answer.meeting import WordSpace, meter, words_of
from kebab.answer.missed import kept
from kebab.answer.question import Keyword, Question
from kebab.answer.rank import Scored
from kebab.answer.relation import told
from kebab.answer.typed import codes, held_by
from kebab.answer.words import pattern
from kebab.domain.answers import GATE_FEATURES, GateFeatures, GateReport
from kebab.domain.chunks import StoredChunk, searchable_text
from kebab.domain.hits import Leg, Retrieval
from kebab.domain.values import dataclass
from kebab.errors import EngineError
from kebab.ports import Analyzer, LexicalIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GATE_VERSION = "gate-v7"
LOOKED_AT = 5
"""How many of the best chunks and passages are read."""
COVERED = 0.8
"""Share of a part's words, by idf, that one chunk must hold for the part to count as found."""
_BM25_K1 = 1.2
_NAMED = 0.5
"""Share of a question's names, or of its words, from which something is about it."""
_FEW = 4
"""So many keywords are few: each of them is meant. More are a description, of which no page repeats all."""
_LACKING = 0.75
"""What a few keywords must reach, as a share of what a question must, when no section holds all of them."""
_IN_OTHER_WORDS = 1.25
"""How much more confidence it takes when only a search for words of like meaning found something."""
_LOST = 2.0
"""The same where even those of one of its nouns stand nowhere."""
# In a Korean question every Latin word is a name; in an English one those with a capital inside a sentence.
_NAMES = {
    "ko": re.compile(r"\d+(?:[.,]\d+)*|[A-Za-z][\w.+#-]*", re.ASCII),
    "en": re.compile(
        r"\d+(?:[.,]\d+)*|\b[A-Za-z][A-Za-z-]{0,60}[_0-9.][\w.-]{0,60}\w"
        r"|(?<=[a-z,] )[A-Z][\w.+-]{0,60}\w|\b[A-Z]{2,}\b",
        re.ASCII,
    ),
}
_LINK = re.compile(r"https?://\S+")
_AT = {name: place for place, name in enumerate(FEATURES)}
_KINDS = ("number", "place", "steps", "listed", "reason", "defines")
_ASKING = re.compile(
    r"[?？]\s*$|^(?:how|what|why|when|where|which|who|whose|whom|is|are|was|were|do|does|did|can|could|should|will"
    r"|would|has|have|may|must|explain|describe|define|tell|list|show|give|name)\b"
    r"|무엇|무슨|뭐|뭔|어떻게|어떤|어느|왜(?:\s|$)|언제|어디|누구|누가|몇|얼마|(?:나요|까요|인가|습니까|하나|려면|는가|을까|ㄹ까|이란)\s*$"
    r"|[가-힣][은는]\s*$|[가-힣][은는이가을를에도]\s.{0,80}[가-힣][나니냐]\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GateWeights:
    """The fitted logistic function: P(an answer is there) = 1 / (1 + exp(-(bias + Σ weight × feature)))."""

    bias: float
    weights: Mapping[str, float]
    means: Mapping[str, float]
    """What a feature counts as when its leg took no part: neither for nor against."""

    def probability(self, features: GateFeatures) -> float:
        total = self.bias
        for name in GATE_FEATURES:
            value = getattr(features, name)
            total += self.weights[name] * (self.means[name] if value is None else value)
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
    space: WordSpace
    keyword_threshold: float | None = None
    """For what is no question but a few words: refusing those needs more certainty. None means the same."""

    def judge(
        self,
        question: Question,
        found: Retrieval,
        chunks: Sequence[StoredChunk],
        ranked: Sequence[Scored],
        *,
        own_words: bool = True,
        widened: bool = False,
    ) -> GateReport:
        """``chunks`` are those of the hits, ``ranked`` their passages, best first.

        Nothing found is never enough. Without ``own_words`` the search was for others than the question's;
        ``widened``, for all that mean nearly the same.
        """
        if not chunks:
            threshold = self.threshold_for(question, own_words=own_words)
            return GateReport(False, 0.0, threshold, None, tuple(k.text for k in question.keywords))
        weighed = self.weigh(question)
        texts = [f"{searchable_text(one)}\n{' '.join(one.tags)}" for one in _looked_at(chunks, ranked)]
        words = [words_of(text) for text in texts]
        terms = [frozenset(self.analyzer.terms(text)) for text in texts]
        measure = meter(weighed, words, self.space)
        met = [measure.met(*pair) for pair in zip(terms, words, strict=True)]
        reached = [float(max(one[place] for one in met)) for place in range(len(weighed))]
        best = ranked[:LOOKED_AT]
        cosines = _raw_scores(found, Leg.VECTOR)
        features = GateFeatures(
            coverage=max(measure.share(one) for one in met),
            specific=_of(best[:1], "rarest"),
            closeness=_of(best[:1], "near"),
            lexical=self._lexical(question, found) if own_words else None,
            semantic=self._semantic(cosines),
            sentence=_of(best, "context"),
            stated=_of(best, "own"),
            meaning=_of(best, "cosine_context") if self.space.embedder else None,
            margin=_margin(_shown_scores(found, Leg.VECTOR)),
            agreement=_agreement(found),
            about=_of(best[:1], "about"),
            kind=_kind(question, best[:1]),
            foreign=float(_foreign(question, chunks)),
            names=_names(question, texts),
            kept=kept(question, weighed, best, self.analyzer, self.space),
            apart=_apart(ranked) if self.space.embedder else None,
        )
        named = features.names is None or features.names >= _NAMED
        missing = [k for k, value in zip(weighed, reached, strict=True) if value < 0.5]
        lacks = len(weighed) <= _FEW and not any(_holds_all(weighed, one) for one in met)
        lost = widened and any(keyword.share == 1 for keyword in missing)
        threshold = self.threshold_for(question, own_words=own_words, named=named, lacks=lacks, lost=lost)
        given = _given(question, ranked, chunks) and told(weighed, best, self.space)
        confidence = self.weights.probability(features) if given else 0.0
        return GateReport(
            confidence >= threshold, confidence, threshold, features, tuple(k.text for k in missing)
        )

    def threshold_for(
        self,
        question: Question,
        *,
        own_words: bool = True,
        named: bool = True,
        lacks: bool = False,
        lost: bool = False,
    ) -> float:
        """What the confidence must reach; the whole question may be a few keywords.

        What was found by other words than theirs must convince more, and so must keywords of which most names
        stand nowhere in what was found. So must a few keywords where every section that was found
        ``lacks`` one of them: each of them is meant. Where a noun is ``lost``, in all words for it, most
        is asked.
        """
        if lost:
            return min(1.0, self.threshold * _LOST)
        asks = self.keyword_threshold is None or not named or _ASKING.search(question.text)
        if asks:
            return self.threshold if own_words else min(1.0, self.threshold * _IN_OTHER_WORDS)
        if lacks or not own_words:
            return _LACKING * self.threshold
        return min(self.threshold, self.keyword_threshold or 0.0)

    def covers(self, question: Question, chunks: Sequence[StoredChunk]) -> bool:
        """Whether one of the best chunks holds most of what a question, or a part of one, is about."""
        weighed = self.weigh(question)
        texts = (frozenset(self.analyzer.terms(searchable_text(chunk))) for chunk in chunks[:LOOKED_AT])
        return any(coverage(weighed, terms) >= COVERED for terms in texts)

    def weigh(self, question: Question) -> dict[Keyword, float]:
        """Each keyword with its idf; its rarest term decides, of a word and its gloss the commoner."""
        terms = [term for keyword in question.keywords for term in _all_terms(keyword)]
        idf = self._idf(terms)

        def rarity(keyword: Keyword) -> float:
            own = keyword.share * max(idf[term] for term in keyword.terms)
            return min(own, rarity(keyword.gloss)) if keyword.gloss else own

        return {keyword: rarity(keyword) for keyword in question.keywords}

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

    def _semantic(self, cosines: Sequence[float]) -> float | None:
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


def _holds_all(weighed: Mapping[Keyword, float], met: NDArray[np.float64]) -> bool:
    """Whether one chunk meets every word of the question but for its verbs."""
    return all(value >= _NAMED for key, value in zip(weighed, met, strict=True) if key.share == 1)


def _looked_at(chunks: Sequence[StoredChunk], ranked: Sequence[Scored]) -> list[StoredChunk]:
    """The best chunks, and those of the best passages: a definition may stand where a page begins, which no
    hit is.
    """
    best = (*chunks[:LOOKED_AT], *(one.chunk for one in ranked[:LOOKED_AT]))
    return list({chunk.chunk.chunk_id: chunk for chunk in best}.values())


def _given(question: Question, ranked: Sequence[Scored], chunks: Sequence[StoredChunk]) -> bool:
    """False where what is asked for can be told by its form, and nothing that was found has it.

    A code is what it is, letter by letter.

    A sentence about phones is no phone number, one about employees does not say how many, and the day of one
    version is not that of another.
    """
    if (names := codes(question.text)) and not _held(names, ranked, chunks):
        return False
    kind, value = kind_of(question.text), wanted(question.text)
    if value is not None:
        about = (one.passage.text for one in ranked if one.features[_AT["near"]] >= _NAMED)
        return any(value.search(_LINK.sub(" ", text)) for text in about)
    best = ranked[:LOOKED_AT]
    if form := demanded(question.text):
        return any(form.search(_LINK.sub(" ", one.passage.text)) for one in best)
    if kind is Kind.NUMBER and _ASKING.search(question.text):
        return _of(best, "number") > 0
    if kind is Kind.WHEN and pattern("happened").search(question.text):
        return any(pattern("given.date").search(one.passage.text) for one in best)
    return True


def _held(names: Sequence[str], ranked: Sequence[Scored], chunks: Sequence[StoredChunk]) -> bool:
    """Whether one of these names stands in what was found."""
    found = {one.chunk.chunk.chunk_id: one.chunk for one in ranked}
    found.update((chunk.chunk.chunk_id, chunk) for chunk in chunks)
    texts = [f"{chunk.path}\n{searchable_text(chunk)}" for chunk in found.values()]
    return any(held_by(name, texts) for name in names)


def _all_terms(keyword: Keyword) -> tuple[str, ...]:
    return (*keyword.terms, *(_all_terms(keyword.gloss) if keyword.gloss else ()))


def _of(ranked: Sequence[Scored], name: str) -> float:
    return max((one.features[_AT[name]] for one in ranked), default=0.0)


def _kind(question: Question, best: Sequence[Scored]) -> float:
    """Whether the best passage looks like the kind of answer that was asked for; keywords ask for none."""
    if kind_of(question.text) is Kind.OTHER:
        return 0.5
    least = 0.0 if _ASKING.search(question.text) else 0.5
    return max(least, *(_of(best, name) for name in _KINDS))


def _names(question: Question, texts: Sequence[str]) -> float | None:
    """How many of the question's names and numbers stand in the text that holds most of them."""
    names = {found[0].lower().strip(".") for found in _NAMES[question.lang].finditer(question.text)}
    if not names:
        return None
    return max(sum(name in text.lower() for name in names) for text in texts) / len(names)


def _apart(ranked: Sequence[Scored]) -> float:
    """How far the best passage stands above all others by meaning."""
    place = _AT["cosine_context"]
    mean = sum(one.features[place] for one in ranked) / max(1, len(ranked))
    return max(0.0, _of(ranked[:1], "cosine_context") - mean)


def _margin(cosines: Sequence[float]) -> float | None:
    """How far the nearest chunk stands above the others that were found."""
    if len(cosines) < 2:
        return None
    best, *rest = sorted(cosines, reverse=True)
    return max(0.0, min(1.0, 4 * (best - sum(rest) / len(rest))))


def _agreement(found: Retrieval) -> float:
    """1 when both legs put the first hit first; less the further down each of them has it."""
    if not found.hits:
        return 0.0
    ranks = {evidence.leg: evidence.rank for evidence in found.hits[0].evidence}
    return sum(0.5 / (1 + 0.5 * (ranks.get(leg, 20) - 1)) for leg in (Leg.LEXICAL, Leg.VECTOR))


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


def _raw_scores(found: Retrieval, leg: Leg) -> list[float]:
    """The leg's raw scores: of all its candidates where the search kept them, else of the hits."""
    if traced := found.trace.legs.get(leg.value):
        return [candidate.score for candidate in traced]
    return _shown_scores(found, leg)


def _shown_scores(found: Retrieval, leg: Leg) -> list[float]:
    return [e.raw_score for hit in found.hits for e in hit.evidence if e.leg is leg]
