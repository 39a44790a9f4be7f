"""``kebab memory record|search|similar|…``: record what agents did, and find it again."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import IO, TYPE_CHECKING, Any

import click

from kebab.cli import memory_view as view
from kebab.cli.memory_filters import counts_of, execution_filters, pairs_of, scalars_of
from kebab.cli.memory_group import HALF_LIFE, LIMIT, MIN_SCORE, PREFER, TYPE, found_or_say, memory
from kebab.cli.session import Session, command
from kebab.cli.times import moment
from kebab.domain.executions import Execution, ExecutionFilters, TaskRecord, execution_id
from kebab.domain.plurals import count_of
from kebab.errors import InvalidInput

if TYPE_CHECKING:
    from kebab.domain.recalls import Recalled
    from kebab.memory.shape import Linked


@command("record", parent=memory)
@click.argument("description", required=False)
@click.option("--agent", help="Which agent ran.")
@click.option("--role", help="In which role.")
@click.option("--task-id", help="The task's id where it came from; by default the description's words.")
@click.option("--type", "task_type", metavar="TYPE", default="task", show_default=True, help="Kind of task.")
@click.option("--success/--failure", default=True, show_default=True, help="How it ended.")
@click.option("--error", help="What went wrong.")
@click.option("--quality", type=click.FloatRange(0, 1), help="0 to 1; by default 1 or, for a failure, 0.")
@click.option("--latency-ms", type=click.IntRange(0), default=0, help="How long it took.")
@click.option("--cost-cents", type=click.FloatRange(0), default=0, help="What it cost; may be a fraction.")
@click.option("--approach", help="What was tried.")
@click.option("--result", help="What came of it.")
@click.option("--lesson", help="What to do the next time.")
@click.option("--tag", "tags", multiple=True, help="May be repeated.")
@click.option("--scope", multiple=True, metavar="NAME=VALUE", help="project=, user= or session=.")
@click.option("--meta", multiple=True, metavar="NAME=VALUE", help="Flat metadata; may be repeated.")
@click.option("--tokens", multiple=True, metavar="NAME=COUNT", help="Such as input=900; may be repeated.")
@click.option("--expires-at", metavar="TIME", help="From then on it is not found any more.")
@click.option("--provider", default="unknown", show_default=True, help="Whose model ran it.")
@click.option("--started-at", metavar="TIME", help="ISO 8601; by default the end minus the latency.")
@click.option("--finished-at", metavar="TIME", help="ISO 8601; by default now.")
@click.option("--document", "documents", multiple=True, help="A document it used; may be repeated.")
@click.option("--parent", metavar="ID", help="The execution that led to it.")
@click.option("--id", "key", metavar="ID", help="By default made from agent, task and start.")
@click.option("--from-json", type=click.File("rb"), metavar="FILE", help="Read an execution.v1 or task.v1.")
def record(session: Session, from_json: IO[bytes] | None, **given: Any) -> None:
    """Record one run of an agent's task.

    Recording the same id again replaces the agent's own record; another agent's is a conflict. Secrets are
    taken out of texts. With --from-json (- is stdin) all of it comes from there.
    """
    item = _read(from_json) if from_json else _described(**given)
    kept = session.kebab().memory
    if isinstance(item, Execution):
        saved = kept.record(item)
        session.put(lambda: _wire().execution(saved), lambda: saved.id)
    elif isinstance(item, TaskRecord):
        task = kept.record_task(item)
        session.put(lambda: _wire().task(task), lambda: task.id)
    else:
        kept.link(item.cause, item.effect)
        session.say(f"{item.cause} led to {item.effect}")


@command("search", parent=memory)
@click.argument("text")
@LIMIT
@PREFER
@MIN_SCORE
@HALF_LIFE
@click.option("--words", is_flag=True, help="By words alone.")
@execution_filters
def search(
    session: Session,
    text: str,
    limit: int,
    prefer: str | None,
    words: bool,
    filters: ExecutionFilters,
    **options: Any,
) -> int:
    """Find runs like this one, by words and by meaning.

    Shows how each run ended, what it cost, how relevant it is and the score of each signal. Exits with status
    1 if nothing like it was done before.
    """
    from kebab.wire.requests.memory import MemorySearchRequest

    asked = MemorySearchRequest.of(text=text, limit=limit, prefer=prefer, words=words, **options)
    kept = session.kebab().memory
    find = kept.search_words if words else kept.hybrid_search
    found = find(asked.text, limit=asked.limit, filters=filters, prefer=asked.prefer, **options)
    return _shown(session, text, "lexical" if words else "hybrid", found)


@command("similar", parent=memory)
@click.argument("text", required=False, default="")
@click.option("--embedding", type=click.File("r"), metavar="FILE", help="A JSON list of numbers; - is stdin.")
@click.option("--model", help="The embedding's model, where several have its length.")
@LIMIT
@PREFER
@MIN_SCORE
@HALF_LIFE
@execution_filters
def similar(
    session: Session,
    text: str,
    embedding: IO[str] | None,
    model: str | None,
    limit: int,
    prefer: str | None,
    filters: ExecutionFilters,
    **options: Any,
) -> int:
    """Find runs that mean the same, whatever their words.

    Takes a text, or an embedding made by the model of the recorded runs.
    """
    from kebab.wire.requests.memory import MemorySimilarRequest

    numbers = _numbers(embedding.read()) if embedding else None
    asked = MemorySimilarRequest.of(
        text=text, embedding=numbers, model=model, limit=limit, prefer=prefer, **options
    )
    found = session.kebab().memory.find_similar_executions(
        asked.text,
        embedding=asked.embedding,
        embedding_model=asked.model,
        limit=asked.limit,
        filters=filters,
        prefer=asked.prefer,
        **options,
    )
    return _shown(session, text, "vector", found)


@command("tasks", parent=memory)
@click.argument("text")
@LIMIT
@MIN_SCORE
def tasks(session: Session, text: str, limit: int, min_score: float | None) -> int:
    """Find free-form task records, by words and by meaning."""
    from kebab.wire import memory as wire
    from kebab.wire.requests.memory import MemoryTasksRequest

    asked = MemoryTasksRequest.of(text=text, limit=limit, min_score=min_score)
    found = session.kebab().memory.find_similar_rlm_tasks(**asked.arguments)
    session.warn(f"{note.part} did not take part: {note.message}" for note in found.degraded)
    session.put(wire.task_search(text, found), lambda: view.task_hits(found, session.screen))
    return found_or_say(session, found.hits, "no task record is like this")


@command("list", parent=memory)
@LIMIT
@click.option("--offset", default=0, type=int, help="Skip this many of the newest.")
@execution_filters
def list_executions(session: Session, limit: int, offset: int, filters: ExecutionFilters) -> int:
    """List runs, newest first."""
    from kebab.wire import memory as wire
    from kebab.wire.requests.memory import MemoryListRequest

    asked = MemoryListRequest.of(limit=limit, offset=offset)
    found = session.kebab().memory.select(filters, limit=asked.limit, offset=asked.offset)
    session.put(wire.execution_list(found), lambda: view.executions(found, session.screen))
    return found_or_say(session, found, "no recorded run fits")


@command("curve", parent=memory)
@click.argument("agent")
@TYPE
def curve(session: Session, agent: str, task_type: str | None) -> int:
    """Show an agent's days and whether it gets better."""
    from kebab.wire import memory as wire

    found = session.kebab().memory.learning_curve(agent, task_type)
    session.put(wire.learning_curve(found), lambda: view.curve(found, session.screen) if found.days else "")
    return found_or_say(session, found.days, f"no run of {agent} is recorded")


@command("agents", parent=memory)
@TYPE
@click.option("--half-life", default=30.0, show_default=True, metavar="DAYS", help="When a run counts half.")
def agents(session: Session, task_type: str | None, half_life: float) -> int:
    """Rank agents by what they achieve at the least.

    The order is that of the lower end of a 95 % interval: three lucky runs do not pass fifty good ones.
    """
    from kebab.wire import memory as wire
    from kebab.wire.requests.memory import MemoryAgentsRequest

    asked = MemoryAgentsRequest.of(task_type=task_type, half_life_days=half_life)
    found = session.kebab().memory.rank_agents(task_type, half_life_days=asked.half_life_days)
    session.put(wire.agent_ranking(task_type, found), lambda: view.agents(found, session.screen))
    return found_or_say(session, found, "no recorded run fits")


@command("causes", parent=memory)
@click.argument("execution")
def causes(session: Session, execution: str) -> int:
    """Show what led to a run, nearest first."""
    from kebab.wire import memory as wire

    found = session.kebab().memory.trace_causes(execution)
    session.put(wire.cause_trace(execution, found), lambda: view.causes(found, session.screen))
    return found_or_say(session, found, f"nothing is recorded that led to {execution}")


@command("documents", parent=memory)
@click.argument("task")
@LIMIT
def documents(session: Session, task: str, limit: int) -> int:
    """Show which documents helped with tasks like this one."""
    from kebab.wire import memory as wire
    from kebab.wire.requests.memory import MemoryDocumentsRequest

    asked = MemoryDocumentsRequest.of(task=task, limit=limit)
    found = session.kebab().memory.documents_that_helped(**asked.arguments)
    session.put(wire.helpful_documents(task, found), lambda: view.documents(found, session.screen))
    return found_or_say(session, found, "no document is known to have helped with a task like this")


@command("stats", parent=memory)
def stats(session: Session) -> None:
    """Count what the memory holds."""
    from kebab.wire import memory as wire

    found = session.kebab().memory.stats()
    session.put(wire.memory_stats(found), lambda: view.stats(found, session.screen))


def _shown(session: Session, text: str, mode: str, found: Recalled) -> int:
    session.warn(f"{note.part} did not take part: {note.message}" for note in found.degraded)
    if found.withheld:
        few = f"{count_of(found.withheld, 'run is', 'runs are')} near, and not relevant enough"
        few += "; --min-score 0 shows all"
        session.say(few if found.hits else f"nothing like this was done before; {few}")
    elif not found.hits:
        session.say("nothing like this was done before")
    session.put(lambda: _wire().execution_search(text, mode, found), lambda: view.hits(found, session.screen))
    return 0 if found.hits else 1


def _wire() -> Any:
    from kebab.wire import memory as wire

    return wire


def _read(file: IO[bytes]) -> Execution | TaskRecord | Linked:
    from kebab.memory.shape import parse_line

    try:
        return parse_line(file.read().decode())
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the record is not UTF-8: {error.reason}") from error


def _described(
    *,
    description: str | None,
    agent: str | None,
    role: str | None,
    task_id: str | None,
    success: bool,
    quality: float | None,
    latency_ms: int,
    started_at: str | None,
    finished_at: str | None,
    documents: tuple[str, ...],
    key: str | None,
    scope: tuple[str, ...],
    meta: tuple[str, ...],
    tokens: tuple[str, ...],
    expires_at: str | None,
    **rest: Any,
) -> Execution:
    if not description or not agent:
        raise InvalidInput(
            "a description and --agent are needed", hint="or read a record with: --from-json FILE"
        )
    end = moment(finished_at) or (moment(started_at) or datetime.now(UTC)) + (
        timedelta(milliseconds=latency_ms) if started_at else timedelta()
    )
    start = moment(started_at) or end - timedelta(milliseconds=latency_ms)
    task = task_id or " ".join(description.split()[:8])
    return Execution(
        id=key or execution_id(agent_id=agent, task_id=task, started_at=start),
        agent_id=agent,
        agent_role=role,
        task_id=task,
        task_description=description,
        success=success,
        quality_score=float(success) if quality is None else quality,
        latency_ms=latency_ms,
        started_at=start,
        finished_at=end,
        documents_used=documents,
        scope=pairs_of(scope, option="--scope"),
        metadata=scalars_of(meta, option="--meta"),
        tokens=counts_of(tokens, option="--tokens"),
        expires_at=moment(expires_at),
        **rest,
    )


def _numbers(text: str) -> list[float]:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"the embedding is not JSON: {error}") from error
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise InvalidInput("the embedding is not a JSON list of numbers")
    return values
