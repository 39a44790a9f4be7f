"""``kebab trust``: what a project's file asks for, and its owner's consent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kebab.cli.confirm import agreed
from kebab.cli.session import Session, command
from kebab.errors import ConfigNotFound, InvalidInput, ReadOnly

if TYPE_CHECKING:
    from kebab import wire
    from kebab.config.trust import Request


@command("trust")
@click.argument(
    "directory",
    required=False,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="[DIR]",
)
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
@click.option("--list", "listing", is_flag=True, help="List the projects that you trust.")
@click.option("--revoke", is_flag=True, help="Stop trusting the project.")
def trust(session: Session, directory: Path | None, yes: bool, listing: bool, revoke: bool) -> int:
    """Show what a project's file asks for, and trust it.

    Without trust a project's .kebab/config.toml may shape search and name folders inside the project, nothing
    else. DIR is the project or a folder in it; the working folder by default. You are asked again when
    one of the settings shown changes. Exits with status 1 if you do not confirm.
    """
    if listing:
        return _list(session)
    project, file = _project(session, directory)
    if revoke:
        return _revoke(session, project)
    return _trust(session, file, yes=yes)


def _trust(session: Session, file: Path, *, yes: bool) -> int:
    from kebab import config
    from kebab.config import trust as trusting

    config.load(file)  # a file that cannot be used is not worth a question
    project, asked = trusting.project_of(file), trusting.asked_by(file)
    missing = trusting.consents().missing(project, asked)
    if not session.json:
        click.echo(_shown(file, asked, missing))
    if missing:
        if session.readonly:
            raise ReadOnly.refusing("trust")
        if not agreed(f"Trust {project}?", yes=yes, command=f"kebab trust {project}"):
            session.say("nothing was changed")
            return 1
        trusting.consents().record(project, asked)
        session.say(f"trusted: {project}")
    session.put(lambda: _report(file, asked), lambda: "")
    return 0


def _project(session: Session, directory: Path | None) -> tuple[Path, Path]:
    from kebab.config.locate import is_project_file, project_file
    from kebab.config.trust import project_of

    folder = (directory or Path.cwd()).absolute()
    file = session.config.absolute() if session.config else project_file(folder)
    if file is None or not file.is_file():
        raise ConfigNotFound(
            f"there is no project at {file or folder}", hint="create one with: kebab init DIR"
        )
    if not is_project_file(file):
        raise InvalidInput(f"{file} is your own file and needs no trust")
    return project_of(file), file


def _revoke(session: Session, project: Path) -> int:
    from kebab import wire
    from kebab.config.trust import consents

    if session.readonly:
        raise ReadOnly.refusing("trust --revoke")
    revoked = consents().revoke(project)
    session.put(wire.TrustList(projects=tuple(sorted(consents().projects()))), lambda: "")
    session.say(f"no longer trusted: {project}" if revoked else f"it was not trusted: {project}")
    return 0 if revoked else 1


def _list(session: Session) -> int:
    from kebab import wire
    from kebab.config.trust import consents

    projects = consents().projects()
    session.put(
        wire.TrustList(projects=tuple(sorted(projects))),
        lambda: "\n".join(f"{project}: {', '.join(keys)}" for project, keys in sorted(projects.items())),
    )
    if not projects:
        session.say("you trust no project yet")
    return 0


def _report(file: Path, asked: tuple[Request, ...]) -> wire.TrustReport:
    from kebab import wire

    requests = tuple(wire.TrustRequest(key=request.key, value=_value(request)) for request in asked)
    return wire.TrustReport(config=str(file), requests=requests)


def _shown(file: Path, asked: tuple[Request, ...], missing: list[Request]) -> str:
    if not asked:
        return f"{file} asks for nothing that needs trust"
    lines = [f"  {'new' if r in missing else 'ok ':3}  {r.key} = {_value(r)}" for r in asked]
    head = f"{file} asks for:" if missing else f"{file} is trusted with:"
    return "\n".join([head, *lines])


def _value(request: Request) -> str:
    """The value as TOML writes it, with where a path leads; credentials and control characters are hidden."""
    from kebab.cli.template import toml
    from kebab.errors import redacted

    leads_to: Any = f" → {toml(request.leads_to)}" if request.leads_to else ""
    return f"{redacted(toml(request.value))}{leads_to}"
