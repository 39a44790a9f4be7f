"""A knowledge base with a process that is open on it, and the ways to its door."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kebab.cli import warm
from tests.drivers.conftest import Cli
from tests.drivers.watched import Watched

LONG_S = 30.0
"""Patience of tests that are not about it: the machine may be busy."""


def shell(cli: Cli) -> Path:
    return cli.cwd / ".kebab" / "data" / "shell"


@contextmanager
def inside(cli: Cli, **extra: str) -> Iterator[None]:
    """This process, where and with what the command would run."""
    before, cwd = dict(os.environ), os.getcwd()
    try:
        os.environ.clear()
        os.environ.update(cli.environ | extra)
        os.chdir(cli.cwd)
        yield
    finally:
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def opened(cli: Cli) -> Iterator[Cli]:
    """A small knowledge base with a process that is open on it."""
    assert cli("init", ".").code == 0
    (cli.cwd / "a.md").write_text("# Apple\n\nA red fruit.\n")
    with Watched.start(cli) as watched:
        assert watched.ready()
        yield cli


def door_of(cli: Cli) -> Path:
    (door,) = shell(cli).glob("*.sock")
    return door


def sent(cli: Cli, body: bytes, *, length: int | None = None) -> bytes:
    """The kind of the first frame that is no sign of life; nothing where the connection is closed."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(LONG_S)
        with warm.reachable(str(door_of(cli))) as path:
            connection.connect(path)
        try:
            connection.sendall((len(body) if length is None else length).to_bytes(4, "big") + body)
            while (kind := connection.recv(1)) == warm.WORKING:
                pass
        except (BrokenPipeError, ConnectionResetError):
            return b""
        return kind
