"""What asking gives: an answer with its claims and citations, or a refusal with its reason.

A refusal is an answer too (``grounded`` is false), stored and repeated like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from kebab.domain.citations import Citation
from kebab.domain.hits import Degradation
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.domain.values import dataclass


class RefusalReason(StrEnum):
    NO_HITS = "no_hits"
    """The search found nothing at all."""
    WEAK_EVIDENCE = "weak_evidence"
    """The gate: what was found does not speak about the question."""
    DECLINED = "declined"
    """The model said that the evidence does not answer the question."""
    NOT_CITED = "not_cited"
    """The model cited nothing, or something it was not given."""
    UNSUPPORTED = "unsupported"
    """A sentence states a number, a date or a name that its cited text does not hold."""
    CANCELLED = "cancelled"
    """The reader went away; ``text`` is what had arrived."""
    MODEL_FAILED = "model_failed"
    """The model broke off; ``text`` is what had arrived."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One chunk as the writer of the answer sees it, known by ``[#marker]``."""

    marker: int
    chunk_id: ChunkId
    doc_id: DocId
    doc_path: str
    title: str
    heading_path: tuple[str, ...]
    citation: Citation
    source_id: str
    trust_level: str
    lang: str
    text: str
    tokens: int
    """What the item costs in the prompt, its label included."""


@dataclass(frozen=True, slots=True)
class Quote:
    """The lines of the evidence that a claim rests on, verbatim."""

    marker: int
    citation: Citation
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of the answer with what the check found. Without problems it is supported or harmless."""

    text: str
    """As written, without its markers."""
    markers: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()

    @property
    def supported(self) -> bool:
        return bool(self.markers) and not self.problems


@dataclass(frozen=True, slots=True)
class GateFeatures:
    """What the gate weighs, each made to lie between 0 and about 1 whatever the corpus and the model."""

    coverage: float
    """Share of the question's words, by idf, that one of the best chunks holds, in these or in like words."""
    specific: float
    """The same for the two rarest words and the best passage: a question is about its rarest words."""
    closeness: float
    """The same for the best passage with its headings and the sentences around it."""
    lexical: float | None
    """Best BM25 over the score that a text made of the question alone could reach; None without that leg."""
    semantic: float | None
    """Best cosine on the way from what unrelated questions reach here (0) to 1; None without that leg."""
    sentence: float = 0.0
    """Share of the words that one of the best passages holds together with its headings."""
    stated: float = 0.0
    """Share of the words that one of the best passages holds itself."""
    meaning: float | None = None
    """How near one of the best passages comes by meaning; None without a model."""
    margin: float | None = None
    """How far the nearest chunk stands above the others by meaning; None without that leg."""
    agreement: float = 0.0
    """Whether words and meaning put the same chunk first."""
    about: float = 0.0
    """Share of the words in title and headings of the best passage."""
    kind: float = 0.0
    """Whether the best passage looks like the kind of answer asked for: a number, a place, steps."""
    foreign: float = 0.0
    """1 when the evidence is in another language than the question: then less of everything is enough."""
    names: float | None = None
    """Share of the names and numbers in the question that one of the best chunks holds; None without any."""
    kept: float | None = None
    """What is left of the question where its least met word is taken away; None without a model."""
    apart: float | None = None
    """How far the best passage stands above all others by meaning; None without a model."""


GATE_FEATURES = (
    "coverage",
    "specific",
    "closeness",
    "lexical",
    "semantic",
    "sentence",
    "stated",
    "meaning",
    "margin",
    "agreement",
    "about",
    "kind",
    "foreign",
    "names",
    "kept",
    "apart",
)


@dataclass(frozen=True, slots=True)
class GateReport:
    """The gate's verdict. ``confidence`` is a calibrated probability that the evidence holds an answer."""

    passed: bool
    confidence: float
    threshold: float
    features: GateFeatures | None
    missing: tuple[str, ...] = ()
    """Words of the question that none of the best chunks holds."""


@dataclass(frozen=True, slots=True)
class AskStep:
    """One search on the way: the original question first, then parts of it."""

    query: str
    hits: int
    gate: GateReport


@dataclass(frozen=True, slots=True)
class AskCandidate:
    """A hit as traces and refusals show it."""

    chunk_id: ChunkId
    doc_path: str
    heading_path: tuple[str, ...]
    citation: Citation
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class AnswerVersions:
    """Everything that shaped the answer besides the question and the documents."""

    model: str
    """``extractive``, or provider and model."""
    prompt: str
    gate: str
    index: str
    embedding_model: str | None
    analyzer: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts by the product's estimate."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """What an answer may cost. Tokens by the product's estimate; a model's own count may differ."""

    prompt_tokens: int
    completion_tokens: int | None = None
    """None without a language model: passages that are quoted cost nothing."""
    seconds: float | None = None


class Condenser(StrEnum):
    """Who made a follow-up question stand alone."""

    MODEL = "model"
    RULES = "rules"


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What a question is in a conversation."""

    continues: str
    """Trace id of the answer before."""
    question: str
    """The question that stands alone; this one is searched and answered."""
    by: Condenser = Condenser.RULES
    topic: tuple[str, ...] = ()
    """Words of the earlier question that a pronoun stood for, by the rules."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """What was asked; with the stored documents it repeats the answer."""

    question: str
    mode: SearchMode = SearchMode.HYBRID
    k: int = 10
    filters: SearchFilters = field(default_factory=SearchFilters)
    continue_from: str | None = None
    """Trace id of the answer that the question follows; ``follow`` says what it then means."""
    follow: FollowUp | None = None

    @property
    def asked(self) -> str:
        """The question that was really asked: itself, or what it means in its conversation."""
        return self.follow.question if self.follow else self.question


@dataclass(frozen=True, slots=True)
class Answer:
    trace_id: str
    created_at: str
    request: AskRequest
    lang: str
    """Language of the question: ``ko`` or ``en``."""
    text: str
    """The answer with ``[#n]`` markers; for a refusal, the sentence that says so or what the model wrote."""
    grounded: bool
    refusal: RefusalReason | None
    claims: tuple[Claim, ...]
    evidence: tuple[Evidence, ...]
    candidates: tuple[AskCandidate, ...]
    """The hits of the search, best first; a refusal shows the first three."""
    steps: tuple[AskStep, ...]
    versions: AnswerVersions
    usage: Usage = Usage()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[Degradation, ...] = ()
    unanswered: tuple[str, ...] = ()
    """Parts of a compound question for which no evidence was found."""
    partial: bool = False
    """True when the stream was stopped or broke before its end."""
    error: str | None = None
    """Why the model broke off, or which part of the budget stopped it."""
    budget: Budget | None = None

    @property
    def source_langs(self) -> tuple[str, ...]:
        """The languages of what the answer rests on, each once, in order of first use."""
        langs = {item.marker: item.lang for item in self.evidence}
        used = (marker for claim in self.claims for marker in claim.markers if marker in langs)
        return tuple(dict.fromkeys(langs[marker] for marker in used))

    @property
    def citations(self) -> tuple[Quote, ...]:
        """What the answer rests on, each place once, in order of first use."""
        quotes = {quote.citation.uri: quote for claim in self.claims for quote in reversed(claim.quotes)}
        order = dict.fromkeys(quote.citation.uri for claim in self.claims for quote in claim.quotes)
        return tuple(quotes[uri] for uri in order)

    @property
    def gate(self) -> GateReport | None:
        """The verdict on the original question."""
        return self.steps[0].gate if self.steps else None


class AnswerEventKind(StrEnum):
    RETRIEVAL_DONE = "retrieval_done"
    TOKEN = "token"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """One event of a stream: retrieval_done, any number of tokens, and exactly one final, refusals too."""

    kind: AnswerEventKind
    candidates: tuple[AskCandidate, ...] = ()
    delta: str = ""
    answer: Answer | None = None
    asked: str | None = None
    """With retrieval_done: the question that was really asked, where it is another than was typed."""


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """One thing that differs between an answer and its repetition."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """A stored answer beside its repetition. No changes means that both say the same from the same lines."""

    before: Answer
    after: Answer
    changes: tuple[AnswerChange, ...]
