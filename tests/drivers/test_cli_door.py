"""The door of an open process: dead, hung and hostile ones, and other users."""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from kebab.cli import warm
from tests.drivers.conftest import Cli, Result, a_cli
from tests.drivers.doors import LONG_S, door_of, inside, opened, sent, shell
from tests.drivers.watched import Watched, until


@pytest.fixture
def open_base(cli: Cli) -> Iterator[Cli]:
    with opened(cli):
        yield cli


@pytest.fixture(scope="module")
def shared_base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """For tests after which it must be as it was."""
    with opened(a_cli(tmp_path_factory.mktemp("door"))) as cli:
        yield cli


# --- processes that are dead, hung or hostile ------------------------------------------------------------


def patience(cli: Cli, *arguments: str) -> float:
    """How long a search waits for an answer that does not come."""
    with inside(cli):
        began = time.perf_counter()
        assert warm.asked(arguments or ["search", "apple"]) is None
        return time.perf_counter() - began


def cold(result: Result) -> bool:
    return result.code == 0 and "a.md" in result.out


def test_a_process_that_was_killed_keeps_nobody_waiting_and_its_socket_is_swept(cli: Cli) -> None:
    assert cli("init", ".").code == 0
    (cli.cwd / "a.md").write_text("# Apple\n\nA red fruit.\n")
    with Watched.start(cli) as watched:
        assert watched.ready()
        watched.stop(signal.SIGKILL)
    old = door_of(cli)
    assert patience(cli) < 0.1
    assert cold(cli("search", "apple"))
    with Watched.start(cli, name="again") as watched:
        assert watched.ready()
        assert door_of(cli) != old
        assert watched.stop() == 0


def test_a_process_that_hangs_costs_a_tenth_of_a_second(cli: Cli) -> None:
    assert cli("init", ".").code == 0
    (cli.cwd / "a.md").write_text("# Apple\n\nA red fruit.\n")
    with Watched.start(cli) as watched:
        assert watched.ready()
        watched.process.send_signal(signal.SIGSTOP)
        try:
            waits = [patience(cli) for _ in range(3)] + [patience(cli, "ask", "apple?")]
            assert min(waits) >= 0.09
            assert statistics.median(waits) < 0.15
            assert cold(cli("search", "apple"))
        finally:
            watched.process.send_signal(signal.SIGCONT)


@contextmanager
def impostor(cli: Cli, behave: Callable[[socket.socket], object]) -> Iterator[Path]:
    """A process of the same user that listens and does not answer as it should."""
    assert cli("init", ".").code == 0
    (cli.cwd / "a.md").write_text("# Apple\n\nA red fruit.\n")
    assert cli("ingest").code == 0
    shell(cli).mkdir(mode=0o700)
    path = shell(cli) / "1.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        with warm.reachable(str(path)) as short:
            listening.bind(short)
        path.chmod(0o600)
        listening.listen(8)

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(5)
                    try:
                        behave(connection)
                    except OSError:
                        continue

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield path
        finally:
            listening.shutdown(socket.SHUT_RDWR)


def alive_for_ever(connection: socket.socket) -> None:
    while True:
        connection.sendall(warm.WORKING)
        time.sleep(0.02)


def silent(connection: socket.socket) -> None:
    connection.recv(1 << 20)
    time.sleep(3)


def drop_by_drop(connection: socket.socket) -> None:
    connection.sendall(warm.ANSWERED + (0).to_bytes(4, "big") + (1 << 20).to_bytes(4, "big"))
    while True:
        connection.sendall(b"\x01")
        time.sleep(0.02)


@pytest.mark.parametrize(
    "behave",
    [alive_for_ever, drop_by_drop, silent],
    ids=["signs of life", "drops", "silence"],
)
def test_no_way_of_not_answering_keeps_a_search_waiting(
    cli: Cli, behave: Callable[[socket.socket], object]
) -> None:
    with impostor(cli, behave):
        waits = [patience(cli) for _ in range(3)]
        assert statistics.median(waits) < 0.15
        assert cold(cli("search", "apple"))


@pytest.mark.parametrize(
    "reply",
    [b"", b"x", b"a\0\0", b"a" + b"\xff" * 8, warm.REFUSED],
    ids=["end", "kind", "half", "huge", "no"],
)
def test_an_answer_that_is_none_is_left_alone(cli: Cli, reply: bytes) -> None:
    def behave(connection: socket.socket) -> None:
        connection.recv(1 << 20)
        connection.sendall(reply)

    with impostor(cli, behave):
        assert patience(cli) < 0.15


def test_ten_megabytes_are_refused_unread_and_the_next_request_is_answered(shared_base: Cli) -> None:
    assert sent(shared_base, b"x" * (10 << 20)) in (warm.REFUSED, b"")
    with inside(shared_base):
        assert warm.asked(["search", "apple"], patience_s=LONG_S) is not None


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff\xfe", b'{"typed": ["search"]}', b"null", b"[" * 100_000], ids=repr
)
def test_what_is_no_request_is_refused_and_harms_nobody(shared_base: Cli, body: bytes) -> None:
    assert sent(shared_base, body) == warm.REFUSED
    with inside(shared_base):
        assert warm.asked(["search", "apple"], patience_s=LONG_S) is not None


def test_a_crowd_that_says_nothing_keeps_the_door_from_nobody_for_long(shared_base: Cli) -> None:
    with ExitStack() as crowd, warm.reachable(str(door_of(shared_base))) as path:
        for _ in range(20):
            connection = crowd.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            connection.setblocking(False)
            with suppress(BlockingIOError):  # the queue before the door is full
                connection.connect(path)
        with inside(shared_base):
            assert until(lambda: warm.asked(["search", "apple"], patience_s=LONG_S) is not None, seconds=20)


# --- other users ------------------------------------------------------------------------------------------

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
NOBODY = 65534

CONNECT = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
    connection.settimeout(20)
    try:
        connection.connect(sys.argv[1])
        connection.sendall(bytes.fromhex(sys.argv[2]))
        print(connection.recv(100))
    except OSError as error:
        print(type(error).__name__)
"""


def as_nobody(cli: Cli, message: bytes) -> str:
    """What another user hears who connects from within the folder, and so past the folders above it."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", CONNECT, door_of(cli).name, message.hex()],
        capture_output=True, text=True, cwd=shell(cli),
    )  # fmt: skip
    return done.stdout.strip() or done.stderr


def a_message(cli: Cli) -> bytes:
    with inside(cli):
        return warm._message(["search", "apple"], None, str(cli.cwd), os.environ)


@as_root
def test_another_user_cannot_connect(open_base: Cli) -> None:
    folder, door = shell(open_base).stat(), door_of(open_base).stat()
    assert (folder.st_mode & 0o777, door.st_mode & 0o777) == (0o700, 0o600)
    assert as_nobody(open_base, a_message(open_base)) == "PermissionError"


@as_root
def test_another_user_who_gets_through_is_not_answered(open_base: Cli) -> None:
    """Somebody opened the modes: the kernel still says who it is."""
    shell(open_base).chmod(0o777)
    door_of(open_base).chmod(0o666)
    assert as_nobody(open_base, a_message(open_base)) in ("b''", "ConnectionResetError", "BrokenPipeError")
    assert sent(open_base, a_message(open_base)[4:]) == warm.ANSWERED


@as_root
@pytest.mark.parametrize("loosen", ["folder's mode", "socket's mode", "folder's owner", "socket's owner"])
def test_a_socket_that_others_may_have_made_is_not_asked(open_base: Cli, loosen: str) -> None:
    what = shell(open_base) if loosen.startswith("folder") else door_of(open_base)
    with inside(open_base):
        assert warm.asked(["search", "apple"], patience_s=LONG_S) is not None
        if loosen.endswith("mode"):
            what.chmod(0o777)
        else:
            os.chown(what, NOBODY, NOBODY)
        assert warm.asked(["search", "apple"], patience_s=LONG_S) is None


def test_a_link_to_a_socket_is_not_asked(open_base: Cli, tmp_path: Path) -> None:
    door = door_of(open_base)
    door.rename(tmp_path / "moved.sock")
    door.symlink_to(tmp_path / "moved.sock")
    with inside(open_base):
        assert warm.asked(["search", "apple"], patience_s=LONG_S) is None


def test_a_read_only_process_opens_no_door(cli: Cli) -> None:
    from kebab.app import Kebab
    from kebab.cli.door import opened_door

    with (
        Kebab.open(root=cli.cwd, data_dir=cli.cwd / "data", readonly=True) as base,
        opened_door(base) as door,
    ):
        assert door is None
    assert not (cli.cwd / "data").exists()


def test_a_data_folder_with_a_long_path_has_a_door_too(tmp_path: Path) -> None:
    deep = tmp_path / ("long" * 12) / ("name" * 12)
    deep.mkdir(parents=True)
    cli = a_cli(deep)
    assert cli("init", ".").code == 0
    (cli.cwd / "a.md").write_text("# Apple\n\nA red fruit.\n")
    with Watched.start(cli) as watched:
        assert watched.ready()
        with inside(cli):
            assert warm.asked(["search", "apple"], patience_s=LONG_S) is not None
        assert watched.stop() == 0
