"""The chunker ``md-heading``: sections first, then size.

A chunk is always a run of lines of the file, so what it cites is what it says. A heading is a hard boundary
and opens its chunk; headings with nothing between them open one chunk together, which bears the path of the
last of them. Inside a section blocks accumulate to ``target_tokens``; the next chunk then begins with whole
blocks of up to ``overlap_tokens`` from the end of the one before. A block is cut only if it alone is above
``max_tokens``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kebab.domain.documents import Block
from kebab.ingest.chunk.chunker import Chunker
from kebab.ingest.chunk.pack import packed
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.chunk.split import Piece
from kebab.ingest.parse.lines import Lines

VERSION = "md-heading-v2"


# What a site's generator reads: where a table of contents goes, what an element is called.
_MARKER = re.compile(
    r"(?:[-*+] +TOC\s*)?\{:[^{}\n]{0,200}\}|\[{1,2}_?toc_?\]{1,2}|<!--[^<>]{0,200}-->", re.IGNORECASE
)
# Links in one line with nothing but signs between them: the way to other pages.
_SIGNS = r"[ \t|·•«»←→<>/-]{0,9}"
_NAVIGATION = re.compile(rf"(?:{_SIGNS}!?\[[^\[\]\n]{{0,80}}\]\([^()\n]{{0,200}}\)){{2,9}}{_SIGNS}")
_LONGEST_BOILERPLATE = 1000


def sections(blocks: Sequence[Block], lines: Lines) -> Iterator[list[Block]]:
    """Cut before each heading that follows something to read: not before one that follows a heading.

    Boilerplate before the first heading says nothing alone: it stays with what follows.
    """
    section: list[Block] = []
    for block in blocks:
        if block.level and section and not (section[-1].level or _is_boilerplate(section, lines)):
            yield section
            section = []
        section.append(block)
    if section:
        yield section


def _is_boilerplate(section: Sequence[Block], lines: Lines) -> bool:
    """Whether the section holds nothing but marks for a generator and navigation."""
    start, end = section[0].span.start, section[-1].span.end
    if section[0].level or lines.tokens(start, end) > _LONGEST_BOILERPLATE:
        return False
    texts = (lines.slice(block.span.start, block.span.end).strip() for block in section)
    return all(_MARKER.fullmatch(text) or _NAVIGATION.fullmatch(text) for text in texts)


def _pieces(
    blocks: Sequence[Block], lines: Lines, policy: ChunkPolicy
) -> Iterator[tuple[Piece, list[Block]]]:
    for section in sections(blocks, lines):
        yield from packed(section, lines, policy)


CHUNKER = Chunker(VERSION, _pieces)
