"""What we ask of engines that read files. What is made of their answers is decided in ``ingest``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import NamedTuple, Protocol

NO_ATTRIBUTES: Mapping[str, str] = {}


class HtmlEventKind(Enum):
    OPEN = auto()
    CLOSE = auto()
    TEXT = auto()


class HtmlEvent(NamedTuple):
    """A tag that opens or closes, in lower case, or a text between tags."""

    kind: HtmlEventKind
    value: str
    attributes: Mapping[str, str] = NO_ATTRIBUTES


class HtmlReader(Protocol):
    """Repairs HTML as browsers do."""

    def events(self, html: str) -> Iterator[HtmlEvent]:
        """Tags and texts in document order; every tag that opens closes. No depth of nesting fails."""
        ...


class DocumentEngines(Protocol):
    """Engines that read files, each loaded when it is first asked for.

    A method raises EngineUnavailable, with the command that installs the engine, where it is not installed.
    """

    def html(self) -> HtmlReader: ...
