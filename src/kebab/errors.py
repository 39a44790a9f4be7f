"""The error tree. Every failure a user can meet is one of these.

KebabError
├── UsageError
│   ├── ConfigInvalid        config_invalid      a key, type or combination the settings do not allow
│   ├── ConfigNotFound       config_not_found    an explicitly named file is absent
│   ├── InvalidInput         invalid_input       an argument or a query option is wrong
│   ├── ReadOnly             readonly            a write was asked for in read-only mode
│   ├── Closed               closed              the object was closed, or is being closed
│   ├── StaleCursor          stale_cursor        the corpus changed since the cursor was made
│   ├── DocNotFound          doc_not_found
│   ├── ChunkNotFound        chunk_not_found
│   ├── SpanNotSupported     span_not_supported  this document has no lines
│   ├── MassDelete           mass_delete         more than half of a source, or of a publication, would go
│   ├── OutsideWalls         outside_walls       a write, or upkeep, beyond what this opening may reach
│   ├── Conflict             conflict            another agent's record has this id
│   └── RecordNotFound       record_not_found    the execution memory holds no record of this id
└── EngineError
    ├── NotIndexed           not_indexed         there is no knowledge base here yet
    ├── Locked               locked              another process writes
    ├── ModelUnavailable     model_unavailable   a model cannot be loaded or reached
    ├── ModelMismatch        model_mismatch      vectors of another model or dimension
    ├── EngineUnavailable    engine_unavailable  an index or a server cannot be used
    ├── Timeout              timeout
    ├── StorageError         io_error            disk full, permission, missing file
    └── Corrupt              corrupt             a store or an index file is damaged
"""

from __future__ import annotations

import re
from collections.abc import Mapping


def redacted(text: str) -> str:
    """The text with the credentials of every address in it replaced by ``***``, and so its query."""
    if "://" not in text:
        return text
    return "".join(map(_redacted_word, re.split(r"(\s+)", text)))


def _redacted_word(word: str) -> str:
    scheme, found, rest = word.partition("://")
    if not found:
        return word
    credentials, at, host = rest.rpartition("@")
    if at and _are_credentials(credentials):
        rest = f"***@{host}"
    place, asked, _ = rest.partition("?")
    return f"{scheme}://{place}?***" if asked else f"{scheme}://{rest}"


def _are_credentials(before: str) -> bool:
    """Whether the part before the last @ of an address is secret, and not a host with a port and a path.

    A password may contain a slash, although it should be escaped.
    """
    name, slash, _ = before.partition("/")
    _, colon, port = name.partition(":")
    return not slash or (bool(colon) and not port.isdecimal())


class KebabError(Exception):
    """A failure with a stable ``code``, a message that names the value, and a hint for what to do.

    No text in it contains the credentials of an address: messages go to screens, logs and bug reports.
    """

    code = "generic"
    exit_code = 2

    def __init__(
        self, message: str, *, hint: str | None = None, details: Mapping[str, object] | None = None
    ) -> None:
        self.message = redacted(message)
        super().__init__(self.message)
        self.hint = redacted(hint) if hint else hint
        self.details: dict[str, object] = {
            key: redacted(value) if isinstance(value, str) else value
            for key, value in (details or {}).items()
        }


class UsageError(KebabError):
    """The caller asked for something that cannot be done as asked."""


class EngineError(KebabError):
    """Something that kebab relies on failed: a file, an index, a model, a server."""


class ConfigInvalid(UsageError):
    code = "config_invalid"


class ConfigNotFound(UsageError):
    code = "config_not_found"


class InvalidInput(UsageError):
    code = "invalid_input"


class ReadOnly(UsageError):
    code = "readonly"

    @classmethod
    def refusing(cls, command: str) -> ReadOnly:
        """What a command that writes meets in read-only mode."""
        return cls(f"{command} writes, and kebab is running read-only", hint="run it without --readonly")


class Closed(UsageError):
    code = "closed"


class StaleCursor(UsageError):
    code = "stale_cursor"


class DocNotFound(UsageError):
    code = "doc_not_found"


class ChunkNotFound(UsageError):
    code = "chunk_not_found"


class SpanNotSupported(UsageError):
    code = "span_not_supported"


class MassDelete(UsageError):
    code = "mass_delete"


class OutsideWalls(UsageError):
    code = "outside_walls"


class Conflict(UsageError):
    code = "conflict"


class RecordNotFound(UsageError):
    code = "record_not_found"


class NotIndexed(EngineError):
    code = "not_indexed"


class Locked(EngineError):
    code = "locked"


class ModelUnavailable(EngineError):
    code = "model_unavailable"


class ModelMismatch(EngineError):
    code = "model_mismatch"


class EngineUnavailable(EngineError):
    code = "engine_unavailable"


class Timeout(EngineError):
    code = "timeout"


class StorageError(EngineError):
    code = "io_error"


class Corrupt(EngineError):
    code = "corrupt"
