"""The chunker ``md-heading``: sections first, then size.

A chunk is always a run of lines of the file, so what it cites is what it says. A heading is a hard boundary
and opens its chunk; headings with nothing between them open one chunk together, which bears the path of the
last of them. Inside a section blocks accumulate to ``target_tokens``; the next chunk then begins with whole
blocks of up to ``overlap_tokens`` from the end of the one before. A block is cut only if it alone is above
``max_tokens``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kebab.domain.documents import Block
from kebab.ingest.chunk.chunker import Chunker
from kebab.ingest.chunk.pack import packed
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.chunk.split import Piece
from kebab.ingest.parse.lines import Lines

VERSION = "md-heading-v1"


def sections(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Cut before each heading that follows something other than a heading."""
    section: list[Block] = []
    for block in blocks:
        if block.level and section and not section[-1].level:
            yield section
            section = []
        section.append(block)
    if section:
        yield section


def _pieces(
    blocks: Sequence[Block], lines: Lines, policy: ChunkPolicy
) -> Iterator[tuple[Piece, list[Block]]]:
    for section in sections(blocks):
        yield from packed(section, lines, policy)


CHUNKER = Chunker(VERSION, _pieces)
