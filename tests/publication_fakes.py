"""Stand-ins for the ports of publishing, in memory."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from kebab.domain.ids import DocId
from kebab.domain.publications import Collected, Part, Release, clash
from kebab.errors import Conflict, Corrupt, InvalidInput
from kebab.ports import Analyzer, Edition, LexicalIndex, ModelKey, Record, VectorIndex
from tests.fakes import FakeDocumentStore, FakeEmbeddingStore


class FakeRecordStore:
    """The documents of a FakeDocumentStore, pickled: only for what this process wrote itself."""

    def __init__(self, documents: FakeDocumentStore, embeddings: FakeEmbeddingStore) -> None:
        self._documents = documents
        self._embeddings = embeddings

    def marks(self, model: ModelKey | None) -> dict[DocId, str]:
        every = [shelf.document.doc_id for shelf in self._documents.shelves()]
        return {record.doc_id: record.mark for record in self.records(every, model)}

    def records(self, doc_ids: Sequence[DocId], model: ModelKey | None) -> Iterator[Record]:
        shelves = {shelf.document.doc_id: shelf for shelf in self._documents.shelves()}
        for doc_id in doc_ids:
            if doc_id in shelves:
                shelf = shelves[doc_id]
                keys = sorted({stored.content_key for stored in shelf.chunks})
                known = self._embeddings.vectors(model, keys) if model else {}
                mark = f"{shelf.indexed_at} {hash(shelf.chunks)} {model} {len(known)}"
                vectors = pickle.dumps(known) if known else b""
                yield Record(doc_id, shelf.document.source_id, mark, pickle.dumps(shelf), vectors)

    def put(self, records: Sequence[Record], model: ModelKey | None) -> None:
        for record in records:
            try:
                shelf = pickle.loads(record.rows)
            except (pickle.UnpicklingError, EOFError, ValueError, KeyError, IndexError) as error:
                raise Corrupt(f"the published document {record.doc_id} is damaged") from error
            self._documents.put_shelf(shelf)
            if model and record.vectors:
                for key, vector in pickle.loads(record.vectors).items():
                    self._embeddings.put_vectors(model, [key], vector.reshape(1, -1))

    def take_revision(self, revision: int) -> None:
        self._documents.set_revision(revision)


class FakePublication:
    """Publication in memory. ``calls`` counts requests of the cheap kind."""

    def __init__(self) -> None:
        self.uri = "memory://fake"
        self._releases: list[Release] = []
        self._data: dict[str, dict[DocId, Record]] = {}

    def newest(self) -> Release | None:
        return self._releases[-1] if self._releases else None

    def releases(self) -> list[Release]:
        return self._releases[::-1]

    def marks(self, part: Part) -> dict[DocId, str]:
        return {doc_id: record.mark for doc_id, record in self._data[part.state].items()}

    def records(self, part: Part, doc_ids: Sequence[DocId] | None = None) -> Iterator[Record]:
        held = self._data[part.state]
        wanted = list(held) if doc_ids is None else [doc_id for doc_id in doc_ids if doc_id in held]
        yield from (held[doc_id] for doc_id in wanted)

    def words(
        self, release: Release, folder: Path, analyzer: Analyzer, *, checkpoint: int
    ) -> LexicalIndex | None:
        return None

    def vectors(self, release: Release, model: ModelKey, *, checkpoint: int) -> VectorIndex | None:
        return None

    def publish(self, edition: Edition) -> Release:
        before = self.newest()
        wrong = clash(before, edition.publisher, edition.contents.sources)
        if wrong:
            raise wrong
        held = before.part(edition.publisher) if before else None
        if held != edition.base:
            raise Conflict(f"{edition.publisher!r} was published by somebody else meanwhile")
        data = dict(self._data[held.state]) if held else {}
        for doc_id in edition.removed:
            data.pop(doc_id, None)
        data |= {document.record.doc_id: document.record for document in edition.changed}
        state = f"{edition.publisher}-{len(self._data)}"
        self._data[state] = data
        part = Part(edition.publisher, edition.contents, state)
        others = [one for one in (before.parts if before else ()) if one.publisher != edition.publisher]
        return self._release([*others, part])

    def remove(self, publisher: str) -> Release:
        before = self.newest()
        if before is None or before.part(publisher) is None:
            raise InvalidInput(f"nothing is published as {publisher!r}")
        return self._release([part for part in before.parts if part.publisher != publisher])

    def roll_back(self, number: int) -> Release:
        for release in self._releases:
            if release.number == number:
                return self._release(list(release.parts))
        raise InvalidInput(f"there is no release {number}")

    def collect(self, *, older_than: timedelta) -> Collected:
        if older_than > timedelta(0):
            return Collected(0, 0)
        gone, self._releases = self._releases[:-1], self._releases[-1:]
        used = {part.state for release in self._releases for part in release.parts}
        size = sum(len(r.rows) for key, held in self._data.items() if key not in used for r in held.values())
        self._data = {key: held for key, held in self._data.items() if key in used}
        return Collected(len(gone), size)

    def _release(self, parts: Sequence[Part]) -> Release:
        number = self._releases[-1].number + 1 if self._releases else 1
        made = Release(number, tuple(sorted(parts, key=lambda part: part.publisher)))
        self._releases.append(made)
        return replace(made)
