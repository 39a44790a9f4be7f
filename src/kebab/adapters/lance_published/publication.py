"""Publication on Lance: a dataset each for the documents, the chunks and the words of a publisher.

Every release is a version of one small dataset, the catalogue, whose settings name the versions of all the
others. It is written last and by a conditional put (by a rename that fails in a folder), so that readers see
the release before it or all of it. Whoever publishes goes on from the versions that the catalogue names,
whatever a killed one left after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from kebab.adapters.lance_published import tables, words
from kebab.adapters.lance_published.collect import Collector
from kebab.adapters.lance_published.storage import (
    address,
    is_absent,
    is_conflict,
    opened,
    read_sparingly,
    translated,
)
from kebab.adapters.lance_table import lance_engine
from kebab.domain.ids import DocId
from kebab.domain.publications import Collected, Contents, Part, Release, clash, publisher_name
from kebab.errors import Conflict, Corrupt, EngineUnavailable, InvalidInput, redacted
from kebab.ports import Analyzer, Edition, LexicalIndex, ModelKey, Record, VectorIndex

FORMAT = "1"
_FORMAT_KEY, _SOURCES_KEY, _PART = "kebab.format", "kebab.sources", "kebab.part."
_BEFORE_KEY = "kebab.before"
"""How many versions the catalogue had before its first release, which is number 1; none is stated in those
that were begun when numbers were versions."""
_ATTEMPTS = 5


class Versions(msgspec.Struct, frozen=True):
    """Which versions of a publisher's datasets belong together; ``words`` is 0 where it has none."""

    documents: int
    chunks: int
    words: int = 0


class _Entry(msgspec.Struct, frozen=True):
    contents: Contents
    versions: Versions


_encode = msgspec.json.Encoder().encode
_entry = msgspec.json.Decoder(_Entry)
_versions = msgspec.json.Decoder(Versions)


class LancePublication:
    """Publication in a folder or an object store."""

    def __init__(self, uri: str, *, give_back: Callable[[], object] = lambda: None) -> None:
        """Nothing is contacted yet. Raises InvalidInput for an address that cannot be one.

        ``give_back`` is called between the steps of publishing, to hand freed memory back to the system.
        """
        self._give_back = give_back
        self._root = address(uri)
        self.uri = redacted(self._root)
        self._seen: tuple[int, Release] | None = None

    def newest(self) -> Release | None:
        with translated(self.uri):
            catalogue = self._catalogue()
            if catalogue is None:
                return None
            if self._seen is None or self._seen[0] != catalogue.version:
                release = _release(catalogue)
                if release is None:
                    return None
                self._seen = (catalogue.version, release)
            return self._seen[1]

    def releases(self) -> list[Release]:
        with translated(self.uri):
            catalogue = self._catalogue()
            # Not by its truth: a dataset without rows is false.
            numbers = [] if catalogue is None else [entry["version"] for entry in catalogue.versions()]
            found = (_release(opened(self._catalogue_uri, number)) for number in sorted(numbers)[::-1])
            return [release for release in found if release is not None]

    def marks(self, part: Part) -> dict[DocId, str]:
        with translated(self.uri):
            dataset = opened(self._table(part.publisher, "documents"), _named(part).documents)
            table = dataset.to_table(columns=["doc_id", "mark"])
            pairs = zip(table["doc_id"].to_pylist(), table["mark"].to_pylist(), strict=True)
            return {DocId(doc_id): mark for doc_id, mark in pairs}

    def records(self, part: Part, doc_ids: Sequence[DocId] | None = None) -> Iterator[Record]:
        columns = ("doc_id", "source_id", "mark", "rows", "vectors")
        with translated(self.uri):
            dataset = opened(self._table(part.publisher, "documents"), _named(part).documents)
            for batch in tables.selected(dataset, columns, "doc_id", doc_ids):
                for row in batch.to_pylist():
                    yield Record(
                        DocId(row["doc_id"]), row["source_id"], row["mark"], row["rows"], row["vectors"]
                    )

    def words(
        self, release: Release, folder: Path, analyzer: Analyzer, *, checkpoint: int
    ) -> LexicalIndex | None:
        from kebab.adapters.tantivy_lexical import TantivyLexicalIndex

        parts = [part for part in release.parts if part.contents.documents]
        if not parts or any(not _named(part).words for part in parts):
            return None
        place = folder / "tantivy"
        index = TantivyLexicalIndex(place, analyzer)
        _require_version(parts, index.version)
        stamp = msgspec.json.encode([(part.publisher, part.state) for part in parts]).decode()
        if words.is_brought(place, stamp) and index.checkpoint() == checkpoint:
            return index
        with translated(self.uri):
            named = [(self._table(part.publisher, "words"), _named(part).words) for part in parts]
            commits = [words.bring(opened(uri, version), place) for uri, version in named]
        return words.put_together(place, commits, analyzer, checkpoint=checkpoint, stamp=stamp)

    def vectors(self, release: Release, model: ModelKey, *, checkpoint: int) -> VectorIndex | None:
        return None  # exact, over int8, made from the records: the same scores as where they were published

    # --- writing -----------------------------------------------------------------------------------

    def publish(self, edition: Edition) -> Release:
        name = publisher_name(edition.publisher)
        read_sparingly()
        before = self.newest()
        self._require_base(before, edition)
        with translated(self.uri):
            versions = self._write(edition)
        entry = _encode(_Entry(edition.contents, versions)).decode()

        def change(release: Release | None) -> dict[str, str | None]:
            self._require_base(release, edition)
            stated: dict[str, str | None] = {_FORMAT_KEY: FORMAT, f"{_PART}{name}": entry}
            held = release.part(name) if release else None
            if held is None or held.contents.sources != edition.contents.sources:
                # Who takes a source says so where others do: of two at once, one comes second.
                stated[_SOURCES_KEY] = f"{name} {edition.contents.published_at}"
            return stated

        return self._commit(change)

    def remove(self, publisher: str) -> Release:
        def change(release: Release | None) -> dict[str, str | None]:
            if release is None or release.part(publisher) is None:
                known = ", ".join(release.publishers) if release else ""
                raise InvalidInput(
                    f"nothing is published as {publisher!r} at {self.uri}",
                    hint=f"published are: {known}" if known else None,
                )
            return {f"{_PART}{publisher}": None}

        return self._commit(change)

    def roll_back(self, number: int) -> Release:
        with translated(self.uri):
            wanted = self._release_of(number)
        if wanted is None:
            raise InvalidInput(
                f"there is no release {number} at {self.uri}", hint="see: kebab publish URI --list"
            )

        def change(release: Release | None) -> dict[str, str | None]:
            gone = set(release.publishers if release else ()) - set(wanted.publishers)
            stated: dict[str, str | None] = {f"{_PART}{name}": None for name in gone}
            kept = {f"{_PART}{part.publisher}": _encoded(part) for part in wanted.parts}
            return {**stated, **kept, _SOURCES_KEY: f"release {number}"}

        return self._commit(change)

    def collect(self, *, older_than: timedelta) -> Collected:
        with translated(self.uri):
            catalogue = self._catalogue()
            if catalogue is None:
                return Collected(0, 0)
            return Collector(catalogue, self._table, _release, _named).run(datetime.now(UTC) - older_than)

    def _write(self, edition: Edition) -> Versions:
        """Write the datasets of a publisher; nobody reads the versions before they are named."""
        base = _named(edition.base) if edition.base else None
        model = ModelKey(*edition.contents.model) if edition.contents.model else None
        documents = tables.begun(
            self._table(edition.publisher, "documents"),
            base.documents if base else None,
            tables.document_schema().empty_table(),
        )
        chunks = tables.begun(
            self._table(edition.publisher, "chunks"),
            base.chunks if base else None,
            tables.chunk_schema(model).empty_table(),
        )
        held = set(documents.to_table(columns=["doc_id"])["doc_id"].to_pylist()) if base else set()
        self._drop(documents, chunks, [doc_id for doc_id in edition.removed if doc_id in held])
        for some in tables.batches(edition.changed, model):
            self._drop(documents, chunks, [doc_id for doc_id in some.doc_ids if doc_id in held])
            documents = tables.appended(documents, some.documents)
            chunks = tables.appended(chunks, some.chunks)
        if documents.count_rows() != edition.contents.documents:
            raise Conflict(
                f"{edition.publisher!r} was published by somebody else meanwhile",
                hint="run the command again",
            )
        documents = tables.indexed_by_name(tables.tidied(documents, "documents"), "doc_id")
        chunks = tables.indexed_by_name(tables.tidied(chunks, "chunks"), "doc_id")
        for make in (tables.indexed_words, tables.indexed_vectors):
            # What one step has used and freed would otherwise lie beside what the next one takes.
            self._give_back()
            chunks = make(chunks)
        self._give_back()
        return Versions(documents.version, chunks.version, self._write_words(edition, base))

    def _drop(self, documents: Any, chunks: Any, doc_ids: Sequence[DocId]) -> None:
        for dataset in (documents, chunks):
            tables.without(dataset, "doc_id", doc_ids)

    def _write_words(self, edition: Edition, base: Versions | None) -> int:
        if edition.words is None:
            return 0
        import pyarrow as pa

        uri = self._table(edition.publisher, "words")
        empty = pa.Table.from_pylist([], schema=words.words_schema())
        dataset = tables.begun(uri, base.words if base and base.words else None, empty)
        files = words.files_to_publish(edition.words)
        held, wanted = words.names_in(dataset), {file.name for file in files}
        tables.without(dataset, "name", sorted((held - wanted) | ({words.META} & held)))
        new = [file for file in files if file.name not in held or file.name == words.META]
        for rows in words.file_rows(new):
            dataset = tables.appended(dataset, rows)
        return int(tables.tidied(dataset, "words").version)

    # --- the catalogue -----------------------------------------------------------------------------

    @property
    def _catalogue_uri(self) -> str:
        return f"{self._root}/catalogue.lance"

    def _table(self, publisher: str, kind: str) -> str:
        return f"{self._root}/parts/{publisher_name(publisher)}/{kind}.lance"

    def _catalogue(self) -> Any | None:
        try:
            return opened(self._catalogue_uri)
        except (ValueError, OSError) as error:
            if is_absent(error):
                return None
            raise

    def _begun_catalogue(self) -> Any:
        import pyarrow as pa

        found = self._catalogue()
        if found is not None:
            return found
        empty = pa.table({"nothing": pa.array([], pa.int8())})
        try:
            return lance_engine().write_dataset(empty, self._catalogue_uri, mode="create")
        except (ValueError, OSError):
            return opened(self._catalogue_uri)  # somebody else was faster

    def _release_of(self, number: int) -> Release | None:
        try:
            newest = opened(self._catalogue_uri)
            return _release(opened(self._catalogue_uri, number + _before(newest.config())))
        except (ValueError, OSError) as error:
            if is_absent(error):
                return None
            raise

    def _require_base(self, release: Release | None, edition: Edition) -> None:
        wrong = clash(release, edition.publisher, edition.contents.sources)
        if wrong:
            raise wrong
        if (release.part(edition.publisher) if release else None) != edition.base:
            raise Conflict(
                f"{edition.publisher!r} was published by somebody else meanwhile",
                hint="run the command again",
            )

    def _commit(self, change: Callable[[Release | None], dict[str, str | None]]) -> Release:
        """Make the release that ``change`` states on top of the newest; again where another came first."""
        for attempt in range(_ATTEMPTS):
            with translated(self.uri):
                catalogue = self._begun_catalogue()
                before = _release(catalogue)
            stated = change(before)
            if before is None:
                stated[_BEFORE_KEY] = str(catalogue.version)
            with translated(self.uri):
                try:
                    catalogue.update_config(stated)
                except (OSError, RuntimeError) as error:
                    if attempt + 1 < _ATTEMPTS and is_conflict(error):
                        continue
                    raise
                made = _release(opened(self._catalogue_uri, catalogue.version))
                if made is not None:
                    return made
        raise EngineUnavailable(f"{self.uri} changes all the time", hint="run the command again")


def _release(catalogue: Any) -> Release | None:
    """What a version of the catalogue says; None for the one that was made before the first release."""
    config = catalogue.config()
    form = config.get(_FORMAT_KEY)
    if form is None:
        return None
    if form != FORMAT:
        raise EngineUnavailable(
            f"the publication has format {form}, this kebab reads format {FORMAT}", hint="upgrade kebab"
        )
    named = sorted(key.removeprefix(_PART) for key in config if key.startswith(_PART))
    number = int(catalogue.version) - _before(config)
    return Release(number, tuple(_part(name, config[f"{_PART}{name}"]) for name in named))


def _before(config: Mapping[str, str]) -> int:
    """Raises Corrupt for what is no number."""
    stated = config.get(_BEFORE_KEY, "0")
    if not stated.isdecimal():
        raise Corrupt(f"the catalogue says nothing sensible of its beginning: {stated!r}")
    return int(stated)


def _part(name: str, stated: str) -> Part:
    try:
        entry = _entry.decode(stated)
        return Part(publisher_name(name), entry.contents, _encode(entry.versions).decode())
    except (msgspec.MsgspecError, InvalidInput) as error:
        raise Corrupt(f"the catalogue says nothing sensible of {name!r}: {error}") from error


def _encoded(part: Part) -> str:
    return _encode(_Entry(part.contents, _named(part))).decode()


def _named(part: Part) -> Versions:
    return _versions.decode(part.state)


def _require_version(parts: Sequence[Part], version: str) -> None:
    for part in parts:
        if part.contents.lexical != version:
            theirs = part.contents.lexical
            raise EngineUnavailable(
                f"{part.publisher!r} published the words index {theirs}, this kebab reads {version}",
                hint="use the same version of kebab for both, and publish again",
            )
