"""A page of different answers: one hit a document, with what else was found in it and where it is copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from kebab.domain.hits import LegEvidence, RetrievalDetail
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.sketches import KEYS, Sketch, alike
from kebab.ports import ChunkOwner


@dataclass(frozen=True, slots=True)
class Placed:
    """A chunk with its place in the result, before its text is looked up."""

    chunk_id: ChunkId
    score: float
    detail: RetrievalDetail
    evidence: tuple[LegEvidence, ...]
    repeats: ChunkId | None = None
    others: tuple[ChunkId, ...] = ()
    copies: tuple[str, ...] = ()


@dataclass(slots=True)
class _Group:
    best: Placed
    owner: ChunkOwner
    others: list[ChunkId] = field(default_factory=list)
    copies: dict[str, None] = field(default_factory=dict)


class _Near:
    """The documents seen so far, found by texts that are nearly theirs."""

    def __init__(self) -> None:
        self._known: dict[int, list[tuple[Sketch, _Group]]] = {}

    def like(self, sketch: Sketch) -> _Group | None:
        """The first document of which the one with this sketch is a near-copy."""
        for key in sketch.numbers[:KEYS]:
            for other, group in self._known.get(key, ()):
                if alike(sketch, other):
                    return group
        return None

    def add(self, sketch: Sketch, group: _Group) -> None:
        for key in sketch.numbers[:KEYS]:
            self._known.setdefault(key, []).append((sketch, group))


def by_document(
    placed: Sequence[Placed], owners: Mapping[ChunkId, ChunkOwner], *, counted: int, k: int | None = None
) -> list[Placed]:
    """The best chunk of each document, or of ``k``, in order, with its further chunks and its copies.

    A document whose best chunk has the text of a better document's, or whose whole text is nearly that of a
    better one, is a copy of it and is named there. What a document gets depends on the better ones alone, and
    on the first ``counted``: never on how many are shown. A chunk without an owner is gone.
    """
    groups: dict[DocId, _Group] = {}
    texts: dict[str, _Group] = {}
    near = _Near()
    for place, item in enumerate(placed):
        owner = owners.get(item.chunk_id)
        if owner is None:
            continue
        known = groups.get(owner.doc_id)
        if known is None:
            sketch = Sketch.of(owner.sketch)
            original = texts.get(owner.text_key) or texts.get(owner.content_key) or near.like(sketch)
            known = groups[owner.doc_id] = original or _Group(item, owner)
            texts.setdefault(owner.text_key, known)
            texts.setdefault(owner.content_key, known)
            near.add(sketch, known)
        if known.best is not item and place < counted:
            _note(known, item.chunk_id, owner)
    distinct = {id(group): group for group in groups.values()}
    return [
        replace(group.best, others=tuple(group.others), copies=tuple(group.copies))
        for group in islice(distinct.values(), k)
    ]


def _note(group: _Group, chunk: ChunkId, owner: ChunkOwner) -> None:
    if owner.doc_id == group.owner.doc_id:
        group.others.append(chunk)
    else:
        group.copies[owner.path] = None
