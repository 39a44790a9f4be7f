"""``kebab mcp --install``: shows what a client needs, or writes it beside what the client has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from kebab.cli.mcp_clients import CLIENTS, Client, program
from kebab.cli.session import Session
from kebab.disk.named_files import named_file
from kebab.errors import InvalidInput

BACKUP = ".before-kebab"


def install(session: Session, name: str, arguments: Sequence[str], *, write: bool, force: bool) -> None:
    """Print the lines for a client and where they go; with ``write`` put them there."""
    client = CLIENTS[name]
    command = [*program(), "mcp", *arguments]
    file = client.place(Path.cwd(), Path.home(), os.environ)
    if not write:
        session.say(f"{client.title}: add this to {file}, or run again with --write")
        click.echo(client.written(command), nl=False)
        return
    changed = add(client, file, command, force=force)
    session.say(f"{client.title}: {'written to' if changed else 'nothing to change in'} {file}")


def add(client: Client, file: Path, command: Sequence[str], *, force: bool) -> bool:
    """Add the server to a client's file; returns whether anything changed.

    What else the file holds stays, and a file that is changed is kept beside itself as it was before. Raises
    InvalidInput, and writes nothing, where the file cannot be read as what the client writes.
    """
    target = Path(os.path.realpath(file))  # a link of somebody's dotfiles stays a link
    before = _text(target)
    after = client.merged(before, command, force)
    if after == before:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    if before:
        _keep(target, before)
    with named_file(target, force=bool(before)) as written:
        written.write(after.encode())
    return True


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}", hint="paste the lines by hand") from error


def _keep(file: Path, text: str) -> None:
    """The first copy stays: it is what the file was before kebab ever touched it."""
    backup = file.with_name(file.name + BACKUP)
    if not backup.exists():
        with named_file(backup, force=False) as kept:
            kept.write(text.encode())
