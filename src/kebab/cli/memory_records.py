"""``kebab memory get|update|delete|feedback|advise|…``: single records, and what they say together."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import IO, Any

import click

from kebab.cli import memory_view as view
from kebab.cli.memory_filters import execution_filters
from kebab.cli.memory_group import MIN_SCORE, found_or_say, memory
from kebab.cli.session import Session, command
from kebab.domain.executions import Execution, ExecutionFilters, Feedback
from kebab.errors import InvalidInput


@command("get", parent=memory)
@click.argument("record_id", metavar="ID")
@click.option("--embedding", is_flag=True, help="With its vector.")
def get(session: Session, record_id: str, embedding: bool) -> None:
    """Show all that is known of one record."""
    from kebab.wire import memory as wire

    found = session.kebab().memory.get(record_id)
    if isinstance(found, Execution):
        session.put(wire.execution(found, embedding=embedding), lambda: view.record(found, session.screen))
    else:
        session.put(wire.task(found), lambda: view.record(found, session.screen))


@command("update", parent=memory)
@click.argument("record_id", metavar="ID")
@click.argument("changes", nargs=-1, metavar="FIELD=VALUE...")
@click.option("--from-json", type=click.File("rb"), metavar="FILE", help="An object of fields; - is stdin.")
def update(session: Session, record_id: str, changes: tuple[str, ...], from_json: IO[bytes] | None) -> None:
    """Change fields of a recorded run.

    A value that is JSON is taken as that (true, 3, ["ci"]), anything else as text; null clears a field.
    """
    from kebab.memory.shape import changes_from_json
    from kebab.wire import memory as wire

    given = _object(from_json.read()) if from_json else {}
    given |= dict(_change(each) for each in changes)
    if not given:
        raise InvalidInput("no change was given", hint="such as: kebab memory update ID success=false")
    saved = session.kebab().memory.update(record_id, changes_from_json(given))
    session.put(wire.execution(saved), lambda: view.record(saved, session.screen))


@command("delete", parent=memory)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def delete(session: Session, ids: tuple[str, ...]) -> int:
    """Forget records and their edges. Exits with status 1 if none of them exists."""
    from kebab.wire import memory as wire

    count = session.kebab().memory.delete(ids)
    session.put(wire.MemoryChange(action="deleted", executions=count), lambda: f"deleted {count}")
    return 0 if count else 1


@command("feedback", parent=memory)
@click.argument("record_id", metavar="ID")
@click.option("--success/--failure", default=None, help="How it turned out.")
@click.option("--quality", type=click.FloatRange(0, 1), help="0 to 1.")
@click.option("--note", default="", help="What was seen.")
@click.option("--by", default="", help="Who says so.")
@click.option("--lesson", help="What to do the next time; replaces the one there is.")
@click.option("--error", help="What went wrong; replaces the one there is.")
def feedback(
    session: Session,
    record_id: str,
    success: bool | None,
    quality: float | None,
    note: str,
    by: str,
    **texts: str | None,
) -> None:
    """Say how a run turned out later: a red build, a reverted change."""
    from kebab.wire import memory as wire

    changes = {name: text for name, text in texts.items() if text is not None}
    if success is None and quality is None and not note and not changes:
        raise InvalidInput("no feedback was given", hint="use --success, --failure, --quality or --note")
    given = Feedback(at=datetime.now(UTC), by=by, success=success, quality_score=quality, note=note)
    saved = session.kebab().memory.feedback(record_id, given, changes)
    session.put(wire.execution(saved), lambda: view.record(saved, session.screen))


@command("advise", parent=memory)
@click.argument("task")
@click.option("--max-tokens", default=400, show_default=True, type=int, help="Budget, 20 to 100,000.")
@MIN_SCORE
@execution_filters
def advise(
    session: Session, task: str, max_tokens: int, min_score: float | None, filters: ExecutionFilters
) -> int:
    """Say what was tried before, what worked and what to do differently.

    The shortest useful summary for an agent's prompt. Exits with status 1 if nothing like it was done before.
    """
    from kebab.wire import memory as wire
    from kebab.wire.requests.memory import MemoryAdviseRequest

    asked = MemoryAdviseRequest.of(task=task, max_tokens=max_tokens, min_score=min_score)
    found = session.kebab().memory.advise(
        asked.task, max_tokens=asked.max_tokens, min_score=asked.min_score, filters=filters
    )
    session.warn(f"{note.part} did not take part: {note.message}" for note in found.degraded)
    if not found.groups:
        session.say("nothing like this was done before")
    session.put(wire.memory_advice(found), lambda: view.advice(found))
    return 0 if found.groups else 1


@command("effects", parent=memory)
@click.argument("execution")
def effects(session: Session, execution: str) -> int:
    """Show what a run led to, nearest first."""
    from kebab.wire import memory as wire

    found = session.kebab().memory.trace_effects(execution)
    session.put(wire.effect_trace(execution, found), lambda: view.causes(found, session.screen, arrow="→"))
    return found_or_say(session, found, f"nothing is recorded that {execution} led to")


@command("uses", parent=memory)
@click.argument("document")
@click.option("-k", "--limit", default=50, show_default=True, type=click.IntRange(1, 1000), help="How many.")
def uses(session: Session, document: str, limit: int) -> int:
    """List the runs that used a document, newest first."""
    from kebab.wire import memory as wire

    found = session.kebab().memory.users_of(document)[:limit]
    session.put(wire.execution_list(found), lambda: view.executions(found, session.screen))
    return found_or_say(session, found, f"no recorded run used {document}")


@command("link", parent=memory)
@click.argument("cause")
@click.argument("effect")
def link(session: Session, cause: str, effect: str) -> None:
    """State that one run led to another."""
    from kebab.wire import memory as wire

    session.kebab().memory.link(cause, effect)
    session.put(wire.MemoryChange(action="linked", executions=2), lambda: "")
    session.say(f"{cause} led to {effect}")


def _change(given: str) -> tuple[str, Any]:
    name, sign, value = given.partition("=")
    if not name or not sign:
        raise InvalidInput(f"{given!r} is not FIELD=VALUE", hint="such as success=false")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _object(content: bytes) -> dict[str, Any]:
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the changes are not JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidInput("the changes are not a JSON object")
    return values
