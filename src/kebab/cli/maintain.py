"""``kebab index``, ``doctor``, ``reset`` and ``schema``: keeping a knowledge base well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kebab.cli.confirm import agreed, typed_out
from kebab.cli.screen import wrap
from kebab.cli.session import INDEX, OneOf, Session, command
from kebab.cli.tables import pairs, seconds_of
from kebab.domain.plurals import count_of
from kebab.domain.reports import Check, CheckStatus, DoctorReport, IndexReport, ResetScope, SchemaReport

if TYPE_CHECKING:
    from kebab.cli.screen import Screen

SIGNS = {
    CheckStatus.OK: ("✓", "green"),
    CheckStatus.WARNING: ("!", "yellow"),
    CheckStatus.FAULT: ("✗", "red"),
    CheckStatus.REPAIRED: ("↻", "cyan"),
}
SCOPES = {
    ResetScope.INDEX: "the indexes; they are built again from the store",
    ResetScope.VECTORS: "the vector indexes and every cached vector",
    ResetScope.OLD_VECTORS: "vectors and vector indexes of every model but the configured one",
    ResetScope.DATA: "documents, indexes, runs and answers; your files, the inbox and the configuration stay",
    ResetScope.INBOX: "texts and files that were ingested from outside every source; there is no other copy",
    ResetScope.MEMORY: "the execution memory",
    ResetScope.CONFIG: "the configuration file",
    ResetScope.ALL: "documents, indexes, memory and configuration, but not the inbox",
}

DERIVED = (ResetScope.INDEX, ResetScope.VECTORS, ResetScope.OLD_VECTORS)
"""What `kebab index` builds again."""


@command("index")
@click.option("--embeddings", is_flag=True, help="Embed texts without a vector and update the vector index.")
@click.option("--lexical", is_flag=True, help="Update the index of words.")
@click.option("--rebuild", is_flag=True, help="Build from scratch instead of updating.")
@click.option("--model", metavar="ID", help="Embed with this model; searches keep using the configured one.")
@click.option("--batch-size", type=int, help="How many texts to embed at once.")
@click.option(
    "--resume/--no-resume", default=True, hidden=True, help="Only what is missing is ever embedded."
)
def index(
    session: Session,
    embeddings: bool,
    lexical: bool,
    rebuild: bool,
    model: str | None,
    batch_size: int | None,
    resume: bool,
) -> int:
    """Bring the search indexes up to date.

    Without options, updates the index of words and the vectors. A stopped run continues where it stopped.
    """
    from kebab import wire
    from kebab.cli.progress import watching

    with watching(session) as watch:
        report = session.kebab().index(
            embeddings=embeddings,
            lexical=lexical,
            rebuild=rebuild,
            model=model,
            batch_size=batch_size,
            progress=watch.progress,
            cancelled=watch.cancelled,
        )
    session.warn(report.degraded)
    session.put(wire.index_report(report), lambda: _indexed(report))
    return 1 if report.cancelled else 0


def _indexed(report: IndexReport) -> str:
    parts = [f"words: {count_of(report.lexical_chunks, 'chunk')}", f"vectors: {report.vector_chunks}"]
    if report.embedded:
        parts.append(f"newly embedded: {report.embedded}")
    if report.missing:
        parts.append(f"still without a vector: {report.missing}")
    model = f" · model {report.model}" if report.model else ""
    done = "stopped early" if report.cancelled else "rebuilt" if report.rebuilt else "up to date"
    return f"{done}: {', '.join(parts)}{model} · {seconds_of(report.duration_ms)}"


@command("doctor")
@INDEX
@click.option("--repair", is_flag=True, help="Rebuild what is derived; read damaged documents again.")
@click.option("--full", is_flag=True, help="Read every stored document and vector, not samples.")
def doctor(session: Session, repair: bool, full: bool) -> int:
    """Check everything; --repair fixes what it can.

    Exits with status 3 if a fault remains.
    """
    from kebab import wire
    from kebab.cli.progress import reporting

    # A look at samples takes no longer than a search: its JSON is one document.
    with reporting(session, lines=repair or full) as progress:
        report = session.kebab().doctor(repair=repair, full=full, progress=progress)
    session.put(wire.doctor(report), lambda: _checks(report, session.screen))
    return 0 if report.healthy else 3


def _checks(report: DoctorReport, screen: Screen) -> str:
    size = max((len(check.name) for check in report.checks), default=0)
    lines = [line for check in report.checks for line in _check(check, size, screen)]
    network = ", ".join(report.endpoints) if report.endpoints else "none; kebab contacts nothing"
    faults = sum(check.status is CheckStatus.FAULT for check in report.checks)
    warnings = sum(check.status is CheckStatus.WARNING for check in report.checks)
    verdict = f"no fault, {warnings} to look at" if warnings else "everything is well"
    if faults:
        verdict = f"{faults} of {len(report.checks)} checks found a fault"
    return "\n".join([*lines, f"  {screen.dim('network addresses: ')}{network}", screen.bold(verdict)])


def _check(check: Check, size: int, screen: Screen) -> list[str]:
    sign, color = SIGNS[check.status]
    lines = [f"{screen.style(sign, fg=color)} {check.name:<{size}}  {check.detail}"]
    return [*lines, f"  {'':<{size}}  {screen.dim('hint: ' + check.hint)}"] if check.hint else lines


@command("reset", epilog="Scopes: " + "; ".join(f"{name}: {what}" for name, what in SCOPES.items()) + ".")
@click.argument("scope", type=OneOf(ResetScope), default=ResetScope.DATA)
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
def reset(session: Session, scope: ResetScope, yes: bool) -> int:
    """Delete derived data, all data or the configuration.

    The default scope is data. Your documents are never deleted, and the inbox only by `reset inbox`. For data
    that cannot be rebuilt you are asked to type the path of the knowledge base. Exits with status 1 if you do
    not confirm.
    """
    from kebab import wire

    kebab = session.kebab()
    session.warn([f"reset {scope} deletes from {session.place()}: {SCOPES[scope]}"])
    if not _confirmed(scope, str(kebab.settings.data_dir), yes=yes):
        session.say("nothing was deleted")
        return 1
    report = kebab.reset(scope)
    session.put(wire.reset_report(report), lambda: "\n".join(f"removed {path}" for path in report.removed))
    for path in report.kept:
        session.say(f"kept {path}: there is no other copy of these texts; `kebab reset inbox` removes them")
    if not report.removed:
        session.say("there was nothing to delete")
    return 0


def _confirmed(scope: ResetScope, data_dir: str, *, yes: bool) -> bool:
    """By typing the path where something goes that no command brings back; it names what one may not mean."""
    command = f"kebab reset {scope}"
    if scope in DERIVED:
        return agreed("Delete it?", yes=yes, command=command)
    return typed_out("Type the path to delete it", data_dir, yes=yes, command=command)


@command("schema")
@INDEX
def schema(session: Session) -> None:
    """Show capabilities, versions, schemas and statistics."""
    from kebab import wire

    report = session.kebab().schema()
    session.put(wire.schema(report, wire=wire.names()), lambda: _schema(report, wire.names(), session.screen))


def _schema(report: SchemaReport, names: list[str], screen: Screen) -> str:
    able = sorted(name for name, there in report.capabilities.items() if there)
    sections = [
        (
            "versions",
            pairs([("kebab", report.kebab_version), *sorted(report.versions.items())], screen=screen),
        ),
        ("statistics", pairs([(key, _shown(value)) for key, value in report.stats.items()], screen=screen)),
        ("capabilities", _wrapped(able, screen)),
        ("wire schemas", _wrapped(names, screen)),
    ]
    return "\n\n".join(f"{screen.bold(title)}\n{text}" for title, text in sections if text)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {count}" for key, count in value.items()) or "–"
    return str(value)


def _wrapped(names: list[str], screen: Screen) -> str:
    text = ", ".join(names)
    return "\n".join(text[start:end] for start, end in wrap(text, screen.columns))
