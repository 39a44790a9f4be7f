"""One connection to the engine: opening, waiting for the lock, letting go when idle, errors in our terms."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kebab.disk.data_folder import tighten_tree
from kebab.disk.private import make_folder
from kebab.errors import Corrupt, EngineError, EngineUnavailable, Locked, NotIndexed, StorageError

EMBEDDED = ("surrealkv://", "mem://", "memory://")
REMOTE = ("ws://", "wss://", "http://", "https://")


class StatementFailed(EngineError):
    """The engine refused a statement; ``reason`` is its own text."""

    code = "engine_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the memory engine refused a statement: {reason}")
        self.reason = reason


class SurrealConnection:
    """Runs statements, one at a time, from any thread.

    An embedded folder belongs to one process at a time. Opening waits ``lock_wait_s`` for another to let go,
    and an idle connection lets go by itself after ``idle_release_s``, so that a server that runs all day and
    a command typed beside it can share a folder. ``on_open`` runs once, before the first statement.
    """

    def __init__(
        self,
        url: str,
        *,
        namespace: str,
        database: str,
        username: str = "",
        password: str = "",
        lock_wait_s: float = 10.0,
        idle_release_s: float = 1.0,
        on_open: Callable[[SurrealConnection], object] | None = None,
    ) -> None:
        if not url.startswith(EMBEDDED + REMOTE):
            raise EngineUnavailable(
                f"memory.url {url!r} names no engine that kebab knows",
                hint="use surrealkv://FOLDER for a folder, ws:// or wss:// for a server, or leave it empty",
            )
        _require_engine()
        self.url = url
        self._names = (namespace, database)
        self._credentials = (username, password)
        self._lock_wait_s = lock_wait_s
        self._idle_release_s = idle_release_s
        self._on_open = on_open
        self._prepared = False
        self._db: Any = None
        self._last_use = 0.0
        self._guard = threading.RLock()

    @property
    def folder(self) -> Path | None:
        """Where an embedded store lies; None for a server and for one in memory."""
        return Path(self.url.removeprefix("surrealkv://")) if self.url.startswith("surrealkv://") else None

    def exists(self) -> bool:
        """Whether there is something to read without creating it.

        Raises Corrupt for a folder that holds something but lacks the manifest: opening it would make a new,
        empty store in its place.
        """
        if self._db is not None or self.folder is None:
            return True
        if any((self.folder / "manifest").glob("*")):
            return True
        if not self.folder.is_dir() or not any(self._remains(self.folder)):
            return False
        raise Corrupt(
            f"the execution memory at {self.folder} is damaged: it has lost its manifest",
            hint="restore the folder from a backup, or move it away and import your last export",
        )

    @staticmethod
    def _remains(folder: Path) -> Iterator[Path]:
        """Files with something in them; the empty lock alone is no store."""
        return (path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)

    def require(self) -> None:
        """Raise NotIndexed rather than let a read create an empty store."""
        if not self.exists():
            raise NotIndexed(
                f"there is no execution memory at {self.folder} yet",
                hint="record a run with: kebab memory record, or import some with: kebab memory import FILE",
            )

    def query(self, statements: str, **variables: object) -> list[Any]:
        """The result of each statement in order. Raises StatementFailed for the first that failed."""
        with self._guard:
            db = self._opened()
            try:
                response = _translated(lambda: db.query_raw(statements, variables), self.url)
            except EngineError:
                self._discard()
                raise
            self._last_use = time.monotonic()
        return _results(response)

    def close(self) -> None:
        with self._guard:
            if self._db is not None:
                db, self._db = self._db, None
                _translated(db.close, self.url)
                if self.folder is not None:
                    tighten_tree(self.folder)

    def _discard(self) -> None:
        """Forget a connection that failed, so that the next statement makes another."""
        if self.url.startswith(("mem://", "memory://")):
            return  # its data would go with it
        with contextlib.suppress(EngineError):
            self.close()

    def _opened(self) -> Any:
        if self._db is None:
            # Another process may have removed the store: an empty one has no schema.
            present = self.exists()
            self._prepared = self._prepared and present
            self._db = self._connect()
            self._last_use = time.monotonic()
            self._prepare()
            if self.folder is not None:
                threading.Thread(target=self._release_when_idle, args=(self._db,), daemon=True).start()
        return self._db

    def _prepare(self) -> None:
        """Run ``on_open`` once; a connection that could not be prepared is not kept."""
        if not self._prepared and self._on_open is not None:
            try:
                self._on_open(self)
            except EngineError:
                self.close()
                raise
        self._prepared = True

    def _connect(self) -> Any:
        deadline = time.monotonic() + self._lock_wait_s
        while True:
            try:
                return _translated(self._open_once, self.url)
            except Locked:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.05)

    def _open_once(self) -> Any:
        from surrealdb import Surreal

        if self.folder is not None:
            make_folder(self.folder)
        db = Surreal(self.url)
        db.connect()
        username, password = self._credentials
        if username:
            db.signin({"username": username, "password": password})
        db.use(*self._names)
        return db

    def _release_when_idle(self, db: object) -> None:
        while True:
            time.sleep(self._idle_release_s)
            with self._guard:
                if self._db is not db:
                    return
                if time.monotonic() - self._last_use >= self._idle_release_s:
                    self.close()
                    return


def _require_engine() -> None:
    """Asked at the start: rows and keys use the engine's types before anything is opened."""
    if find_spec("surrealdb") is None:
        raise EngineUnavailable(
            "the execution memory needs SurrealDB, which is not installed",
            hint="install it with: pip install 'kebab[memory]'",
        )


def _translated(call: Callable[[], Any], url: str) -> Any:
    """Run something of the SDK; its exceptions come out as ours."""
    from surrealdb import SurrealError

    try:
        return call()
    except (SurrealError, OSError) as error:
        raise _in_our_terms(str(error), url) from error


def _in_our_terms(message: str, url: str) -> EngineError:
    if "already locked" in message:
        return Locked(
            f"the execution memory at {url} is in use by another process",
            hint="try again when it has finished, or run a server and set memory.url to it",
        )
    if re.search(r"no space left|permission denied|read-only file system|disk quota", message, re.I):
        return StorageError(f"the execution memory at {url} cannot be written: {message}")
    if re.search(r"corrupt|checksum|invalid magic|manifest", message, re.I):
        return Corrupt(
            f"the execution memory at {url} is damaged: {message}",
            hint="restore the folder from a backup, or move it away and import your last export",
        )
    return EngineUnavailable(
        f"the execution memory at {url} cannot be reached: {message}",
        hint="check memory.url, that the server runs, and KEBAB_MEMORY_USER and KEBAB_MEMORY_PASSWORD",
    )


def _results(response: dict[str, Any]) -> list[Any]:
    if "error" in response:
        raise StatementFailed(str(response["error"].get("message", response["error"])))
    failed = [part["result"] for part in response["result"] if part["status"] != "OK"]
    if failed:
        # In a failed transaction every statement reports an error; only one of them says why.
        telling = [text for text in failed if "not executed" not in text and "Cannot COMMIT" not in text]
        raise StatementFailed(str((telling or failed)[0]))
    return [part["result"] for part in response["result"]]
