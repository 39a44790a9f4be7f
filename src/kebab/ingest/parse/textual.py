"""Parsers of text files: the bytes are decoded for them, and what could not be read is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kebab.ingest.parse.decode import Undecodable, decode
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Parsed, Unreadable


@dataclass(frozen=True, slots=True)
class Decoding:
    """A parser of bytes, made of one that reads lines."""

    parse: Callable[[Lines, Defaults], Parsed | Unreadable]

    def __call__(self, content: bytes, defaults: Defaults) -> Parsed | Unreadable:
        decoded = decode(content)
        if isinstance(decoded, Undecodable):
            return Unreadable(decoded.reason)
        parsed = self.parse(Lines(decoded.text), defaults)
        if isinstance(parsed, Unreadable) or decoded.fault is None:
            return parsed
        said = f"{decoded.fault}; replaced what cannot be read"
        return replace(parsed, warnings=(said, *parsed.warnings))
