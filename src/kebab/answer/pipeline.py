"""Asking, as a recipe: retrieve → gate → pack → write → check → store."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter

from kebab.answer.abroad import abroad
from kebab.answer.alike import in_other_words
from kebab.answer.archive import compare, from_json, to_json
from kebab.answer.candidates import candidate, nearest
from kebab.answer.check import check, check_quotes
from kebab.answer.converse import Conversation
from kebab.answer.decline import REFUSALS
from kebab.answer.draft import Draft, Found
from kebab.answer.extract import cited, told
from kebab.answer.gate import GATE_VERSION, Gate
from kebab.answer.generate import Heard, Writer, spent
from kebab.answer.opening import opening
from kebab.answer.pack import pack
from kebab.answer.prompt import printable
from kebab.answer.question import Question, read_question, spelled
from kebab.answer.rank import Ranker, Scored
from kebab.answer.reread import FURTHER, by_meeting, of_chunks
from kebab.answer.select import MOST, in_order, interleaved, select
from kebab.answer.split import split
from kebab.answer.typed import holding
from kebab.domain.answers import (
    Answer,
    AnswerComparison,
    AnswerEvent,
    AnswerEventKind,
    AnswerVersions,
    AskRequest,
    AskStep,
    Budget,
    GateReport,
    RefusalReason,
    Usage,
)
from kebab.domain.hits import Degradation
from kebab.domain.ids import encodable
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery
from kebab.domain.tokens import estimate_tokens
from kebab.errors import EngineError, InvalidInput, Timeout
from kebab.ports import Analyzer, AnswerStore, DocumentStore, Ending
from kebab.search.searcher import Searcher

UNKEPT = 64
"""Answers remembered where none is stored."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Answers questions from the knowledge base, or refuses; keeps every answer it gives.

    With ``keeps`` false nothing is stored. An answer that cannot be stored is still given, and says so.
    """

    searcher: Searcher
    store: DocumentStore
    analyzer: Analyzer
    gate: Gate
    ranker: Ranker
    writer: Writer
    answers: AnswerStore
    conversation: Conversation
    budget: Budget
    keeps: bool = True
    unkept: dict[str, Answer] = field(default_factory=dict)
    """The latest answers where nothing is stored, so that a conversation can go on."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    new_id: Callable[[], str] = lambda: f"ans_{secrets.token_hex(6)}"

    def request(
        self,
        question: str,
        *,
        mode: SearchMode | None = None,
        k: int | None = None,
        filters: SearchFilters | None = None,
        continue_from: str | None = None,
    ) -> AskRequest:
        """The question with the search's defaults in place of what is None. Raises InvalidInput."""
        query = self.searcher.query(question, mode=mode, k=k, filters=filters, patterns=False)
        return AskRequest(
            encodable(question), query.mode, query.k, filters or SearchFilters(), continue_from=continue_from
        )

    def ask(self, request: AskRequest) -> Answer:
        """The whole answer. Raises InvalidInput for an empty question, EngineError when no one can answer."""
        for event in self.stream(request):
            if event.answer is not None:
                return event.answer
        raise AssertionError("a stream ends with its answer")

    def look(self, question: str) -> tuple[list[Scored], GateReport]:
        """What answering a question would see: its passages, best first, and the gate's verdict."""
        draft = self._begin(self.request(question))
        query = self._query(draft.request)
        found = self._probe(draft, draft.question, query)
        if other := self._abroad(draft, query):
            return list(other.ranked), draft.steps[-1].gate
        return list(found.ranked), draft.steps[0].gate

    def refuses(self, question: str, mode: SearchMode) -> bool:
        """Whether asking ends in a refusal."""
        return not self.ask(self.request(question, mode=mode)).grounded

    def again(self, trace_id: str) -> AnswerComparison:
        """Ask a stored question once more, as it was asked, and compare; InvalidInput for an unknown id."""
        before = self._earlier(trace_id)
        if before is None:
            raise InvalidInput(
                f"there is no stored answer {trace_id!r}", hint="the id stands below every answer"
            )
        return compare(before, self.ask(before.request))

    def _earlier(self, trace_id: str) -> Answer | None:
        body = self.answers.get(trace_id)
        return from_json(body) if body is not None else self.unkept.get(trace_id)

    def stream(self, request: AskRequest) -> Generator[AnswerEvent, None, None]:
        """The answer as it comes: retrieval_done, tokens, and exactly one final event.

        Closing the iterator stops the model, and what had arrived is stored as a cancelled answer.
        """
        draft = self._begin(request)
        passed = self._gather(draft)
        asked = draft.request.asked if draft.request.asked != draft.request.question else None
        yield AnswerEvent(AnswerEventKind.RETRIEVAL_DONE, candidates=draft.candidates, asked=asked)
        if not passed:
            reason = RefusalReason.WEAK_EVIDENCE if draft.candidates else RefusalReason.NO_HITS
            draft.pieces.append(REFUSALS[draft.question.lang])
            answer = self._keep(self._answer(draft, reason))
        else:
            answer = yield from self._write(draft)
        yield AnswerEvent(AnswerEventKind.FINAL, answer=answer)

    def _begin(self, request: AskRequest) -> Draft:
        started, tokens = perf_counter(), 0
        if request.continue_from and request.follow is None:
            condensed = self.conversation.condense(
                request.question, request.continue_from, self._earlier, seconds=self.budget.seconds
            )
            request, tokens = replace(request, follow=condensed.follow), condensed.tokens
        question = read_question(self._query(request).text, self.analyzer)
        if not question.text:
            raise InvalidInput("the question is empty", hint='ask in words: kebab ask "what is …?"')
        created = self.now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        draft = Draft(self.new_id(), created, request, question, question)
        draft.started, draft.condensing_tokens = started, tokens
        return draft

    def _query(self, request: AskRequest) -> SearchQuery:
        """What is searched: phrases, exclusions and filters in the question are the search's."""
        return self.searcher.query(
            request.asked, mode=request.mode, k=request.k, filters=request.filters, patterns=False
        )

    # --- evidence ----------------------------------------------------------------------------------

    def _gather(self, draft: Draft) -> bool:
        """Fill the draft with evidence; False when the gate lets nothing through.

        The question itself is always looked for first. Its parts follow only when that found less than all of
        it, and each must pass the same gate.
        """
        started = perf_counter()
        query = self._query(draft.request)
        found = self._probe(draft, draft.question, query)
        passed = draft.steps[0].gate.passed
        if other := self._abroad(draft, query):
            found, passed = other, draft.steps[-1].gate.passed
        draft.degraded, hits = found.retrieval.degraded, found.retrieval.hits
        draft.embedding_model = next((hit.embedding_model for hit in hits if hit.embedding_model), None)
        parts = split(draft.question, self.analyzer)
        draft.found = [found] if passed else []
        if not passed or not all(self.gate.covers(part, found.chunks) for part in parts):
            draft.found += self._gather_parts(draft, query, parts)
        if not draft.found and (wider := self._in_other_words(draft, query)):
            draft.found, hits = [wider], wider.retrieval.hits
        draft.candidates = (
            tuple(candidate(hit) for hit in hits)
            if draft.found
            else nearest(found.retrieval.hits, found.ranked)
        )
        draft.timings["retrieve_ms"] = _since(started)
        return bool(draft.found)

    def _abroad(self, draft: Draft, query: SearchQuery) -> Found | None:
        """What a search in the words of the other language found, where the first led to pages in it and the
        second convinces more.
        """
        first = draft.steps[0].gate
        if first.features is None or not first.features.foreign or query.mode is SearchMode.VECTOR:
            return None
        if not (there := abroad(draft.question, self.gate.lexical)):
            return None
        found = self._probe(draft, draft.question, replace(query, text=there, exact=True))
        return found if draft.steps[-1].gate.confidence > first.confidence else None

    def _in_other_words(self, draft: Draft, query: SearchQuery) -> Found | None:
        """What a search for words of like meaning found, where the question itself accepts it."""
        other = in_other_words([keyword.text for keyword in draft.question.keywords])
        if not other or query.mode is SearchMode.VECTOR:
            return None
        further = replace(query, text=other, exact=True, k=max(query.k, FURTHER))
        found = self._probe(draft, draft.question, further, most=query.k)
        return found if draft.steps[-1].gate.passed else None

    def _gather_parts(self, draft: Draft, query: SearchQuery, parts: Sequence[Question]) -> list[Found]:
        kept: list[tuple[Question, Found]] = []
        unanswered: list[str] = []
        for part in parts:
            found = self._probe(draft, part, replace(query, text=part.text))
            if draft.steps[-1].gate.passed:
                kept.append((part, found))
            else:
                unanswered.append(part.text)
        if unanswered and kept:
            # Who writes is asked what can be answered; that the rest was not found is said beside it.
            draft.unanswered = tuple(unanswered)
            draft.asked = read_question("? ".join(part.text for part, _ in kept), self.analyzer)
            draft.found = []
        return [found for _, found in kept]

    def _probe(
        self, draft: Draft, question: Question, query: SearchQuery, *, most: int | None = None
    ) -> Found:
        """What a search finds, with its passages and the gate's verdict, which the draft keeps.

        With ``most``, only so many of what it finds, those that meet most of the question.
        """
        found = self.searcher.retriever.search(query)
        own_words, question = query.text == question.text, spelled(question, found.corrections, self.analyzer)
        draft.states.update((hit.chunk_id, hit.citation.source_state) for hit in found.hits)
        stored = self.store.hydrate([hit.chunk_id for hit in found.hits])
        chunks = [stored[hit.chunk_id] for hit in found.hits if hit.chunk_id in stored]
        widened = most is not None
        if widened:
            chunks = by_meeting(self.gate.weigh(question), chunks, self.analyzer)[:most]
        leads = opening(self.store, question, chunks)
        for place, lead in leads:
            draft.states.setdefault(lead.chunk.chunk_id, draft.states.get(chunks[place].chunk.chunk_id))
        ranked = self.ranker.rank(question, self.gate.weigh(question), found, chunks, leads)
        report = self.gate.judge(question, found, chunks, ranked, own_words=own_words, widened=widened)
        draft.steps.append(AskStep(query.text, len(found.hits), report))
        return Found(question.text, of_chunks(found, chunks) if widened else found, chunks, ranked)

    # --- writing -----------------------------------------------------------------------------------

    def _write(self, draft: Draft) -> Generator[AnswerEvent, None, Answer]:
        budget = self.writer.budget(draft.asked, self.budget.prompt_tokens)
        share = max(1, MOST // len(draft.found))
        held = (holding(found.asked, found.ranked) for found in draft.found)
        draft.chosen = interleaved([select(passages, most=share) for passages in held])
        ranked = interleaved([found.ranked for found in draft.found])
        chunks = in_order((*draft.chosen, *ranked), [c for found in draft.found for c in found.chunks])
        draft.evidence = pack(chunks, budget=budget, states=draft.states)
        started = perf_counter()
        try:
            left = self._seconds_left(draft)
            pieces = self.writer.write(draft.asked, draft.evidence, draft.chosen, seconds=left)
            with closing(pieces):
                heard = Heard(pieces)
                for piece in map(printable, heard):
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
        return self._keep(self._bounded(self._checked(draft), heard.ending))

    def _seconds_left(self, draft: Draft) -> float | None:
        if self.budget.seconds is None:
            return None
        return max(0.001, self.budget.seconds - (perf_counter() - draft.started))

    def _bounded(self, answer: Answer, ending: Ending) -> Answer:
        """The answer, which says so when the budget cut it. Raises Timeout when nothing had arrived."""
        if ending is Ending.DONE:
            return answer
        said = spent(self.budget, ending)
        if not answer.text and ending is Ending.SECONDS:
            raise Timeout(f"{self.writer.name} wrote nothing: {said}", hint="raise rag.max_seconds")
        return replace(answer, partial=True, error=said)

    def _checked(self, draft: Draft) -> Answer:
        if self.writer.verbatim:
            quoted = cited(draft.chosen, draft.evidence)
            verdict = check_quotes([(one.passage, told(one), item) for one, item in quoted])
        else:
            verdict = check(draft.text, draft.evidence, analyzer=self.analyzer)
        return replace(self._answer(draft, verdict.refusal), claims=verdict.claims)

    def _answer(self, draft: Draft, refusal: RefusalReason | None) -> Answer:
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
            usage=Usage(self._read(draft), estimate_tokens(draft.text)),
            timings_ms=dict(draft.timings),
            degraded=draft.degraded,
            unanswered=draft.unanswered,
            budget=self.budget,
        )

    def _read(self, draft: Draft) -> int:
        """Tokens read: evidence, rules, and what it took to understand a follow-up."""
        rules = self.writer.overhead(draft.asked) if draft.evidence else 0
        return sum(item.tokens for item in draft.evidence) + rules + draft.condensing_tokens

    def _versions(self, draft: Draft) -> AnswerVersions:
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
            self._remember(answer)
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
            self._remember(answer)
            return replace(answer, degraded=(*answer.degraded, lost))
        return answer

    def _remember(self, answer: Answer) -> None:
        self.unkept[answer.trace_id] = answer
        while len(self.unkept) > UNKEPT:
            self.unkept.pop(next(iter(self.unkept)), None)


def _since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)
