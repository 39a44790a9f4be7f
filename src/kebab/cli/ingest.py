"""``kebab ingest``: bring the knowledge base in line with the files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kebab.cli.session import Session, command
from kebab.cli.tables import seconds_of
from kebab.domain.controls import harmless_line
from kebab.domain.ingests import IngestItem, IngestReport, Outcome, RunStatus
from kebab.domain.plurals import count_of
from kebab.errors import InvalidInput

if TYPE_CHECKING:
    from kebab.cli.screen import Screen

SHOWN = 10
"""How many failed files are listed by name; ``kebab list items`` lists all."""


@command("ingest")
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
@click.option("--force", is_flag=True, help="Process unchanged files again.")
@click.option("--summary-only", is_flag=True, help="Report the totals, not each file.")
@click.option(
    "--allow-mass-delete",
    is_flag=True,
    help="Allow more than half of a source, or a whole source, to be removed.",
)
@click.option(
    "--on",
    metavar="RAY",
    help="Read and embed large runs on a Ray cluster: ray://HOST:PORT, or ray to start one here.",
)
@click.option("--title", help="Title of the text from stdin, with the path -.")
def ingest(
    session: Session,
    paths: tuple[Path, ...],
    dry_run: bool,
    force: bool,
    summary_only: bool,
    allow_mass_delete: bool,
    on: str | None,
    title: str | None,
) -> int:
    """Index new and changed files, and remove deleted ones.

    Without PATHS, reads all sources. With PATHS, reads only those files or folders; - reads
    a text from stdin. Ctrl-C stops after the current file. Exits with status 1 if a file failed.
    """
    from kebab import wire
    from kebab.cli.progress import watching

    session.kebab(overrides={} if on is None else {"ingest.on": on})
    with watching(session) as watch:
        if Path("-") in paths:
            text = _stdin(paths, title)
            report = session.kebab().ingest_text(
                text, title=title or "", dry_run=dry_run, progress=watch.progress
            )
        else:
            report = session.kebab().ingest(
                paths,
                dry_run=dry_run,
                force=force,
                allow_mass_delete=allow_mass_delete,
                progress=watch.progress,
                cancelled=watch.cancelled,
            )
    session.warn(report.degraded)
    session.put(
        wire.ingest_report(report, summary_only=summary_only, dry_run=dry_run),
        lambda: summary(report, screen=session.screen, dry_run=dry_run, files=not summary_only),
    )
    session.say(f"knowledge base: {session.place()}")
    if report.run.failed and session.kebab().settings.file is None:
        session.warn(
            ["there is no configuration file; create one for a folder of notes with: kebab init FOLDER"]
        )
    return 0 if report.run.status is RunStatus.COMPLETED and not report.run.failed else 1


def _stdin(paths: tuple[Path, ...], title: str | None) -> bytes:
    if len(paths) > 1 or not title:
        raise InvalidInput(
            "a text from stdin needs a title and cannot be combined with other paths",
            hint="use: kebab ingest - --title TITLE",
        )
    return sys.stdin.buffer.read()


def summary(report: IngestReport, *, screen: Screen, dry_run: bool, files: bool) -> str:
    """One line of totals on every end, then why files were skipped, then the files that failed."""
    lines = [_totals(report, screen, dry_run=dry_run)]
    if report.skipped_by_reason:
        lines.append(screen.dim("skipped: ") + _counts(report.skipped_by_reason))
    if report.skipped_by_extension:
        lines.append(screen.dim("  of type: ") + _counts(report.skipped_by_extension))
    if files:
        changed = (
            [i for i in report.items if i.outcome in (Outcome.INDEXED, Outcome.REMOVED)] if dry_run else []
        )
        lines += [_item(item, screen) for item in changed]
        lines += _trouble([i for i in report.items if i.outcome is Outcome.FAILED or i.warnings], screen)
    return "\n".join(lines)


def _totals(report: IngestReport, screen: Screen, *, dry_run: bool) -> str:
    run = report.run
    counts = [(run.indexed, "indexed"), (run.unchanged, "unchanged"), (run.removed, "removed")]
    counts += [(run.skipped, "skipped"), (run.failed, "failed")]
    told = ", ".join(f"{count} {name}" for count, name in counts if count) or "nothing to do"
    made = (
        f" · {count_of(run.chunks, 'chunk')}, {run.embedded} embedded" if run.chunks or run.embedded else ""
    )
    ends = {RunStatus.CANCELLED: "stopped early: ", RunStatus.FAILED: f"failed ({run.error}): "}
    head = "would be: " if dry_run else ends.get(run.status, "")
    return screen.bold(f"{head}{told}") + f"{made} · {seconds_of(run.duration_ms)}"


def _counts(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name or 'no extension'} {count}" for name, count in ordered[:SHOWN])


def _trouble(items: list[IngestItem], screen: Screen) -> list[str]:
    lines = [_item(item, screen) for item in items[:SHOWN]]
    return [*lines, f"… and {len(items) - SHOWN} more: kebab list items"] if len(items) > SHOWN else lines


def _item(item: IngestItem, screen: Screen) -> str:
    color = {Outcome.FAILED: "red", Outcome.REMOVED: "yellow"}.get(item.outcome, "green")
    said = item.reason or "; ".join(item.warnings)
    told = harmless_line(f"{item.path or item.source_id}" + (f": {said}" if said else ""))
    return f"  {screen.style(item.outcome.value, fg=color)}  {told}"
