"""``kebab init``: an annotated configuration and a data folder."""

from __future__ import annotations

import os
from pathlib import Path

import click

from kebab import config
from kebab.cli.confirm import agreed
from kebab.cli.session import Session, command
from kebab.cli.template import template
from kebab.config import trust
from kebab.errors import InvalidInput, ReadOnly, StorageError


@command("init")
@click.argument("directory", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite an existing configuration.")
@click.option("--yes", is_flag=True, help="Create DIRECTORY without asking; needed without a terminal.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where to keep the data.")
def init(session: Session, directory: Path | None, force: bool, yes: bool, data_dir: Path | None) -> int:
    """Write an annotated config.toml and create the data folder.

    With DIRECTORY, writes DIRECTORY/.kebab/config.toml for the documents in DIRECTORY and keeps its data in
    DIRECTORY/.kebab/data. Without it, writes your own configuration file, or the one named by --config.

    Asks before creating a DIRECTORY that does not exist. Exits with status 1 if you do not confirm.
    """
    from kebab import wire
    from kebab.disk.data_folder import DataFolder

    if session.readonly:
        raise ReadOnly.refusing("init")
    file, text = _planned(session.config, directory, data_dir)
    if file.exists() and not force:
        again = "kebab init --force" if directory is None else f"kebab init {directory} --force"
        raise InvalidInput(f"{file} already exists", hint=f"overwrite it with: {again}")
    config.require_sound(text, file)
    if directory is not None and not _wanted(directory, yes=yes):
        session.say("nothing was created")
        return 1
    _write(file, text, force=force)
    trust.consent(file)
    settings = config.load(file)
    DataFolder(settings.data_dir).prepare()
    root = settings.sources[0].root
    report = wire.InitReport(config=str(file), data_dir=str(settings.data_dir), root=root)
    session.put(report, lambda: _told(file, settings.data_dir, Path(root)))
    session.say("next: kebab ingest" if Path(root).is_dir() else f"next: create {root}, then: kebab ingest")
    return 0


def _wanted(directory: Path, *, yes: bool) -> bool:
    """Whether a folder that does not exist is meant: a slip of the keys must not leave a tree behind."""
    folder = Path(os.path.abspath(directory.expanduser()))
    if folder.is_dir():
        return True
    return agreed(f"{folder} does not exist. Create it?", yes=yes, command=f"kebab init {directory}")


def _told(file: Path, data_dir: Path, root: Path) -> str:
    places = (("wrote", file), ("data in", data_dir), ("documents in", root))
    return "\n".join(f"{said} {_short(path)}" for said, path in places)


def _short(path: Path) -> str:
    home = Path.home()
    if path == home:
        return "~"
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _planned(explicit: Path | None, directory: Path | None, data_dir: Path | None) -> tuple[Path, str]:
    """Which file to write, and its text."""
    chosen = os.path.abspath(data_dir.expanduser()) if data_dir else None
    if directory is None:
        file = explicit or config.default_file()
        return Path(os.path.abspath(file.expanduser())), template(data_dir=chosen)
    folder = Path(os.path.abspath(directory.expanduser()))
    if explicit is None:
        return folder / ".kebab" / "config.toml", template(root="..", data_dir=chosen or "data")
    return Path(os.path.abspath(explicit.expanduser())), template(root=str(folder), data_dir=chosen)


def _write(file: Path, text: str, *, force: bool) -> None:
    from kebab.disk.named_files import named_file

    _create(file.parent)
    with named_file(file, force=force) as out:
        out.write(text.encode())


def _create(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder} cannot be created: {error.strerror}") from error
