"""``kebab export`` and ``kebab import``: a knowledge base in one file."""

from __future__ import annotations

from pathlib import Path

import click

from kebab.cli.session import FORCE, Session, command
from kebab.cli.tables import size_of
from kebab.domain.plurals import count_of
from kebab.domain.reports import BundleReport
from kebab.errors import InvalidInput


@command("export")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@FORCE
def export(session: Session, file: Path, force: bool) -> None:
    """Write the knowledge base to one portable file.

    It can be searched on another computer without your documents.
    """
    if str(file) == "-":
        raise InvalidInput("a bundle is not written to stdout", hint="name a file: kebab export notes.kebab")
    from kebab import wire
    from kebab.cli.progress import reporting

    with reporting(session) as progress:
        report = session.kebab().export_bundle(file, force=force, progress=progress)
    session.put(wire.bundle_report(report), lambda: _summary("wrote", report))
    session.warn(report.degraded)


@command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace what is stored here; embed again if the models differ.")
def import_bundle(session: Session, file: Path, force: bool) -> None:
    """Replace the knowledge base with a bundle.

    Stops if documents are already stored, or if the vectors come from another model.
    """
    from kebab import wire
    from kebab.cli.progress import reporting

    with reporting(session) as progress:
        report = session.kebab().import_bundle(file, force=force, progress=progress)
    session.put(wire.bundle_report(report), lambda: _summary("read", report))
    session.warn(report.degraded)


def _summary(did: str, report: BundleReport) -> str:
    models = f" · vectors of {', '.join(report.models)}" if report.models else " · no vectors"
    counts = f"{count_of(report.documents, 'document')}, {count_of(report.chunks, 'chunk')}"
    return f"{did} {report.path}: {counts}{models} · {size_of(report.byte_len)}"
