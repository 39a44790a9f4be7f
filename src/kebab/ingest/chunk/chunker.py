"""What every chunker does: name its chunks. How blocks are grouped is what tells chunkers apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from kebab.domain.chunks import Chunk
from kebab.domain.documents import Block, LineSpan
from kebab.domain.ids import BlockId, DocId, chunk_id
from kebab.domain.places import Place, joined
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.chunk.split import Piece
from kebab.ingest.parse.lines import Lines

Grouping = Callable[[Sequence[Block], Lines, ChunkPolicy], Iterator[tuple[Piece, list[Block]]]]
"""The pieces in order, each with the blocks it is made of, whose places can be joined."""


@dataclass(frozen=True, slots=True)
class Chunker:
    """``version`` changes whenever the same blocks would give other chunks."""

    version: str
    pieces: Grouping

    def chunks(self, doc: DocId, blocks: Sequence[Block], lines: Lines, policy: ChunkPolicy) -> list[Chunk]:
        """The chunks of a document, in order; none is above ``max_tokens``, and no two share an id.

        Every line of every block is in some chunk.
        """
        policy_hash = policy.hash
        parts: Counter[tuple[BlockId, ...]] = Counter()
        chunks: list[Chunk] = []
        for piece, members in self.pieces(blocks, lines, policy):
            ids = tuple(block.block_id for block in members)
            part = parts[ids]
            parts[ids] += 1
            named = chunk_id(
                doc, chunker_version=self.version, policy_hash=policy_hash, block_ids=ids, part=part
            )
            chunks.append(
                Chunk(
                    chunk_id=named,
                    doc_id=doc,
                    ordinal=len(chunks),
                    text=piece.text,
                    heading_path=members[-1].heading_path,
                    spans=(LineSpan(piece.start, piece.end),),
                    block_ids=ids,
                    part=part,
                    token_estimate=piece.tokens,
                    chunker_version=self.version,
                    policy_hash=policy_hash,
                    place=_place(members),
                )
            )
        return chunks

    def empty(self, doc: DocId, policy: ChunkPolicy) -> Chunk:
        """The one chunk of a document without text, by which its name is found."""
        named = chunk_id(doc, chunker_version=self.version, policy_hash=policy.hash, block_ids=(), part=0)
        return Chunk(
            chunk_id=named,
            doc_id=doc,
            ordinal=0,
            text="",
            heading_path=(),
            spans=(LineSpan(1, 1),),
            block_ids=(),
            part=0,
            token_estimate=0,
            chunker_version=self.version,
            policy_hash=policy.hash,
        )


def _place(members: Sequence[Block]) -> Place | None:
    # Asked first: most documents have no places, and a large run joins a hundred thousand of nothing.
    if members[0].place is None:
        return None
    return reduce(joined, (block.place for block in members))
