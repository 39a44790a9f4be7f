"""The chunker ``md-heading``: sections first, then size.

A chunk is always a run of lines of the file, so what it cites is what it says. A heading is a hard boundary
and opens its chunk; headings with nothing between them open one chunk together, which bears the path of the
last of them. Inside a section blocks accumulate to ``target_tokens``; the next chunk then begins with whole
blocks of up to ``overlap_tokens`` from the end of the one before. A block is cut only if it alone is above
``max_tokens``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kebab.domain.chunks import Chunk
from kebab.domain.documents import Block, LineSpan
from kebab.domain.ids import BlockId, DocId, chunk_id
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.chunk.split import Piece, split_lines
from kebab.ingest.parse.lines import Lines

VERSION = "md-heading-v1"


def chunk_blocks(doc: DocId, blocks: Sequence[Block], lines: Lines, policy: ChunkPolicy) -> list[Chunk]:
    """The chunks of a document, in order; none is above ``max_tokens``, and no two share an id.

    Every line of every block is in some chunk.
    """
    policy_hash = policy.hash
    parts: Counter[tuple[BlockId, ...]] = Counter()
    chunks: list[Chunk] = []
    for piece, members in _pieces(blocks, lines, policy):
        ids = tuple(block.block_id for block in members)
        part = parts[ids]
        parts[ids] += 1
        chunks.append(
            Chunk(
                chunk_id=chunk_id(
                    doc,
                    chunker_version=VERSION,
                    policy_hash=policy_hash,
                    block_ids=ids,
                    part=part,
                ),
                doc_id=doc,
                ordinal=len(chunks),
                text=piece.text,
                heading_path=members[-1].heading_path,
                spans=(LineSpan(piece.start, piece.end),),
                block_ids=ids,
                part=part,
                token_estimate=piece.tokens,
                chunker_version=VERSION,
                policy_hash=policy_hash,
            )
        )
    return chunks


def _pieces(
    blocks: Sequence[Block], lines: Lines, policy: ChunkPolicy
) -> Iterator[tuple[Piece, list[Block]]]:
    for section in _sections(blocks):
        for group in _Packer(lines, policy).groups(section):
            start, end = group[0].span.start, group[-1].span.end
            tokens = lines.tokens(start, end)
            if tokens <= policy.max_tokens:
                yield Piece(start, end, lines.slice(start, end), tokens), group
                continue
            for piece in split_lines(lines, start, end, policy):
                yield piece, [b for b in group if b.span.start <= piece.end and b.span.end >= piece.start]


def _sections(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Cut before each heading that follows something other than a heading."""
    section: list[Block] = []
    for block in blocks:
        if block.level and section and not section[-1].level:
            yield section
            section = []
        section.append(block)
    if section:
        yield section


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
