"""The socket by which commands of the same user reach this process; the other end is ``warm``.

A request is a command line with its surroundings. It is answered only where the command, run by itself, would
have the same settings, program and user; everything else, and whatever fails here, is left to the command.
"""

from __future__ import annotations

import io
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab import config
from kebab.cli import warm
from kebab.cli.output import HarmlessStream
from kebab.cli.program import kebab
from kebab.cli.screen import Screen
from kebab.cli.session import Session
from kebab.disk.private import FILE_MODE, make_folder, restrict
from kebab.domain.layout import DataLayout
from kebab.errors import KebabError, StorageError
from kebab.wire.requests import decoded
from kebab.wire.requests.shell import MOST_BYTES, ShellRequest

if TYPE_CHECKING:
    from kebab.app import Kebab

Printed = list[tuple[int, bytes]]
"""What was written, in order: where to, and the bytes."""

AT_ONCE = 8
"""Requests that are answered at a time; more are refused, and their commands run by themselves."""
SIGN_S = 0.03
"""How often a sign of life is sent while an answer is in the making."""
READ_S = 2.0
"""A request that has not come whole by then is dropped."""


@contextmanager
def opened_door(base: Kebab) -> Iterator[Door | None]:
    """Answer commands of the same user while the block runs.

    None where the system has no such sockets, where kebab runs read-only and writes nothing, and inside
    walls: a command sees the whole knowledge base.
    """
    if base.engines.readonly or base.engines.walls or not hasattr(socket, "AF_UNIX"):
        yield None
        return
    try:
        base.engines.folder.prepare()
        door = Door(base)
    except (OSError, StorageError):
        # A disk that takes no sockets, or a folder that nobody may write: commands do without.
        yield None
        return
    try:
        yield door
    finally:
        door.close()


class Door:
    """Listens in a thread of its own until it is closed."""

    def __init__(self, base: Kebab) -> None:
        """Raises OSError where no socket can be made."""
        self._base = base
        self._folder = DataLayout(base.settings.data_dir).shell
        self._own = warm.program(), warm.surroundings(os.environ)
        self._busy = threading.BoundedSemaphore(AT_ONCE)
        self._workers = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="kebab-door")
        self.path = self._folder / f"{os.getpid()}-{id(self) & 0xFFFF:x}.sock"
        self._listening = _listening(self.path)
        threading.Thread(target=self._listen, name="kebab-door", daemon=True).start()

    def close(self) -> None:
        """Let nobody in any more; what is being answered is finished."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.path.unlink(missing_ok=True)
        self._workers.shutdown(wait=False)

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            if self._busy.acquire(blocking=False):
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
            else:
                connection.close()

    def _serve(self, connection: socket.socket) -> None:
        # A command that has gone away, or one that never says what it wants, concerns nobody else.
        try:
            with connection, suppress(OSError, RuntimeError):
                connection.settimeout(READ_S)
                if warm.is_own(connection):
                    self._answer(connection)
        finally:
            self._busy.release()

    def _answer(self, connection: socket.socket) -> None:
        asked = _request(connection)
        if asked is None or not self._is_the_same(asked):
            connection.sendall(warm.REFUSED)
            return
        working = self._workers.submit(run, asked, self._base)
        while not _is_done(working):
            connection.sendall(warm.WORKING)
        connection.sendall(working.result() or warm.REFUSED)

    def _is_the_same(self, asked: ShellRequest) -> bool:
        """Whether the command itself would be the same program, with the same settings."""
        program, around = self._own
        if asked.program != program or _plain(asked.environ) != _plain(around):
            return False
        if warm.command_of(asked.typed) == "ask" and _is_readonly(asked):
            return False
        named = Path(asked.config) if asked.config is not None else None
        try:
            settings = config.load(named, environ=asked.environ, cwd=Path(asked.cwd))
        except KebabError:
            return False
        return settings == self._base.settings and not _has_secrets(self._base)


def run(asked: ShellRequest, base: Kebab) -> bytes | None:
    """Run a command on an open knowledge base; what is sent back for it, None where it fails.

    A failure is told by the command that runs by itself: its message is the same, and better placed.
    """
    printed: Printed = []
    out, err = _recorder(printed, 1, terminal=asked.terminal), _recorder(printed, 2)
    session = Session(out=out, err=err, opened=base)
    session.screen = Screen(asked.columns, asked.color, asked.links, asked.terminal)
    try:
        status = kebab.run(list(asked.typed), obj=session)
        body = b"".join(_part(where, text) for where, text in printed)
    except Exception:  # noqa: BLE001 - whatever it is, the command meets it itself and reports it
        return None
    return warm.ANSWERED + status.to_bytes(4, "big") + len(body).to_bytes(4, "big") + body


class _Bytes(io.RawIOBase):
    """Remembers what is printed, and in which order with the other stream."""

    def __init__(self, printed: Printed, where: int, *, terminal: bool) -> None:
        self._printed, self._where, self._terminal = printed, where, terminal

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._printed.append((self._where, bytes(content)))
        return len(content)

    def isatty(self) -> bool:
        return self._terminal


def _recorder(printed: Printed, where: int, *, terminal: bool = False) -> Any:
    """A stream like stdout: nothing that a text holds is obeyed by a terminal."""
    raw = _Bytes(printed, where, terminal=terminal)
    return HarmlessStream(
        io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", newline="\n", write_through=True)
    )


def _part(where: int, text: bytes) -> bytes:
    return bytes([where]) + len(text).to_bytes(4, "big") + text


def _listening(path: Path) -> socket.socket:
    make_folder(path.parent)
    restrict(path.parent, 0o700)
    _sweep(path.parent)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # The folder lets nobody else in, from before the socket is made.
        with warm.reachable(str(path)) as short:
            listening.bind(short)
        restrict(path, FILE_MODE)
        listening.listen(AT_ONCE)
    except OSError:
        listening.close()
        raise
    return listening


def _sweep(folder: Path) -> None:
    """Remove the sockets of processes that are gone."""
    for path in folder.glob("*.sock"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(0.05)
            try:
                with warm.reachable(str(path)) as short:
                    probe.connect(short)
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)
            except OSError:
                continue


def _request(connection: socket.socket) -> ShellRequest | None:
    """What is asked; None for what is no request, or too long for one."""
    length = int.from_bytes(_read(connection, 4), "big")
    if length > MOST_BYTES:
        return None
    try:
        return decoded(ShellRequest, _read(connection, length))
    except (KebabError, UnicodeDecodeError):
        return None


def _read(connection: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count:
        part = connection.recv(min(count - len(content), 1 << 16))
        if not part:
            raise ConnectionError("the command has gone away")
        content += part
    return content


def _is_done(working: Future[bytes | None]) -> bool:
    with suppress(TimeoutError):
        working.result(SIGN_S)
    return working.done()


def _plain(environ: dict[str, str]) -> dict[str, str]:
    """The variables that are not looked at by the settings."""
    return {name: value for name, value in environ.items() if not name.startswith(("KEBAB_", "XDG_"))}


def _is_readonly(asked: ShellRequest) -> bool:
    return "--readonly" in asked.typed or bool(asked.environ.get("KEBAB_READONLY"))


def _has_secrets(base: Kebab) -> bool:
    """Whether a model takes a key from a variable: the command's own may be another one."""
    models = base.settings.models
    return any(model.api_key_env for model in (models.embedding, models.llm, models.speech, models.vision))
