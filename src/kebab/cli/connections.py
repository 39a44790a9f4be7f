"""``kebab links`` and ``kebab related``: how notes are connected."""

from __future__ import annotations

from collections.abc import Iterator

import click

from kebab.cli import render
from kebab.cli.filters import filter_options
from kebab.cli.screen import Screen, clip
from kebab.cli.session import INDEX, Session, command
from kebab.domain.connections import BackLink, LinkReport, OutLink, RelatedNote, RelatedReport
from kebab.domain.controls import harmless_line
from kebab.domain.queries import SearchFilters

INDENT = "  "


@command("links")
@INDEX
@click.argument("note")
@filter_options
def links(session: Session, note: str, filters: SearchFilters) -> int:
    """Show the links of a note: out, back and broken.

    NOTE is an id, the beginning of one, a path, or what a wikilink to the note would say. Notes that the
    filters leave out do not exist for it. Exits with status 1 if there is no link at all.
    """
    from kebab import wire

    report = session.kebab().links(note, filters=filters)
    session.warn(map(render.degradation, report.degraded))
    session.put(lambda: wire.links(report), lambda: "\n".join(_links(report, session.screen)))
    counts = f"{len(report.out)} out, {len(report.back)} back, {len(report.broken)} broken"
    session.say(f"{report.note.path}: {counts}")
    return 0 if report.out or report.back else 1


@command("related")
@INDEX
@click.argument("note")
@click.option("-k", "k", type=int, help="How many notes, up to 1000; default 10.")
@filter_options
def related(session: Session, note: str, k: int | None, filters: SearchFilters) -> int:
    """Find the notes near to a note, and say why.

    They are near by the meaning of the whole note, by links or by tags. NOTE is an id, the beginning of one,
    a path, or what a wikilink to the note would say. Exits with status 1 if nothing was found.
    """
    from kebab import wire

    report = session.kebab().related(note, k=k, filters=filters)
    session.warn(map(render.degradation, report.degraded))
    session.put(lambda: wire.related(report), lambda: _related(report, session.screen))
    if not report.related:
        session.say(f"nothing is near {report.note.path}")
    return 0 if report.related else 1


def _links(report: LinkReport, screen: Screen) -> Iterator[str]:
    """A block for each kind that there is; piped, each line begins with the kind and a tab."""
    sound = [link for link in report.out if link.reason is None]
    blocks = (
        ("out", [_out(link, screen) for link in sound]),
        ("back", [_back(link, screen) for link in report.back]),
        ("broken", [_broken(link, screen) for link in report.broken]),
    )
    for name, lines in blocks:
        if screen.terminal and lines:
            yield screen.bold(name)
        yield from (f"{INDENT}{line}" if screen.terminal else f"{name}\t{line}" for line in lines)


def _out(link: OutLink, screen: Screen) -> str:
    place = link.place.uri if link.place else link.note.path if link.note else link.target
    kind = "" if link.note else screen.dim("  a file, not checked")
    return f"{_from(link, screen)}{screen.style(harmless_line(place), fg='cyan')}{kind}"


def _broken(link: OutLink, screen: Screen) -> str:
    return (
        f"{_from(link, screen)}{harmless_line(link.target)}{_gap(screen)}{harmless_line(link.reason or '')}"
    )


def _back(link: BackLink, screen: Screen) -> str:
    cited = screen.style(harmless_line(link.citation.uri), fg="cyan")
    text = harmless_line(link.text)
    return f"{cited}{_gap(screen)}{clip(text, 100) if screen.terminal else text}"


def _from(link: OutLink, screen: Screen) -> str:
    line = f"L{link.citation.start}"
    return f"{line:<6}" if screen.terminal else f"{line}\t"


def _gap(screen: Screen) -> str:
    return INDENT if screen.terminal else "\t"


def _related(report: RelatedReport, screen: Screen) -> str:
    return "\n".join(line for found in report.related for line in _note(found, screen))


def _note(found: RelatedNote, screen: Screen) -> Iterator[str]:
    score = screen.style(f"{found.score:.4f}", fg="green")
    path = screen.style(harmless_line(found.note.path), fg="cyan")
    reasons = "; ".join(harmless_line(reason.text) for reason in found.reasons)
    if not screen.terminal:
        yield "\t".join([score, path, harmless_line(found.note.title), reasons])
        return
    yield f"{score}  {path}  {screen.dim(harmless_line(found.note.title))}"
    yield f"{INDENT}{reasons}"
