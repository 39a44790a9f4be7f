"""What every parser takes and gives back: bytes in, located blocks out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kebab.domain.documents import BlockKind, Media, Metadata, TrustLevel
from kebab.domain.links import Link
from kebab.domain.places import Place
from kebab.ingest.chunk.chunker import Chunker
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.reading import BARE, Reading


class ParsedBlock(NamedTuple):
    """A block before it has an id; lines are 1-based and inclusive, those of the parsed text."""

    kind: BlockKind
    start: int
    end: int
    heading_path: tuple[str, ...]
    level: int = 0
    heading: str = ""
    place: Place | None = None
    """Where it stands in the file; None where the text is the file, and its lines can be cited."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for a document that does not say otherwise: its source's settings, its file's name."""

    stem: str
    source_type: str = "note"
    trust_level: TrustLevel = TrustLevel.PRIMARY
    extension: str = ""
    """Lower case, with its dot: one parser may read several kinds of files."""
    reading: Reading = BARE
    """Engines and limits."""
    path: str = ""
    """Relative to the source, where the file has one."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text taken apart. Blocks are in order, share no line, and hold every line that is not blank.

    Front matter is the one exception, and what Joplin writes behind a note: its lines are in no block, unless
    the file has nothing else.
    """

    title: str
    lang: str
    metadata: Metadata
    blocks: tuple[ParsedBlock, ...]
    lines: Lines
    """The text: the whole file, decoded, or what the parser read out of it."""
    warnings: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    """To other documents of the knowledge base and their parts, in order."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The bytes are not what the file's name says; ``reason`` says why, for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file, its parser and the chunker that suits it."""

    media: Media
    version: str
    """Changes whenever the same bytes would give other blocks."""
    parse: Callable[[bytes, Defaults], Parsed | Unreadable]
    chunker: Chunker
    isolated: bool = False
    """Read in a worker process only, under limits of time and memory: for parsers that can hang or crash."""
