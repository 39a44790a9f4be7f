"""What every parser gives back: blocks by line, and what the file says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kebab.domain.documents import BlockKind, Media, Metadata, TrustLevel
from kebab.ingest.parse.lines import Lines


class ParsedBlock(NamedTuple):
    """A block before it has an id; lines are 1-based and inclusive, those of the file on disk."""

    kind: BlockKind
    start: int
    end: int
    heading_path: tuple[str, ...]
    level: int = 0
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for a document that does not say otherwise: its source's settings, its file's name."""

    stem: str
    source_type: str = "note"
    trust_level: TrustLevel = TrustLevel.PRIMARY


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text taken apart. Blocks are in order, share no line, and hold every line that is not blank.

    Front matter is the one exception: its lines are in no block.
    """

    title: str
    lang: str
    metadata: Metadata
    blocks: tuple[ParsedBlock, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file and its parser; ``version`` changes whenever the same text would give other blocks."""

    media: Media
    version: str
    parse: Callable[[Lines, Defaults], Parsed]
