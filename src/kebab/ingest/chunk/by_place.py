"""The chunker ``by-place``: for pages, slides, sheets and regions.

Like ``md-heading``, and a chunk also ends where no citation could name both its text and the next block's: a
chunk lies on one page, on one slide, in one sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kebab.domain.documents import Block
from kebab.domain.places import can_join
from kebab.ingest.chunk.chunker import Chunker
from kebab.ingest.chunk.md_heading import sections
from kebab.ingest.chunk.pack import packed
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.chunk.split import Piece
from kebab.ingest.parse.lines import Lines

VERSION = "by-place-v1"


def _pieces(
    blocks: Sequence[Block], lines: Lines, policy: ChunkPolicy
) -> Iterator[tuple[Piece, list[Block]]]:
    for section in sections(blocks, lines):
        for unit in _units(section):
            yield from packed(unit, lines, policy)


def _units(section: Sequence[Block]) -> Iterator[list[Block]]:
    unit: list[Block] = []
    for block in section:
        if unit and not can_join(unit[-1].place, block.place):
            yield unit
            unit = []
        unit.append(block)
    if unit:
        yield unit


CHUNKER = Chunker(VERSION, _pieces)
