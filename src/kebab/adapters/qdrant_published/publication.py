"""Publication on Qdrant: a point for each document, one for the words and one for the vector of each chunk.

The history of a publisher is a line of states. What is written for the next state is seen by nobody before a
release names it, and the point of a release is written last, under a number that only one writer can take.
Whoever publishes first takes back what a killed one left behind the newest state.
"""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from kebab.adapters.qdrant_published import points
from kebab.adapters.qdrant_published.indexes import QdrantLexicalIndex, QdrantVectorIndex
from kebab.adapters.qdrant_published.server import PATIENCE_S, Address, Missing, Server
from kebab.domain.ids import DocId, digest
from kebab.domain.publications import Collected, Contents, Part, Release, clash, publisher_name
from kebab.domain.turns import Waiting, unheard
from kebab.errors import Conflict, EngineUnavailable, InvalidInput
from kebab.ports import Analyzer, Edition, LexicalIndex, ModelKey, PublishedDocument, Record, VectorIndex

_DOCS_AT_ONCE = 32
_POINTS_AT_ONCE = 128
_IDS_AT_ONCE = 1000
_ATTEMPTS = 8
_SETTLES_S = 10.0
"""How long the nodes may take to agree on what was written, before it counts as overtaken by another one."""
_PAUSE_S = 0.1
_RECORD = ("doc_id", "source_id", "mark", "rows", "vectors")


class _Entry(msgspec.Struct, frozen=True):
    """A release as it is stored."""

    number: int
    parts: tuple[Part, ...]


_encode = msgspec.json.Encoder().encode
_entry = msgspec.json.Decoder(_Entry)


class QdrantPublication:
    """Publication in collections whose names begin with the last part of the address."""

    def __init__(
        self,
        uri: str,
        *,
        api_key: str | None = None,
        patience_s: float = PATIENCE_S,
        waiting: Waiting = unheard,
    ) -> None:
        """Nothing is contacted yet. Raises InvalidInput for an address that cannot be one.

        A request that no node serves is given up after ``patience_s``; ``waiting`` hears of it before.
        """
        address = Address.of(uri)
        self._server = Server(address, api_key=api_key, patience_s=patience_s, waiting=waiting)
        self.uri = address.uri
        self._catalogue = f"{address.name}.catalogue"
        self._documents = f"{address.name}.documents"
        self._words = f"{address.name}.words"

    def _vectors(self, model: ModelKey) -> str:
        named = digest("model", model.model_id, model.version, str(model.dimensions))[:12]
        return f"{self._server.address.name}.vectors.{named}"

    # --- reading -----------------------------------------------------------------------------------

    def newest(self) -> Release | None:
        found = self._stored(limit=1)
        return found[0][0] if found else None

    def releases(self) -> list[Release]:
        return [release for release, _ in self._stored()]

    def _stored(self, *, limit: int = 10_000) -> list[tuple[Release, float]]:
        """Releases, newest first, each with the time at which it was made."""
        body = {
            "limit": limit,
            "order_by": {"key": "number", "direction": "desc"},
            "with_payload": ["release", "made"],
        }
        try:
            found = self._server.ask("POST", f"/collections/{self._catalogue}/points/scroll", body)["points"]
        except Missing:
            return []
        entries = [(_entry.decode(one["payload"]["release"]), float(one["payload"]["made"])) for one in found]
        return [(Release(entry.number, entry.parts), made) for entry, made in entries]

    def marks(self, part: Part) -> dict[DocId, str]:
        found = self._server.scroll(self._documents, _of(part), ["doc_id", "mark"])
        return {DocId(one["payload"]["doc_id"]): one["payload"]["mark"] for one in found}

    def records(self, part: Part, doc_ids: Sequence[DocId] | None = None) -> Iterator[Record]:
        for where in [_of(part)] if doc_ids is None else _some_of(_of(part), doc_ids):
            for one in self._server.scroll(self._documents, where, _RECORD):
                told = one["payload"]
                yield Record(
                    DocId(told["doc_id"]),
                    told["source_id"],
                    told["mark"],
                    b64decode(told["rows"]),
                    b64decode(told["vectors"]),
                )

    def words(
        self, release: Release, folder: Path, analyzer: Analyzer, *, checkpoint: int
    ) -> LexicalIndex | None:
        others = [part for part in release.parts if not part.contents.lexical.endswith(analyzer.version)]
        if others:
            raise EngineUnavailable(
                f"{others[0].publisher!r} published with another version of kebab "
                f"({others[0].contents.lexical}, here {analyzer.version})",
                hint="install the same version of kebab, or publish again",
            )
        return QdrantLexicalIndex(
            self._server, self._words, release, analyzer=analyzer.version, checkpoint=checkpoint
        )

    def vectors(self, release: Release, model: ModelKey, *, checkpoint: int) -> VectorIndex | None:
        return QdrantVectorIndex(
            self._server, self._vectors(model), release, model=model, checkpoint=checkpoint
        )

    # --- writing -----------------------------------------------------------------------------------

    def publish(self, edition: Edition) -> Release:
        name = publisher_name(edition.publisher)
        self._require_base(self.newest(), edition)
        self._prepare(edition.contents)
        state = self._begun(name)
        if edition.base is None:
            self._hide(points.seen_at(name, state - 1), state)
        for where in _some_of(points.seen_at(name, state - 1), edition.removed):
            self._hide(where, state)
        changed = iter(edition.changed)
        while some := list(islice(changed, _DOCS_AT_ONCE)):
            self._write(name, state, some, edition.contents)
        self._require_whole(name, state, edition.contents)
        part = Part(name, edition.contents, str(state))

        def with_part(before: Release | None) -> list[Part]:
            self._require_base(before, edition)
            return [*(one for one in (before.parts if before else ()) if one.publisher != name), part]

        return self._commit(with_part)

    def remove(self, publisher: str) -> Release:
        def without(before: Release | None) -> list[Part]:
            if before is None or before.part(publisher) is None:
                raise InvalidInput(f"nothing is published as {publisher!r} at {self.uri}")
            return [part for part in before.parts if part.publisher != publisher]

        return self._commit(without)

    def roll_back(self, number: int) -> Release:
        wanted = next((release for release in self.releases() if release.number == number), None)
        if wanted is None:
            raise InvalidInput(f"there is no release {number} at {self.uri}")
        newest = self.newest()
        parts = [
            part if newest and newest.part(part.publisher) == part else self._restored(part)
            for part in wanted.parts
        ]
        return self._commit(lambda _: parts)

    def collect(self, *, older_than: timedelta) -> Collected:
        before = time.time() - older_than.total_seconds()
        stored = self._stored()
        gone = [release for release, made in stored[1:] if made <= before]
        numbers = [release.number for release in gone]
        if gone:
            self._server.delete(self._catalogue, {"must": [{"key": "number", "match": {"any": numbers}}]})
        kept = [release for release, _ in stored if release.number not in set(numbers)]
        for publisher in {part.publisher for release, _ in stored for part in release.parts}:
            self._collect(publisher, kept, before)
        return Collected(len(gone), 0)

    def _collect(self, publisher: str, kept: Sequence[Release], before: float) -> None:
        """Delete what no kept release shows of a publisher."""
        states = sorted({int(part.state) for one in kept if (part := one.part(publisher)) is not None})
        own = points.match("publisher", publisher)
        spans = zip([0, *states], [*states, None], strict=True)
        for after, upto in spans:
            if upto is None and states:
                continue  # what is behind the newest state may be written just now
            key, bound = ("until", upto) if upto else ("made", before)
            ended = {"key": key, "range": {"lte": bound}}
            where = {"must": [own, {"key": "since", "range": {"gt": after}}, ended]}
            for collection in self._collections():
                self._server.delete(collection, where)

    # --- the states of a publisher -----------------------------------------------------------------

    def _prepare(self, contents: Contents) -> None:
        create = self._server.create
        create(self._catalogue, {"vectors": {}, "shard_number": 1}, indexed={"number": "integer"})
        create(self._documents, {"vectors": {}}, indexed=points.INDEXED)
        sparse = {"words": {"modifier": "idf", "index": {"on_disk": True}}}
        create(
            self._words,
            {"vectors": {}, "sparse_vectors": sparse},
            indexed=points.WORDS_INDEXED,
        )
        if contents.model:
            model = ModelKey(*contents.model)
            dense = {"size": model.dimensions, "distance": "Cosine", "on_disk": True}
            small = {"scalar": {"type": "int8", "quantile": 0.99, "always_ram": True}}
            create(
                self._vectors(model),
                {"vectors": dense, "quantization_config": small},
                indexed=points.INDEXED,
            )

    def _collections(self) -> list[str]:
        prefix = f"{self._server.address.name}."
        listed = self._server.ask("GET", "/collections")["collections"]
        held = [one["name"] for one in listed if one["name"].startswith(prefix)]
        return sorted(set(held) - {self._catalogue})

    def _everywhere(self, change: Callable[[str], None]) -> None:
        for collection in self._collections():
            with self._server.or_nothing():
                change(collection)

    def _begun(self, publisher: str) -> int:
        """The number of the publisher's next state, with nothing of it written."""
        releases = self.releases()
        last = max(
            (int(part.state) for one in releases if (part := one.part(publisher)) is not None), default=0
        )
        own = points.match("publisher", publisher)
        left = {"must": [own, {"key": "since", "range": {"gt": last}}]}
        hidden = {"must": [own, {"key": "until", "range": {"gt": last, "lt": points.ALIVE}}]}

        def take_back(collection: str) -> None:
            self._server.delete(collection, left)
            self._server.set(collection, {"until": points.ALIVE}, hidden)

        self._everywhere(take_back)
        return last + 1

    def _hide(self, where: points.Where, state: int) -> None:
        self._everywhere(lambda collection: self._server.set(collection, {"until": state}, where))

    def _write(self, name: str, state: int, some: Sequence[PublishedDocument], contents: Contents) -> None:
        ids = [one.record.doc_id for one in some]
        for where in _some_of(points.seen_at(name, state - 1), ids):
            self._hide(where, state)
        documents, words, vectors = [], [], []
        model = ModelKey(*contents.model) if contents.model else None
        for one in some:
            told = {
                "publisher": name, "doc_id": one.record.doc_id, "since": state, "until": points.ALIVE,
                "made": time.time(),
            }  # fmt: skip
            documents.append(_document_point(one.record, told, name, state))
            for chunk in one.chunks:
                number = points.point_id(name, chunk.stored.chunk.chunk_id, state)
                words.append({"id": number, **points.words_point(chunk, told)})
                if chunk.vector is not None:
                    own = {**told, "chunk_id": chunk.stored.chunk.chunk_id}
                    vectors.append({"id": number, "payload": own, "vector": chunk.vector.tolist()})
        self._put(self._words, words)
        if model:
            self._put(self._vectors(model), vectors)
        self._put(self._documents, documents)

    def _put(self, collection: str, made: Sequence[points.Point]) -> None:
        for start in range(0, len(made), _POINTS_AT_ONCE):
            self._server.put(collection, made[start : start + _POINTS_AT_ONCE])

    def _restored(self, part: Part) -> Part:
        """The publisher's next state, with what it had at an earlier one."""
        name, old = part.publisher, int(part.state)
        state = self._begun(name)
        before, now = points.seen_at(name, old), points.seen_at(name, state - 1)
        later = {"must": [*now["must"], {"key": "since", "range": {"gt": old}}]}
        lost = {"must": [*before["must"], {"key": "until", "range": {"lt": points.ALIVE}}]}

        def restore(collection: str) -> None:
            gone = list(self._server.scroll(collection, lost, vectors=True))
            self._server.set(collection, {"until": state}, later)
            copies = [_copied(one, name, state) for one in gone if one["payload"]["until"] <= state - 1]
            self._put(collection, copies)

        self._everywhere(restore)
        self._require_whole(name, state, part.contents)
        return Part(name, part.contents, str(state))

    def _require_whole(self, name: str, state: int, contents: Contents) -> None:
        """Wait until each node that answers has all of the state: a reader may ask any of them."""
        where, deadline = points.seen_at(name, state), time.monotonic() + _SETTLES_S
        wanted = {self._documents: contents.documents, self._words: contents.chunks}
        while any({*self._server.counts(held, where)} - {count} for held, count in wanted.items()):
            if time.monotonic() > deadline:
                raise _overtaken(name)
            time.sleep(_PAUSE_S)
        if self._server.count(self._documents, where) != contents.documents:
            raise _overtaken(name)

    def _require_base(self, release: Release | None, edition: Edition) -> None:
        wrong = clash(release, edition.publisher, edition.contents.sources)
        if wrong:
            raise wrong
        if (release.part(edition.publisher) if release else None) != edition.base:
            raise _overtaken(edition.publisher)

    def _commit(self, parts_after: Callable[[Release | None], Sequence[Part]]) -> Release:
        """Make the next release; begins again where somebody else took its number."""
        for _ in range(_ATTEMPTS):
            before = self.newest()
            parts = sorted(parts_after(before), key=lambda part: part.publisher)
            entry = _Entry(before.number + 1 if before else 1, tuple(parts))
            token = uuid4().hex
            payload = {
                "number": entry.number, "release": _encode(entry).decode(), "made": time.time(),
                "token": token,
            }  # fmt: skip
            point = {"id": entry.number, "vector": {}, "payload": payload}
            self._server.put(self._catalogue, [point], only_new=True)
            (stored,) = self._server.scroll(
                self._catalogue, {"must": [points.match("number", entry.number)]}, ["token"]
            )
            if stored["payload"]["token"] == token:
                return Release(entry.number, entry.parts)
        raise Conflict(f"others publish to {self.uri} all the time", hint="run the command again")


def _of(part: Part) -> points.Where:
    return points.seen_at(part.publisher, int(part.state))


def _some_of(where: points.Where, doc_ids: Sequence[DocId]) -> Iterator[points.Where]:
    """The filter for these documents, some at a time; none where there are none."""
    for start in range(0, len(doc_ids), _IDS_AT_ONCE):
        some = points.any_of("doc_id", doc_ids[start : start + _IDS_AT_ONCE])
        yield {"must": [*where["must"], some]}


def _document_point(record: Record, told: dict[str, Any], name: str, state: int) -> points.Point:
    own = {
        "source_id": record.source_id,
        "mark": record.mark,
        "rows": b64encode(record.rows).decode(),
        "vectors": b64encode(record.vectors).decode(),
    }
    return {
        "id": points.point_id(name, record.doc_id, state), "payload": {**told, **own}, "vector": {},
    }  # fmt: skip


def _copied(point: Any, name: str, state: int) -> points.Point:
    payload = {**point["payload"], "since": state, "until": points.ALIVE, "made": time.time()}
    own = payload.get("chunk_id", payload["doc_id"])
    return {"id": points.point_id(name, own, state), "payload": payload, "vector": point["vector"]}


def _overtaken(name: str) -> Conflict:
    return Conflict(f"{name!r} was published by somebody else meanwhile", hint="run the command again")
