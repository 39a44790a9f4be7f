"""Formats that stand for those to come: a file that names its own places, and parsers that misbehave."""

from __future__ import annotations

import os
import time

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.places import parse_place
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, ParsedBlock, Unreadable


def parse_placed(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    """Lines after ``@p=3`` stand on page 3, those after ``@slide=2`` on slide 2, and so on for each place."""
    if not content.startswith(b"@"):
        return Unreadable("it names no place")
    blocks, kept, place = [], list[str](), None
    for line in content.decode().splitlines():
        if line.startswith("@"):
            place = parse_place(line[1:])
        elif line.strip():
            kept.append(line)
            blocks.append(ParsedBlock(BlockKind.PARAGRAPH, len(kept), len(kept), (), place=place))
    return Parsed(
        title=defaults.stem,
        lang="en",
        metadata=Metadata(source_type=defaults.source_type, trust_level=defaults.trust_level),
        blocks=tuple(blocks),
        lines=Lines("\n".join(kept)),
    )


def hang(content: bytes, defaults: Defaults) -> Parsed:
    time.sleep(3600)
    raise AssertionError("nobody waits that long")


def swallow(content: bytes, defaults: Defaults) -> Parsed:
    held = bytearray(8 << 30)
    raise AssertionError(f"{len(held)} bytes were there to be had")


def crash(content: bytes, defaults: Defaults) -> Parsed:
    os._exit(7)


PLACED = Format(Media.SUBTITLES, "placed-v1", parse_placed, by_place.CHUNKER)
APART = Format(Media.SUBTITLES, "apart-v1", parse_placed, by_place.CHUNKER, isolated=True)
HANGING = Format(Media.SUBTITLES, "hanging-v1", hang, by_place.CHUNKER, isolated=True)
GREEDY = Format(Media.SUBTITLES, "greedy-v1", swallow, by_place.CHUNKER, isolated=True)
CRASHING = Format(Media.SUBTITLES, "crashing-v1", crash, by_place.CHUNKER, isolated=True)
