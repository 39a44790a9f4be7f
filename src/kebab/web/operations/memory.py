"""The execution memory."""

from __future__ import annotations

from datetime import UTC, datetime

from kebab.app import Kebab
from kebab.domain.executions import Execution as DomainExecution
from kebab.domain.executions import Feedback
from kebab.errors import InvalidInput, RecordNotFound
from kebab.memory.shape import changes_from_json
from kebab.web.operation import ASK, WRITE, Operation
from kebab.wire import memory as wire
from kebab.wire.requests import memory as asks


def _recalled(kebab: Kebab, asked: asks.MemorySearchRequest) -> wire.ExecutionSearch:
    kept = kebab.memory
    find = kept.search_words if asked.words else kept.hybrid_search
    found = find(
        asked.text,
        limit=asked.limit,
        filters=asked.filters,
        prefer=asked.prefer,
        min_score=asked.min_score,
        half_life_days=asked.half_life_days,
    )
    return wire.execution_search(asked.text, "lexical" if asked.words else "hybrid", found)


def _listed(kebab: Kebab, asked: asks.MemoryListRequest) -> wire.ExecutionList:
    return wire.execution_list(kebab.memory.select(asked.filters, limit=asked.limit, offset=asked.offset))


def _one(kebab: Kebab, asked: asks.MemoryGetRequest) -> wire.Execution:
    found = kebab.memory.get(asked.id)
    if not isinstance(found, DomainExecution):
        raise RecordNotFound(f"{asked.id!r} is a task record, not an execution")
    return wire.execution(found)


def _advised(kebab: Kebab, asked: asks.MemoryAdviseRequest) -> wire.Advice:
    found = kebab.memory.advise(
        asked.task, max_tokens=asked.max_tokens, min_score=asked.min_score, filters=asked.filters
    )
    return wire.memory_advice(found)


def _ranked(kebab: Kebab, asked: asks.MemoryAgentsRequest) -> wire.AgentRanking:
    found = kebab.memory.rank_agents(asked.task_type, half_life_days=asked.half_life_days)
    return wire.agent_ranking(asked.task_type, found)


def _recorded(kebab: Kebab, asked: asks.MemoryRecordRequest) -> wire.Execution:
    return wire.execution(kebab.memory.record(asked.execution(by="http")))


def _judged(kebab: Kebab, asked: asks.MemoryFeedbackRequest) -> wire.Execution:
    if asked.success is None and asked.quality_score is None and not asked.note:
        raise InvalidInput("no feedback was given", hint="give success, quality_score or note")
    given = Feedback(
        at=datetime.now(UTC),
        by=asked.by,
        success=asked.success,
        quality_score=asked.quality_score,
        note=asked.note,
    )
    return wire.execution(kebab.memory.feedback(asked.id, given))


def _updated(kebab: Kebab, asked: asks.MemoryUpdateRequest) -> wire.Execution:
    return wire.execution(kebab.memory.update(asked.id, changes_from_json(asked.changes)))


def _deleted(kebab: Kebab, asked: asks.MemoryDeleteRequest) -> wire.MemoryChange:
    return wire.MemoryChange(action="deleted", executions=kebab.memory.delete(asked.ids))


MEMORY = (
    Operation(
        "/memory/stats",
        "Count what the memory holds",
        wire.MemoryStats,
        lambda kebab, _: wire.memory_stats(kebab.memory.stats()),
    ),
    Operation(
        "/memory/search",
        "Find runs like this one",
        wire.ExecutionSearch,
        _recalled,
        asks.MemorySearchRequest,
        ASK,
    ),
    Operation(
        "/memory/executions", "List runs, newest first", wire.ExecutionList, _listed, asks.MemoryListRequest
    ),
    Operation("/memory/execution", "Show one run", wire.Execution, _one, asks.MemoryGetRequest),
    Operation(
        "/memory/causes",
        "What led to a run, nearest first",
        wire.CauseTrace,
        lambda kebab, asked: wire.cause_trace(asked.id, kebab.memory.trace_causes(asked.id)),
        asks.MemoryGetRequest,
    ),
    Operation(
        "/memory/effects",
        "What a run led to, nearest first",
        wire.EffectTrace,
        lambda kebab, asked: wire.effect_trace(asked.id, kebab.memory.trace_effects(asked.id)),
        asks.MemoryGetRequest,
    ),
    Operation(
        "/memory/curve",
        "An agent's days and whether it gets better",
        wire.LearningCurve,
        lambda kebab, asked: wire.learning_curve(kebab.memory.learning_curve(asked.agent, asked.task_type)),
        asks.MemoryCurveRequest,
    ),
    Operation(
        "/memory/agents",
        "Agents by what they achieve at the least",
        wire.AgentRanking,
        _ranked,
        asks.MemoryAgentsRequest,
    ),
    Operation(
        "/memory/advice", "What was tried before", wire.Advice, _advised, asks.MemoryAdviseRequest, ASK
    ),
    Operation(
        "/memory/documents",
        "Documents that helped with tasks like this one",
        wire.HelpfulDocuments,
        lambda kebab, asked: wire.helpful_documents(
            asked.task, kebab.memory.documents_that_helped(**asked.arguments)
        ),
        asks.MemoryDocumentsRequest,
    ),
    Operation(
        "/memory/record",
        "Record a run",
        wire.Execution,
        _recorded,
        asks.MemoryRecordRequest,
        WRITE,
        lasting=True,
    ),
    Operation(
        "/memory/feedback",
        "Say how a run turned out later",
        wire.Execution,
        _judged,
        asks.MemoryFeedbackRequest,
        WRITE,
        lasting=True,
    ),
    Operation(
        "/memory/update",
        "Set fields of a run",
        wire.Execution,
        _updated,
        asks.MemoryUpdateRequest,
        WRITE,
        lasting=True,
    ),
    Operation(
        "/memory/delete",
        "Forget records",
        wire.MemoryChange,
        _deleted,
        asks.MemoryDeleteRequest,
        WRITE,
        lasting=True,
    ),
)
