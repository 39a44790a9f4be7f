"""The chunker ``cues``: for what is said at a time.

Cues gather to ``target_tokens``, but for two minutes at most, so that a citation is worth listening to, and
never over a long silence. Nothing is repeated: each moment belongs to one chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kebab.domain.documents import Block
from kebab.domain.places import Time
from kebab.ingest.chunk.chunker import Chunker
from kebab.ingest.chunk.pack import cut
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.chunk.split import Piece
from kebab.ingest.parse.lines import Lines

VERSION = "cues-v1"
_LONGEST_MS = 120_000
_SILENCE_MS = 15_000


def _pieces(
    blocks: Sequence[Block], lines: Lines, policy: ChunkPolicy
) -> Iterator[tuple[Piece, list[Block]]]:
    group: list[Block] = []
    for block in blocks:
        fits = group and lines.tokens(group[0].span.start, block.span.end) <= policy.target_tokens
        if group and not (fits and _goes_on(group, block)):
            yield from cut(group, lines, policy)
            group = []
        group.append(block)
    if group:
        yield from cut(group, lines, policy)


def _goes_on(group: Sequence[Block], block: Block) -> bool:
    first, last, this = group[0].place, group[-1].place, block.place
    if not (isinstance(first, Time) and isinstance(last, Time) and isinstance(this, Time)):
        return False
    # A time that runs backwards, as in files joined from several, begins anew.
    return this.end - first.start <= _LONGEST_MS and 0 <= this.start - last.start <= _SILENCE_MS + (
        last.end - last.start
    )


CHUNKER = Chunker(VERSION, _pieces)
