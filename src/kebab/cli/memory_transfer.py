"""``kebab memory import|export|prune|embed``: the memory as a whole."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

import click

from kebab.cli.memory_group import memory
from kebab.cli.session import FORCE, Session, command
from kebab.domain.plurals import count_of
from kebab.errors import InvalidInput

FORMATS = ("kebab", "claude-code", "codex", "otel")


@command("import", parent=memory)
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="kebab", show_default=True, help="What wrote it."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be recorded.")
@click.option("--keep-secrets", is_flag=True, help="Do not take keys, tokens and passwords out of texts.")
def import_file(session: Session, file: Path, form: str, dry_run: bool, keep_secrets: bool) -> int:
    """Record what a file holds; - is stdin. A folder of session logs may be named, too.

    kebab: ndjson as written by export. claude-code, codex: session logs, each turn a run with its parent.
    otel: OpenTelemetry spans of generative models as JSON. A line that is wrong is reported with its number
    and costs no other line. Importing a file twice records nothing twice.
    """
    from kebab.wire import memory as wire

    kept = session.kebab().memory
    with ExitStack() as opened:
        files = _files(file, opened)
        report = kept.import_from(form, files, dry_run=dry_run, redact=not keep_secrets)
    session.warn(f"line {failure.line}: {failure.message}" for failure in report.failures)
    session.say(f"{report.new} new, {report.replaced} replaced, {report.same} the same, {report.links} links")
    if report.redacted:
        session.say(f"{report.redacted} secrets were taken out")
    done = "would record" if dry_run else "recorded"
    session.put(
        wire.memory_import(report, dry_run=dry_run),
        lambda: f"{done} {report.recorded}, failed {len(report.failures)}",
    )
    return 1 if report.failures else 0


@command("export", parent=memory)
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--no-vectors", is_flag=True, help="Without embeddings: a tenth of the size.")
@FORCE
def export_file(session: Session, file: Path | None, no_vectors: bool, force: bool) -> None:
    """Write every record and edge as ndjson, to a file or to stdout."""
    from kebab.disk.named_files import named_file
    from kebab.domain.controls import harmless_json

    lines = session.kebab().memory.export_lines(vectors=not no_vectors)
    if file is None:
        for line in lines:
            click.echo(harmless_json(line.encode()))
        return
    with named_file(file, force=force) as out:
        count = sum(1 for line in lines if out.write(f"{line}\n".encode()))
    session.say(f"wrote {count_of(count, 'record')} to {file}")


@command("prune", parent=memory)
@click.option("--older-than", required=True, type=click.FloatRange(0), metavar="DAYS", help="Age in days.")
@click.option("--dry-run", is_flag=True, help="Only say how many there are.")
@click.option("--yes", is_flag=True, help="Remove everything without asking.")
def prune(session: Session, older_than: float, dry_run: bool, yes: bool) -> None:
    """Remove runs and task records that are older than so many days, and what has expired.

    Learning curves keep the days of removed runs.
    """
    from kebab.wire import memory as wire
    from kebab.wire.requests.memory import MemoryPruneRequest

    asked = MemoryPruneRequest.of(older_than_days=older_than, dry_run=dry_run)
    kept, age = session.kebab().memory, timedelta(days=asked.older_than_days)
    found = kept.prune(older_than=age, dry_run=True)
    if not dry_run:
        if found.everything and not yes:
            _confirm(session, found.executions + found.tasks)
        found = kept.prune(older_than=age)
    shape = wire.MemoryChange(
        action="pruned", executions=found.executions, tasks=found.tasks, dry_run=dry_run
    )
    tasks = f" and {found.tasks} task records" if found.tasks else ""
    session.put(shape, lambda: f"{'would remove' if dry_run else 'removed'} {found.executions}{tasks}")


@command("embed", parent=memory)
def embed(session: Session) -> None:
    """Give every record a vector of the configured model."""
    from kebab.wire import memory as wire

    count = session.kebab().memory.embed_missing()
    session.put(wire.MemoryChange(action="embedded", executions=count), lambda: f"embedded {count}")


def _confirm(session: Session, count: int) -> None:
    question = f"this removes all {count} records of the memory"
    if session.json or not sys.stdin.isatty():
        raise InvalidInput(question, hint="confirm with --yes")
    click.confirm(f"{question}. Go on?", abort=True, err=True)


def _files(path: Path, opened: ExitStack) -> list[BinaryIO]:
    """The file, or the session logs of a folder in order of name; closed with ``opened``."""
    if str(path) == "-":
        return [sys.stdin.buffer]
    try:
        paths = sorted(path.rglob("*.json*")) if path.is_dir() else [path]
        return [opened.enter_context(each.open("rb")) for each in paths if not each.is_dir()]
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
