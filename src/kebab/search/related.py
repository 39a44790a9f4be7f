"""Notes that are near to a note: by the meaning of the whole document, by links and by tags."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from kebab.domain.chunks import StoredChunk
from kebab.domain.citations import Citation, cite
from kebab.domain.connections import Reason, ReasonKind, RelatedNote, RelatedReport
from kebab.domain.hits import Degradation
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.links import Names, NoteNames
from kebab.domain.queries import SearchFilters
from kebab.ports import DocumentStore, EmbeddingStore, SourceFiles, VectorIndex
from kebab.search.links import Linker, ref

if TYPE_CHECKING:
    from kebab.ports import Vectors

NEAR_CHUNKS = 300
COMPARED = 60
"""Documents whose whole meaning is compared; the others are farther away."""
NEIGHBOURS = 50
"""Linking documents that are looked at for what they link to together."""
HUB = 50
"""A page that links to more documents than this is an index: its links say little."""
LINKED, LISTED, TOGETHER, TAGGED = 0.5, 0.1, 0.2, 0.1
"""What a direct link, one from an index, a shared link and shared tags are worth, beside meaning."""


@dataclass(frozen=True, slots=True)
class _Body:
    """A document's chunks that have a vector, the vectors, and their mean of length 1."""

    chunks: Sequence[StoredChunk]
    rows: Vectors
    centre: Vectors


@dataclass(frozen=True, slots=True)
class _Ties:
    """What the links say: documents linked to, linking here, and those shared with each candidate."""

    out: frozenset[DocId]
    back: frozenset[DocId]
    targets: Mapping[DocId, set[DocId]]
    together: Mapping[DocId, set[DocId]]


@dataclass(frozen=True, slots=True)
class Relater:
    """Finds related notes; without vectors, by links and tags alone."""

    store: DocumentStore
    embeddings: EmbeddingStore
    linker: Linker
    files: SourceFiles
    vectors: VectorIndex | Degradation

    @property
    def is_whole(self) -> bool:
        """Whether meaning takes part."""
        return not isinstance(self.vectors, Degradation)

    def report(self, reference: str, *, k: int = 10, filters: SearchFilters | None = None) -> RelatedReport:
        """The nearest notes, best first, ties by path. Raises like ``Linker.report``."""
        filters = filters or SearchFilters()
        with self.store.at_one_moment():
            names = self.linker.names(filters)
            note = self.linker.note(reference, names)
            bodies, degraded = self._bodies(note, names, self.store.matching(filters))
            ties = self._ties(note, names, bodies)
            found = self._found(note, names, bodies, ties)
        ranked = sorted(
            found, key=lambda related: (-related.score, related.note.source_id, related.note.path)
        )
        model = None if isinstance(self.vectors, Degradation) else self.vectors.model.model_id
        return RelatedReport(ref(note), tuple(ranked[:k]), model, (*degraded, *self.linker.degraded()))

    def _bodies(
        self, note: NoteNames, names: Names, docs: frozenset[DocId] | None
    ) -> tuple[dict[DocId, _Body], tuple[Degradation, ...]]:
        """The note and the documents nearest to it; empty where meaning cannot be compared."""
        if isinstance(self.vectors, Degradation):
            return {}, (self.vectors,)
        own = self._bodies_of([note.doc_id]).get(note.doc_id)
        if own is None:
            message = f"{note.path} has no vector of {self.vectors.model.model_id} yet"
            return {}, (Degradation("vector", "not_embedded", message, "run `kebab index --embeddings`"),)
        near = self.vectors.search(own.centre, limit=NEAR_CHUNKS + len(own.chunks), docs=docs)
        found = self.store.hydrate([ChunkId(item.id) for item in near])
        ids = dict.fromkeys(stored.chunk.doc_id for stored in found.values())
        wanted = [doc_id for doc_id in ids if doc_id in names.notes and doc_id != note.doc_id][:COMPARED]
        return {note.doc_id: own, **self._bodies_of(wanted)}, ()

    def _bodies_of(self, doc_ids: Sequence[DocId]) -> dict[DocId, _Body]:
        chunks: dict[DocId, list[StoredChunk]] = {}
        for stored in self.store.stored_chunks(doc_ids):
            chunks.setdefault(stored.chunk.doc_id, []).append(stored)
        assert not isinstance(self.vectors, Degradation)
        keys = [stored.content_key for own in chunks.values() for stored in own]
        known = self.embeddings.vectors(self.vectors.model, keys)
        bodies = {doc_id: _body(own, known) for doc_id, own in chunks.items()}
        return {doc_id: body for doc_id, body in bodies.items() if body is not None}

    def _ties(self, note: NoteNames, names: Names, bodies: Iterable[DocId]) -> _Ties:
        back = list(dict.fromkeys(within.doc_id for within, _ in self.linker.linking(note, names)))
        own = self.linker.targets([note.doc_id], names)[note.doc_id]
        together: dict[DocId, set[DocId]] = {}
        for via, targets in self.linker.targets(back[:NEIGHBOURS], names).items():
            for target in targets - {note.doc_id} if len(targets) <= HUB else ():
                together.setdefault(target, set()).add(via)
        asked = {*bodies, *own, *back, *together} - {note.doc_id}
        return _Ties(frozenset(own), frozenset(back), self.linker.targets(asked, names), together)

    def _found(
        self, note: NoteNames, names: Names, bodies: Mapping[DocId, _Body], ties: _Ties
    ) -> Iterator[RelatedNote]:
        tags = self._tags([note.doc_id, *ties.targets])
        own = bodies.get(note.doc_id)
        for doc_id in ties.targets:
            other = names.notes[doc_id]
            near, body = None, bodies.get(doc_id)
            if own is not None and body is not None:
                near = float(own.centre @ body.centre)
            reasons = [
                *([self._meaning(own, body, note, other, near)] if own and body and near is not None else []),
                *_linked(note, other, names, ties),
                *_tagged(tags.get(note.doc_id, ()), tags.get(doc_id, ())),
            ]
            if reasons:
                best = sorted(reasons, key=lambda reason: -reason.weight)
                score = round(1 - prod(1 - reason.weight for reason in reasons), 6)
                meaning = None if near is None else round(near, 6)
                yield RelatedNote(ref(other), score, meaning, tuple(best))

    def _tags(self, doc_ids: Sequence[DocId]) -> dict[DocId, tuple[str, ...]]:
        documents = (self.store.document(doc_id) for doc_id in doc_ids)
        return {found.doc_id: found.tags for found in documents if found is not None}

    def _meaning(self, own: _Body, other: _Body, note: NoteNames, its: NoteNames, near: float) -> Reason:
        """Names the lines of both that are nearest to each other."""
        import numpy as np

        pairs = own.rows @ other.rows.T
        at, their = np.unravel_index(int(np.argmax(pairs)), pairs.shape)
        mine, theirs = own.chunks[int(at)], other.chunks[int(their)]
        headings = " › ".join(theirs.chunk.heading_path) or its.title
        text = f"near in meaning ({near:.2f}), most of all {headings!r}"
        cited = (self._cite(mine), self._cite(theirs))
        return Reason(ReasonKind.MEANING, text, round(min(1.0, max(0.0, near)), 6), cited)

    def _cite(self, stored: StoredChunk) -> Citation:
        state = self.files.state(stored.source_id, stored.path)
        return cite(stored.path, stored.chunk.spans, place=stored.chunk.place, state=state)


def _body(chunks: Sequence[StoredChunk], known: Mapping[str, Vectors]) -> _Body | None:
    import numpy as np

    held = [stored for stored in chunks if stored.content_key in known]
    if not held:
        return None
    rows = np.stack([known[stored.content_key] for stored in held])
    total = rows.mean(axis=0)
    length = float(np.linalg.norm(total))
    return _Body(held, rows, total / length) if length else None


def _linked(note: NoteNames, other: NoteNames, names: Names, ties: _Ties) -> Iterator[Reason]:
    if other.doc_id in ties.out:
        yield Reason(ReasonKind.LINKS_TO, f"{note.path} links to it", _worth(ties.out))
    if other.doc_id in ties.back:
        worth = _worth(ties.targets[other.doc_id])
        yield Reason(ReasonKind.LINKED_FROM, f"it links to {note.path}", worth)
    if shared := ties.out & ties.targets[other.doc_id]:
        yield Reason(ReasonKind.SHARED_LINKS, f"both link to {_named(shared, names)}", TOGETHER)
    if via := ties.together.get(other.doc_id):
        yield Reason(ReasonKind.LINKED_TOGETHER, f"linked together by {_named(via, names)}", TOGETHER)


def _worth(targets: Collection[DocId]) -> float:
    """What a link of a page with these targets is worth."""
    return LINKED if len(targets) <= HUB else LISTED


def _tagged(own: Sequence[str], other: Sequence[str]) -> Iterator[Reason]:
    if shared := sorted(set(own) & set(other)):
        yield Reason(ReasonKind.SHARED_TAGS, "both are tagged " + ", ".join(shared[:5]), TAGGED)


def _named(doc_ids: Iterable[DocId], names: Names) -> str:
    paths = sorted(names.notes[doc_id].path for doc_id in doc_ids)
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more
