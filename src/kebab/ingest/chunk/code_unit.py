"""The chunker ``code-unit``: one chunk a function, class head or method, whatever its size.

A unit above ``max_tokens`` is cut at line ends; each part keeps the unit's symbol. Lines between units
gather to ``target_tokens``. Nothing is repeated: each line belongs to one chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kebab.domain.documents import Block
from kebab.ingest.chunk.chunker import Chunker
from kebab.ingest.chunk.pack import cut
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.chunk.split import Piece
from kebab.ingest.parse.lines import Lines

VERSION = "code-unit-v2"


def _pieces(
    blocks: Sequence[Block], lines: Lines, policy: ChunkPolicy
) -> Iterator[tuple[Piece, list[Block]]]:
    group: list[Block] = []
    for block in blocks:
        if group and not _joins(group, block, lines, policy):
            yield from cut(group, lines, policy)
            group = []
        group.append(block)
    if group:
        yield from cut(group, lines, policy)


def _joins(group: Sequence[Block], block: Block, lines: Lines, policy: ChunkPolicy) -> bool:
    if block.place is not None or group[0].place is not None:
        return False
    return lines.tokens(group[0].span.start, block.span.end) <= policy.target_tokens


CHUNKER = Chunker(VERSION, _pieces)
