"""What agents did: memory_search, memory_record, memory_feedback."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from kebab.domain.executions import Feedback
from kebab.errors import InvalidInput, OutsideWalls
from kebab.mcp import text
from kebab.mcp.tool import Call, Tool
from kebab.wire import memory
from kebab.wire.requests.memory import MemoryFeedbackRequest, MemoryRecordRequest, MemorySearchRequest
from kebab.wire.shape import Shape


def _search(call: Call, asked: MemorySearchRequest) -> Shape:
    options = {
        "limit": asked.limit,
        "prefer": asked.prefer,
        "min_score": asked.min_score,
        "half_life_days": asked.half_life_days,
        "filters": asked.filters,
    }
    room = call.kebab.memory
    look: Any = room.search_words if asked.words else room.hybrid_search
    return memory.execution_search(
        asked.text, "words" if asked.words else "hybrid", look(asked.text, **options)
    )


def _record(call: Call, asked: MemoryRecordRequest) -> Shape:
    inside = replace(asked, scope=_scope(call, asked))
    return memory.execution(call.kebab.memory.record(inside.execution(by=call.client)))


def _scope(call: Call, asked: MemoryRecordRequest) -> dict[str, str]:
    """The scope of the walls and what the caller adds. Raises OutsideWalls for another scope."""
    fixed = call.kebab.engines.walls.scope if call.kebab.engines.walls else {}
    if other := [name for name, value in fixed.items() if asked.scope.get(name, value) != value]:
        raise OutsideWalls(f"the {other[0]} is {fixed[other[0]]} here", hint="leave the scope out")
    return {**asked.scope, **fixed}


def _feedback(call: Call, asked: MemoryFeedbackRequest) -> Shape:
    if asked.success is None and asked.quality_score is None and not asked.note.strip():
        raise InvalidInput("no feedback was given", hint="give success, quality_score or note")
    given = Feedback(
        at=datetime.now(UTC),
        by=asked.by or call.client,
        success=asked.success,
        quality_score=asked.quality_score,
        note=asked.note,
    )
    return memory.execution(call.kebab.memory.feedback(asked.id, given))


MEMORY_TOOLS = (
    Tool(
        name="memory_search",
        description=(
            "Find recorded runs of tasks like this one: what was tried, how it ended, what was learned. Use "
            "it before you start a task. Nothing found is a result: it is new."
        ),
        request=MemorySearchRequest,
        response=memory.ExecutionSearch,
        run=_search,
        text=text.memory_search,
        shown=("text", "limit", "success", "prefer", "task_type", "tag", "scope", "after"),
        memory=True,
    ),
    Tool(
        name="memory_record",
        description=(
            "Record a finished task: what was asked, what you tried, whether it worked, what to do the next "
            "time. Use it once at the end, for failures too. No secrets."
        ),
        request=MemoryRecordRequest,
        response=memory.Execution,
        run=_record,
        text=text.execution,
        shown=(
            "task_description",
            "success",
            "approach",
            "result",
            "error",
            "lesson",
            "documents_used",
            "tags",
            "task_type",
            "quality_score",
            "scope",
        ),
        notes={"scope": "project, user, session", "documents_used": "paths or citations"},
        writes=True,
        memory=True,
    ),
    Tool(
        name="memory_feedback",
        description="Say how a recorded run turned out later (build red, change reverted), by its id.",
        request=MemoryFeedbackRequest,
        response=memory.Execution,
        run=_feedback,
        text=text.execution,
        shown=("id", "success", "quality_score", "note", "by"),
        writes=True,
        memory=True,
    ),
)
