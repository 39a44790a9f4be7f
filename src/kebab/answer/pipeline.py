"""Asking, as a recipe: retrieve → gate → pack → write → check → store."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import zip_longest
from time import perf_counter

from kebab.answer.archive import compare, from_json, to_json
from kebab.answer.check import check
from kebab.answer.gate import GATE_VERSION, Gate
from kebab.answer.generate import Writer
from kebab.answer.pack import pack
from kebab.answer.prompt import printable
from kebab.answer.question import Question, read_question
from kebab.answer.split import split
from kebab.domain.answers import (
    Answer,
    AnswerComparison,
    AnswerEvent,
    AnswerEventKind,
    AnswerVersions,
    AskCandidate,
    AskRequest,
    AskStep,
    Evidence,
    RefusalReason,
    Usage,
)
from kebab.domain.chunks import StoredChunk
from kebab.domain.citations import SourceState
from kebab.domain.hits import Degradation, Retrieval, SearchHit
from kebab.domain.ids import ChunkId, encodable
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery
from kebab.domain.tokens import estimate_tokens
from kebab.errors import EngineError, InvalidInput
from kebab.ports import Analyzer, AnswerStore, DocumentStore
from kebab.search.searcher import Searcher

REFUSALS = {
    "ko": "지식 베이스에서 이 질문의 답을 찾지 못했습니다.",
    "en": "The knowledge base holds no answer to this question.",
}


@dataclass
class _Draft:
    """An answer in the making. Mutable, and seen by one question only."""

    trace_id: str
    created_at: str
    request: AskRequest
    question: Question
    asked: Question
    """The question, or those parts of it for which there is evidence."""
    steps: list[AskStep] = field(default_factory=list)
    candidates: tuple[AskCandidate, ...] = ()
    chunks: list[StoredChunk] = field(default_factory=list)
    states: dict[ChunkId, SourceState | None] = field(default_factory=dict)
    """What became of the file of each chunk that was found."""
    unanswered: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    degraded: tuple[Degradation, ...] = ()
    embedding_model: str | None = None
    pieces: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.pieces).strip()


@dataclass(frozen=True, slots=True)
class Asker:
    """Answers questions from the knowledge base, or refuses; keeps every answer it gives.

    With ``keeps`` false nothing is stored. An answer that cannot be stored is still given, and says so.
    """

    searcher: Searcher
    store: DocumentStore
    analyzer: Analyzer
    gate: Gate
    writer: Writer
    answers: AnswerStore
    max_context_tokens: int
    keeps: bool = True
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    new_id: Callable[[], str] = lambda: f"ans_{secrets.token_hex(6)}"

    def request(
        self,
        question: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
    ) -> AskRequest:
        """The question with the search's defaults in place of what is None. Raises InvalidInput."""
        query = self.searcher.query(question, mode=mode, k=k, filters=filters)
        return AskRequest(encodable(question), query.mode, query.k, filters or SearchFilters())

    def ask(self, request: AskRequest) -> Answer:
        """The whole answer. Raises InvalidInput for an empty question, EngineError when no one can answer."""
        for event in self.stream(request):
            if event.answer is not None:
                return event.answer
        raise AssertionError("a stream ends with its answer")

    def refuses(self, question: str, mode: SearchMode) -> bool:
        """Whether asking ends in a refusal."""
        return not self.ask(self.request(question, mode=mode)).grounded

    def again(self, trace_id: str) -> AnswerComparison:
        """Ask a stored question once more, as it was asked, and compare; InvalidInput for an unknown id."""
        body = self.answers.get(trace_id)
        if body is None:
            raise InvalidInput(
                f"there is no stored answer {trace_id!r}", hint="the id stands below every answer"
            )
        before = from_json(body)
        return compare(before, self.ask(before.request))

    def stream(self, request: AskRequest) -> Generator[AnswerEvent, None, None]:
        """The answer as it comes: retrieval_done, tokens, and exactly one final event.

        Closing the iterator stops the model, and what had arrived is stored as a cancelled answer.
        """
        draft = self._begin(request)
        passed = self._gather(draft)
        yield AnswerEvent(AnswerEventKind.RETRIEVAL_DONE, candidates=draft.candidates)
        if not passed:
            reason = RefusalReason.WEAK_EVIDENCE if draft.candidates else RefusalReason.NO_HITS
            draft.pieces.append(REFUSALS[draft.question.lang])
            answer = self._keep(self._answer(draft, reason))
        else:
            answer = yield from self._write(draft)
        yield AnswerEvent(AnswerEventKind.FINAL, answer=answer)

    def _begin(self, request: AskRequest) -> _Draft:
        question = read_question(self._query(request).text, self.analyzer)
        if not question.text:
            raise InvalidInput("the question is empty", hint='ask in words: kebab ask "what is …?"')
        created = self.now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return _Draft(self.new_id(), created, request, question, question)

    def _query(self, request: AskRequest) -> SearchQuery:
        """What is searched: phrases, exclusions and filters in the question are the search's."""
        return self.searcher.query(request.question, mode=request.mode, k=request.k, filters=request.filters)

    # --- evidence ----------------------------------------------------------------------------------

    def _gather(self, draft: _Draft) -> bool:
        """Fill the draft with evidence; False when the gate lets nothing through.

        The question itself is always looked for first. Its parts follow only when that found less than all of
        it, and each must pass the same gate.
        """
        started = perf_counter()
        query = self._query(draft.request)
        found, chunks = self._probe(draft, draft.question, query)
        draft.candidates = tuple(_candidate(hit) for hit in found.hits)
        draft.degraded = found.degraded
        draft.embedding_model = next((hit.embedding_model for hit in found.hits if hit.embedding_model), None)
        passed = draft.steps[0].gate.passed
        parts = split(draft.question, self.analyzer)
        lists = [chunks] if passed else []
        if not passed or not all(self.gate.covers(part, chunks) for part in parts):
            lists += self._gather_parts(draft, query, parts)
        draft.chunks = _interleaved(lists)
        draft.timings["retrieve_ms"] = _since(started)
        return bool(draft.chunks)

    def _gather_parts(
        self, draft: _Draft, query: SearchQuery, parts: Sequence[Question]
    ) -> list[list[StoredChunk]]:
        lists: list[list[StoredChunk]] = []
        unanswered: list[str] = []
        for part in parts:
            _, chunks = self._probe(draft, part, replace(query, text=part.text))
            if draft.steps[-1].gate.passed:
                lists.append(chunks)
            else:
                unanswered.append(part.text)
        if unanswered and lists:
            # Who writes is asked what can be answered; that the rest was not found is said beside it.
            draft.unanswered = tuple(unanswered)
            kept = [part.text for part in parts if part.text not in unanswered]
            draft.asked = read_question("? ".join(kept), self.analyzer)
        return lists

    def _probe(
        self, draft: _Draft, question: Question, query: SearchQuery
    ) -> tuple[Retrieval, list[StoredChunk]]:
        found = self.searcher.retriever.search(query)
        draft.states.update((hit.chunk_id, hit.citation.source_state) for hit in found.hits)
        stored = self.store.hydrate([hit.chunk_id for hit in found.hits])
        chunks = [stored[hit.chunk_id] for hit in found.hits if hit.chunk_id in stored]
        draft.steps.append(AskStep(query.text, len(found.hits), self.gate.judge(question, found, chunks)))
        return found, chunks

    # --- writing -----------------------------------------------------------------------------------

    def _write(self, draft: _Draft) -> Generator[AnswerEvent, None, Answer]:
        budget = self.writer.budget(draft.asked, self.max_context_tokens)
        draft.evidence = pack(draft.chunks, budget=budget, states=draft.states)
        started = perf_counter()
        try:
            with closing(self.writer.write(draft.asked, draft.evidence)) as pieces:
                for piece in map(printable, pieces):
                    draft.pieces.append(piece)
                    yield AnswerEvent(AnswerEventKind.TOKEN, delta=piece)
        except (GeneratorExit, KeyboardInterrupt):
            self._keep(replace(self._answer(draft, RefusalReason.CANCELLED), partial=True))
            raise
        except EngineError as error:
            if not draft.pieces:
                raise
            broken = self._answer(draft, RefusalReason.MODEL_FAILED)
            return self._keep(replace(broken, partial=True, error=error.message))
        draft.timings["write_ms"] = _since(started)
        return self._keep(self._checked(draft))

    def _checked(self, draft: _Draft) -> Answer:
        verdict = check(draft.text, draft.evidence, verbatim=self.writer.verbatim, analyzer=self.analyzer)
        return replace(self._answer(draft, verdict.refusal), claims=verdict.claims)

    def _answer(self, draft: _Draft, refusal: RefusalReason | None) -> Answer:
        return Answer(
            trace_id=draft.trace_id,
            created_at=draft.created_at,
            request=draft.request,
            lang=draft.question.lang,
            text=draft.text,
            grounded=refusal is None,
            refusal=refusal,
            claims=(),
            evidence=draft.evidence,
            candidates=draft.candidates,
            steps=tuple(draft.steps),
            versions=self._versions(draft),
            usage=Usage(sum(item.tokens for item in draft.evidence), estimate_tokens(draft.text)),
            timings_ms=dict(draft.timings),
            degraded=draft.degraded,
            unanswered=draft.unanswered,
        )

    def _versions(self, draft: _Draft) -> AnswerVersions:
        return AnswerVersions(
            model=self.writer.name,
            prompt=self.writer.prompt_version,
            gate=GATE_VERSION,
            index=self.searcher.retriever.index_version,
            embedding_model=draft.embedding_model,
            analyzer=self.analyzer.version,
        )

    def _keep(self, answer: Answer) -> Answer:
        if not self.keeps:
            return answer
        try:
            self.answers.put(
                answer.trace_id,
                created_at=answer.created_at,
                question=answer.request.question,
                answer_json=to_json(answer),
            )
        except EngineError as error:
            lost = Degradation("answers", error.code, f"this answer was not stored: {error.message}")
            return replace(answer, degraded=(*answer.degraded, lost))
        return answer


def _candidate(hit: SearchHit) -> AskCandidate:
    return AskCandidate(
        hit.chunk_id,
        hit.doc_path,
        hit.heading_path,
        hit.citation,
        hit.score,
        printable(" ".join(hit.snippet.text.split())),
    )


def _interleaved(lists: Sequence[Sequence[StoredChunk]]) -> list[StoredChunk]:
    """The first of each list, then the second of each, every chunk once: no part starves another."""
    found: dict[ChunkId, StoredChunk] = {}
    for row in zip_longest(*lists):
        for stored in row:
            if stored is not None:
                found.setdefault(stored.chunk.chunk_id, stored)
    return list(found.values())


def _since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)
