"""Packing the blocks of a section into pieces of the right size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kebab.domain.documents import Block
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.chunk.split import Piece, split_lines
from kebab.ingest.parse.lines import Lines


def packed(
    section: Sequence[Block], lines: Lines, policy: ChunkPolicy
) -> Iterator[tuple[Piece, list[Block]]]:
    """Blocks gather to ``target_tokens``; the next piece repeats whole blocks of up to ``overlap_tokens``."""
    for group in _Packer(lines, policy).groups(section):
        yield from cut(group, lines, policy)


def cut(group: list[Block], lines: Lines, policy: ChunkPolicy) -> Iterator[tuple[Piece, list[Block]]]:
    """The group as one piece, or as several where no chunk can hold it."""
    start, end = group[0].span.start, group[-1].span.end
    tokens = lines.tokens(start, end)
    if tokens <= policy.max_tokens:
        yield Piece(start, end, lines.slice(start, end), tokens), group
        return
    for piece in split_lines(lines, start, end, policy):
        yield piece, [b for b in group if b.span.start <= piece.end and b.span.end >= piece.start]


@dataclass(frozen=True, slots=True)
class _Packer:
    """Packs the blocks of one section into groups of neighbours."""

    lines: Lines
    policy: ChunkPolicy

    def groups(self, section: Sequence[Block]) -> Iterator[list[Block]]:
        """Groups in order. A group above ``max_tokens`` is one block with the headings that open it."""
        group: list[Block] = []
        for block in section:
            if not group or self._fits(group[0], block) or self._must_join(group, block):
                group.append(block)
                continue
            yield group
            group = [*self._overlap(group, block), block]
        if group:
            yield group

    def _fits(self, first: Block, last: Block) -> bool:
        return self._tokens(first, last) <= self.policy.target_tokens

    def _must_join(self, group: Sequence[Block], block: Block) -> bool:
        """Headings never stand alone: they take the block that follows, whatever its size.

        Only so many of them, though: thousands of headings in a row are cut like a text.
        """
        return bool(group[-1].level) and self._fits(group[0], group[-1])

    def _overlap(self, group: Sequence[Block], block: Block) -> list[Block]:
        """The longest tail of whole blocks, never a heading, that is small and leaves room for the block."""
        tail: list[Block] = []
        for before in reversed(group):
            small = self._tokens(before, group[-1]) <= self.policy.overlap_tokens
            if before.level or not small or not self._fits(before, block):
                break
            tail.insert(0, before)
        return tail

    def _tokens(self, first: Block, last: Block) -> int:
        return self.lines.tokens(first.span.start, last.span.end)
