"""Where datasets lie, how they are opened, and what failures of the store are called here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from kebab.adapters.lance_table import lance_engine
from kebab.errors import Conflict, Corrupt, EngineError, EngineUnavailable, InvalidInput, StorageError

_SPARING = {
    "LANCE_DEFAULT_IO_BUFFER_SIZE": str(32 << 20),
    "LANCE_DEFAULT_BATCH_SIZE": "1024",
    "LANCE_FTS_PARTITION_SIZE": "32",  # megabytes for each core, where an index of words is extended
}
SCHEMES = ("s3", "gs", "az")
_ABSENT = ("not found", "was not found", "NotFound", "No such file")
_REFUSED = ("Access Denied", "AccessDenied", "Forbidden", "403", "Permission denied", "InvalidAccessKeyId")
_CONFLICT = ("Incompatible transaction", "Retryable commit conflict", "Commit conflict", "concurrent")
_CREDENTIALS = "credentials are taken from the environment, such as AWS_ACCESS_KEY_ID; see docs/team.md"


def address(uri: str) -> str:
    """The address in the form in which the engine takes it; a folder by its absolute path.

    Raises InvalidInput for another scheme, and for credentials: an address is written into logs.
    """
    scheme, found, rest = uri.partition("://")
    if not found or scheme == "file":
        path = rest if found else uri
        if not path:
            raise InvalidInput("an address is empty", hint="name a folder, or s3://BUCKET/FOLDER")
        return os.path.abspath(os.path.expanduser(path))
    if scheme not in SCHEMES:
        known = ", ".join(f"{name}://" for name in SCHEMES)
        raise InvalidInput(f"{scheme}:// is not known", hint=f"use a folder, {known} or qdrant://")
    parts = urlsplit(uri)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidInput(f"{scheme}:// takes BUCKET/FOLDER alone", hint=_CREDENTIALS)
    if not parts.netloc:
        raise InvalidInput(f"{uri} names no bucket", hint=f"write {scheme}://BUCKET/FOLDER")
    return uri.rstrip("/")


def read_sparingly() -> None:
    """Let the engine read in small pieces: it looks at its environment once, the first time that it reads.

    By itself it reads up to two gigabytes ahead, and eight thousand texts at a time, to make an index.
    """
    for name, value in _SPARING.items():
        os.environ.setdefault(name, value)


def opened(uri: str, version: int | None = None) -> Any:
    """A dataset, of one version or the newest. Raises OSError and ValueError."""
    return lance_engine().dataset(uri, version=version)


def opened_or_none(uri: str) -> Any | None:
    try:
        return opened(uri)
    except (ValueError, OSError) as error:
        if is_absent(error):
            return None
        raise


def is_absent(error: BaseException) -> bool:
    return any(word in str(error) for word in _ABSENT)


def is_conflict(error: BaseException) -> bool:
    return any(word in str(error) for word in _CONFLICT)


@contextmanager
def translated(uri: str) -> Iterator[None]:
    """Turn failures of the engine into errors that name the address."""
    try:
        yield
    except (OSError, ValueError, RuntimeError, NotImplementedError) as error:
        raise _translation(error, uri) from error
    except BaseException as error:
        # A panic of the engine derives from BaseException, and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise _translation(error, uri) from None


def _translation(error: BaseException, uri: str) -> EngineError | Conflict:
    message = str(error).partition(", /")[0][:400]  # what follows are places in the engine's source
    if any(word in message for word in _REFUSED):
        return EngineUnavailable(f"{uri} cannot be used: access denied", hint=_CREDENTIALS)
    if is_conflict(error):
        return Conflict(f"{uri} was changed by somebody else meanwhile", hint="run the command again")
    if is_absent(error):
        return Corrupt(f"{uri} lacks a file: {message}", hint="publish again with --all, or roll back")
    if "No space" in message or "quota" in message:
        return StorageError(f"{uri}: {message}", hint="check free space")
    return EngineUnavailable(f"{uri} cannot be used: {message}", hint="check the address and the network")
