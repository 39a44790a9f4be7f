"""Shapes of asking: an answer or a refusal, its events, and its repetition."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from kebab.domain import answers as domain
from kebab.wire.search import Citation, Degradation
from kebab.wire.shape import Shape, of

NEAREST = 3


class Quote(Shape, frozen=True):
    """The lines a claim rests on; ``marker`` is the n of its ``[#n]``."""

    marker: int
    citation: Citation
    text: str


class Claim(Shape, frozen=True):
    """One sentence. ``problems`` says what in it does not stand in what it cites."""

    text: str
    markers: tuple[int, ...]
    supported: bool
    problems: tuple[str, ...]
    quotes: tuple[Quote, ...]


class Candidate(Shape, frozen=True):
    chunk_id: str
    doc_path: str
    heading_path: tuple[str, ...]
    citation: Citation
    score: float
    snippet: str


class GateFeatures(Shape, frozen=True):
    """What the gate weighs; docs/asking.md says what each means."""

    coverage: float
    specific: float
    closeness: float
    lexical: float | None
    semantic: float | None
    sentence: float | UnsetType = UNSET
    stated: float | UnsetType = UNSET
    meaning: float | UnsetType | None = UNSET
    margin: float | UnsetType | None = UNSET
    agreement: float | UnsetType = UNSET
    about: float | UnsetType = UNSET
    kind: float | UnsetType = UNSET
    foreign: float | UnsetType = UNSET
    names: float | UnsetType | None = UNSET
    kept: float | UnsetType | None = UNSET
    apart: float | UnsetType | None = UNSET


class Gate(Shape, frozen=True):
    passed: bool
    confidence: float
    threshold: float
    missing: tuple[str, ...]
    features: GateFeatures | None


class Step(Shape, frozen=True):
    """One search on the way: the question itself, then parts of it."""

    query: str
    hits: int
    gate: Gate


class Evidence(Shape, frozen=True):
    """What the writer of the answer was given."""

    marker: int
    chunk_id: str
    doc_path: str
    heading_path: tuple[str, ...]
    citation: Citation
    source_id: str
    trust_level: str
    tokens: int
    text: str


class Versions(Shape, frozen=True):
    model: str
    prompt: str
    gate: str
    index: str
    embedding_model: str | None
    analyzer: str


class Usage(Shape, frozen=True):
    """Tokens by kebab's own estimate."""

    prompt_tokens: int
    completion_tokens: int


class Budget(Shape, frozen=True):
    """What an answer may cost; the last two only where a language model writes."""

    prompt_tokens: int
    completion_tokens: int | None
    seconds: float | None


class FollowUp(Shape, frozen=True):
    """What a question means in its conversation: ``question`` stands alone and is what was searched."""

    continues: str
    question: str
    by: str
    """``model`` or ``rules``."""


class Answer(Shape, frozen=True, tag_field="schema_version", tag="answer.v1"):
    """``grounded`` false is a refusal, with its reason; then ``nearest`` holds what came closest."""

    trace_id: str
    created_at: str
    question: str
    lang: str
    answer: str
    grounded: bool
    refusal_reason: str | None
    citations: tuple[Quote, ...]
    claims: tuple[Claim, ...]
    nearest: tuple[Candidate, ...]
    unanswered: tuple[str, ...]
    confidence: float | None
    partial: bool
    error: str | None
    versions: Versions
    usage: Usage
    degraded: tuple[Degradation, ...]
    source_langs: tuple[str, ...] | UnsetType = UNSET
    """Languages of what the answer rests on; an answer without a model keeps the source's language."""
    steps: tuple[Step, ...] | UnsetType = UNSET
    evidence: tuple[Evidence, ...] | UnsetType = UNSET
    candidates: tuple[Candidate, ...] | UnsetType = UNSET
    timings_ms: dict[str, float] | UnsetType = UNSET
    follow_up: FollowUp | UnsetType = UNSET
    """Only for a question that follows an answer."""
    budget: Budget | UnsetType = UNSET


class AnswerEvent(Shape, frozen=True, tag_field="schema_version", tag="answer_event.v1"):
    """``kind`` is retrieval_done, token or final; a stream has exactly one final event, which comes last."""

    kind: str
    candidates: tuple[Candidate, ...] | UnsetType = UNSET
    delta: str | UnsetType = UNSET
    answer: Answer | UnsetType = UNSET
    asked: str | UnsetType = UNSET
    """With retrieval_done: the question that was really asked, where it is another than was typed."""


class AnswerChange(Shape, frozen=True):
    what: str
    before: str
    after: str


class AnswerComparison(Shape, frozen=True, tag_field="schema_version", tag="answer_comparison.v1"):
    """A stored answer and its repetition; no changes means that both say the same from the same lines."""

    before: Answer
    after: Answer
    changes: tuple[AnswerChange, ...]


ANSWER_SHAPES: tuple[type[Shape], ...] = (Answer, AnswerComparison, AnswerEvent)


def answer(found: domain.Answer, *, explain: bool = False) -> Answer:
    """With ``explain`` also the steps with the gate's values, the evidence, the hits and the timings."""
    nearest = () if found.grounded else found.candidates[:NEAREST]
    return of(
        found,
        Answer,
        question=found.request.question,
        answer=found.text,
        refusal_reason=found.refusal.value if found.refusal else None,
        nearest=nearest,
        confidence=found.gate.confidence if found.gate else None,
        follow_up=found.request.follow or UNSET,
        budget=found.budget or UNSET,
        **({} if explain else dict.fromkeys(("steps", "evidence", "candidates", "timings_ms"), UNSET)),
    )


def answer_event(event: domain.AnswerEvent, *, explain: bool = False) -> AnswerEvent:
    kind = event.kind
    return of(
        event,
        AnswerEvent,
        kind=kind.value,
        candidates=event.candidates if kind is domain.AnswerEventKind.RETRIEVAL_DONE else UNSET,
        delta=event.delta if kind is domain.AnswerEventKind.TOKEN else UNSET,
        answer=answer(event.answer, explain=explain) if event.answer is not None else UNSET,
        asked=event.asked or UNSET,
    )


def answer_comparison(found: domain.AnswerComparison, *, explain: bool = False) -> AnswerComparison:
    return of(
        found,
        AnswerComparison,
        before=answer(found.before, explain=explain),
        after=answer(found.after, explain=explain),
    )
