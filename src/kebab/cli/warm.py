"""A search or a question, answered by a kebab process that is open on the same data.

``watch``, ``serve``, ``mcp`` and ``tui`` listen on a socket in the data folder (``door``). This is the other
end: it imports next to nothing, and wherever anything is not as expected the command runs as if nobody
listened. It never waits for a silent process longer than ``PATIENCE_S``.

The process that answers runs the same command and sends back what it printed; it compares the settings that
this command line would have with its own, so that nothing else is answered than would have been here.
"""

from __future__ import annotations

import os
import stat
import sys
import time

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from socket import socket as Socket  # noqa: N812

PATIENCE_S = 0.1
COMMANDS = ("search", "ask")
FOLDER = "shell"
MOST_BYTES = 64 << 10
LONGEST_PATH = 100
"""Bytes that the path of a socket may have on every system."""

# Options without a value after which a command can be answered elsewhere. Others, and those that read stdin,
# tell of time or write as they go, are for the command itself.
FLAGS = (
    "--json", "--quiet", "-q", "--readonly", "--explain", "--exact", "--fresh", "--per-chunk", "--lines",
)  # fmt: skip
VALUES = (
    "--config", "--mode", "-k", "--fusion", "--cursor", "--max-tokens", "--snippet-chars", "--min-score",
    "--tag", "--lang", "--path", "--media", "--source", "--source-type", "--trust-min", "--doc-id", "--repo",
    "--code-lang", "--ingested-after", "--symbol", "--continue",
)  # fmt: skip

WORKING, ANSWERED, REFUSED = b"w", b"a", b"r"
"""What is sent back: a sign of life; the answer; that another process, or none, is to be asked.

An answer goes on with its exit status and its length, four bytes each, and then in the order of printing:
where to (one byte: 1 stdout, 2 stderr), how long (four bytes), the text.
"""


def answer(arguments: Sequence[str]) -> int | None:
    """Print what an open process answers and return the exit status; None where the command is to be run."""
    found = asked(arguments)
    if found is None:
        return None
    status, printed = found
    _print(printed)
    return status


def asked(arguments: Sequence[str], *, patience_s: float = PATIENCE_S) -> tuple[int, bytes] | None:
    """The exit status and what was printed; None where nobody answers in time who would print the same."""
    command = command_of(arguments)
    if command is None or not (hasattr(os, "geteuid") and _is_utf8()):
        return None
    try:
        return _asked(arguments, Patience(patience_s, moves=command == "ask"))
    except (OSError, ValueError):
        return None


def command_of(arguments: Sequence[str]) -> str | None:
    """The command of a search or a question that has no option but those known here; None for all else."""
    command = None
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            break
        if argument in VALUES:
            if next(rest, None) is None:
                return None
        elif argument.startswith("-"):
            if argument not in FLAGS and argument.partition("=")[0] not in VALUES:
                return None
        elif command is None:
            command = argument
    return command if command in COMMANDS else None


class Patience:
    """How long to wait: a search must be answered in time, for a question each sign of life counts anew."""

    def __init__(self, seconds: float, *, moves: bool) -> None:
        self._seconds, self._moves = seconds, moves
        self._until = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds, more than 0. Raises TimeoutError."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def renew(self) -> None:
        if self._moves:
            self._until = time.monotonic() + self._seconds


def _asked(arguments: Sequence[str], patience: Patience) -> tuple[int, bytes] | None:
    environ, cwd = os.environ, os.getcwd()
    config = _named_config(arguments)
    folder = data_folder(config, environ, cwd)
    doors = list(_doors(os.path.join(folder, FOLDER))) if folder else []
    if not doors:
        return None
    message = _message(arguments, config, cwd, environ)
    for door in doors:
        found = _answer_of(door, message, patience) if len(message) <= MOST_BYTES else None
        if found is not None:
            return found
    return None


# --- where -----------------------------------------------------------------------------------------------


def _named_config(arguments: Sequence[str]) -> str | None:
    named = None
    for position, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--config":
            named = arguments[position + 1]
        elif argument.startswith("--config="):
            named = argument.partition("=")[2]
    return os.path.abspath(os.path.expanduser(named)) if named is not None else None


def data_folder(config: str | None, environ: Mapping[str, str], cwd: str) -> str | None:
    """Where the data of this command line lie, as far as that can be told without reading TOML; else None.

    Who listens there compares the settings as a whole: a wrong guess costs time, never a wrong answer.
    """
    if any("$" in value for name, value in environ.items() if name.startswith("KEBAB_")):
        return None
    file = config or _project_file(cwd) or _user_file(environ)
    stated = _stated(file) if file else ""
    if stated is None:
        return None
    stated = environ.get("KEBAB_STORAGE__DATA_DIR", "") or stated
    if stated:
        base = os.path.dirname(file) if file else cwd
        return os.path.normpath(os.path.join(base, os.path.expanduser(stated)))
    if file and _is_project_file(file):
        return os.path.join(os.path.dirname(file), "data")
    return os.path.join(_xdg(environ, "XDG_DATA_HOME", "~/.local/share"), "kebab")


def _project_file(cwd: str) -> str | None:
    folder = cwd
    while True:
        file = os.path.join(folder, ".kebab", "config.toml")
        if os.path.isfile(file) and (folder == cwd or os.stat(file).st_uid == os.getuid()):
            return file
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _user_file(environ: Mapping[str, str]) -> str | None:
    file = os.path.join(_xdg(environ, "XDG_CONFIG_HOME", "~/.config"), "kebab", "config.toml")
    return file if os.path.isfile(file) else None


def _is_project_file(file: str) -> bool:
    return os.path.basename(os.path.dirname(file)) == ".kebab" and os.path.basename(file) == "config.toml"


def _xdg(environ: Mapping[str, str], name: str, fallback: str) -> str:
    value = environ.get(name, "")
    return value if value.startswith("/") else os.path.expanduser(fallback)


def _stated(file: str) -> str | None:
    """The data folder that a file states, "" where it states none; None where that is not plain to see."""
    found = ""
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if line.startswith("#"):
                continue
            if "$" in line:
                return None
            if "data_dir" in line:
                key, _, value = line.partition("=")
                value = value.strip()
                if (
                    key.strip() != "data_dir"
                    or len(value) < 2
                    or value[0] not in "\"'"
                    or value[0] != value[-1]
                ):
                    return None
                found = value[1:-1]
                if "\\" in found or value[0] in found:
                    return None
    return found


def _doors(folder: str) -> Iterator[str]:
    """The sockets in the folder, where it and they are this user's alone."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    if _is_private(folder, stat.S_IFDIR):
        for name in sorted(names, reverse=True):
            path = os.path.join(folder, name)
            if name.endswith(".sock") and _is_private(path, stat.S_IFSOCK):
                yield path


def _is_private(path: str, kind: int) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_IFMT(found.st_mode) == kind and found.st_uid == os.geteuid() and not found.st_mode & 0o077


# --- what ------------------------------------------------------------------------------------------------


def _message(arguments: Sequence[str], config: str | None, cwd: str, environ: Mapping[str, str]) -> bytes:
    import json

    screen = screen_of(environ)
    asked = {"schema_version": "shell_request.v1", "program": program(), "typed": list(arguments)}
    around = {"config": config, "cwd": cwd, "environ": surroundings(environ)}
    encoded = json.dumps({**asked, **around, **screen}).encode()
    return len(encoded).to_bytes(4, "big") + encoded


def program() -> tuple[str, int]:
    """Which kebab this is: where it is installed, and since when."""
    import kebab

    return os.path.dirname(kebab.__file__), os.stat(kebab.__file__).st_mtime_ns


def surroundings(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that settings, or what a model is reached by, depend on."""
    return {
        name: value
        for name, value in environ.items()
        if name.startswith(("KEBAB_", "XDG_")) or name in ("HOME", "TZ") or name.lower().endswith("_proxy")
    }


def screen_of(environ: Mapping[str, str]) -> dict[str, int | bool]:
    """What stdout can show; ``Screen.of`` says the same of a stream."""
    if not os.isatty(1):
        return {"columns": 100, "color": False, "links": False, "terminal": False}
    capable = environ.get("TERM") != "dumb"
    color = capable and not environ.get("NO_COLOR")
    return {"columns": max(40, _columns(environ)), "color": color, "links": capable, "terminal": True}


def _columns(environ: Mapping[str, str]) -> int:
    stated = environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def _is_utf8() -> bool:
    """Whether stdout and stderr take the bytes that are sent back."""
    names = {(stream.encoding or "").lower().replace("-", "") for stream in (sys.stdout, sys.stderr)}
    return names <= {"utf8", "ascii", "usascii", "ansi_x3.41968"}


# --- asking ----------------------------------------------------------------------------------------------


def _answer_of(door: str, message: bytes, patience: Patience) -> tuple[int, bytes] | None:
    """What the process behind a socket answers; None where it refuses or is gone. Raises TimeoutError."""
    import socket

    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection, reachable(door) as path:
            connection.settimeout(patience.left())
            connection.connect(path)
            return _answered(connection, message, patience) if is_own(connection) else None
    except TimeoutError:
        raise
    except OSError:
        return None


def _answered(connection: Socket, message: bytes, patience: Patience) -> tuple[int, bytes] | None:
    connection.sendall(message)
    while (kind := _received(connection, 1, patience)) == WORKING:
        patience.renew()
    if kind != ANSWERED:
        return None
    patience.renew()
    head = _received(connection, 8, patience)
    return int.from_bytes(head[:4], "big"), _received(connection, int.from_bytes(head[4:], "big"), patience)


def _received(connection: Socket, count: int, patience: Patience) -> bytes:
    """Exactly so many bytes. Raises OSError where they do not come in time."""
    parts = []
    while count:
        connection.settimeout(patience.left())
        part = connection.recv(min(count, 1 << 16))
        if not part:
            raise ConnectionError("the process ended")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def is_own(connection: Socket) -> bool:
    """Whether the other end runs as the same user, as far as the system says: Linux does."""
    import socket

    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the folder is private, and that was looked at
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.geteuid()


class reachable:  # noqa: N801 - used like a function
    """A name of the path that is short enough for a socket, while the block runs. Raises OSError."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._folder: int | None = None

    def __enter__(self) -> str:
        if len(os.fsencode(self._path)) <= LONGEST_PATH:
            return self._path
        folder, name = os.path.split(self._path)
        self._folder = os.open(folder, os.O_RDONLY)
        return f"/proc/self/fd/{self._folder}/{name}"

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            os.close(self._folder)


def _print(printed: bytes) -> None:
    at = 0
    while at < len(printed):
        length = int.from_bytes(printed[at + 1 : at + 5], "big")
        _write(printed[at], printed[at + 5 : at + 5 + length])
        at += 5 + length


def _write(descriptor: int, content: bytes) -> None:
    try:
        while content:
            content = content[os.write(descriptor, content) :]
    except BrokenPipeError:
        return
