"""``kebab export`` and ``kebab import``: a knowledge base in one file."""

from __future__ import annotations

from pathlib import Path

import click

from kebab.cli.session import Session, command


@command("export")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def export(session: Session, file: Path) -> None:
    """Write everything into one portable bundle.

    It can be searched elsewhere without the sources.
    """
    from kebab import wire

    report = session.kebab().export_bundle(file)
    session.put(wire.bundle_report(report), lambda: _summary("wrote", report))


@command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def import_bundle(session: Session, file: Path) -> None:
    """Open a bundle as the knowledge base here.

    Refused where documents are already stored, and when its vectors are of another model.
    """
    from kebab import wire

    report = session.kebab().import_bundle(file)
    session.put(wire.bundle_report(report), lambda: _summary("read", report))
