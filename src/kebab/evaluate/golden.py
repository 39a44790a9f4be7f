"""Golden files: queries written by hand with what they should find, as YAML.

```yaml
queries:                          # or the bare list
  - id: ownership-why
    query: who frees the memory of a value?
    group: paraphrase
    lang: en
    expect:
      sections: ["ch04-01-what-is-ownership.md#Ownership Rules"]   # also: documents, paths, chunks
    must_contain: ["dropped"]     # in one of the first ten chunks
    forbidden: [drafts/old.md]    # not among the first ten
  - id: cooking
    query: how long do I boil an egg?
    refuse: true
```

``documents`` takes a path or a document id, ``paths`` paths alone. A section is a path and a heading anywhere
above or on the lines that were found. Naming several targets means that each of them should be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from kebab.domain.evaluations import EvalQuery, QuerySet
from kebab.domain.ids import ChunkId, nfc
from kebab.errors import InvalidInput
from kebab.ports import DocumentStore


class Expect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    documents: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One query as the file states it."""

    id: str
    query: str
    expect: Expect = Expect()
    must_contain: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    group: str = ""
    lang: str = ""
    refuse: bool = False


class GoldenFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    queries: tuple[Entry, ...]
    about: str = ""


def read(path: Path) -> tuple[Entry, ...]:
    """The entries of a golden file, in order. Raises InvalidInput for anything wrong in the file itself."""
    import yaml

    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"the golden file {path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not valid YAML: {error}") from error
    try:
        entries = msgspec.convert({"queries": raw} if isinstance(raw, list) else raw, GoldenFile).queries
    except msgspec.ValidationError as error:
        raise InvalidInput(
            f"{path}: {error}", hint="see docs/quality.md for the form of a golden file"
        ) from error
    _refuse_any(list(_faults(entries)), path)
    return entries


def resolve(entries: tuple[Entry, ...], *, name: str, store: DocumentStore) -> QuerySet:
    """The entries with every target checked against the knowledge base.

    Raises InvalidInput that names each path, section, document or chunk that does not exist, all at once.
    """
    catalogue = _Catalogue(store)
    queries: list[EvalQuery] = []
    unknown: list[str] = []
    for entry in entries:
        named = list(catalogue.targets(entry))
        unknown += [f"{entry.id}: there is no {kind} {value!r}" for kind, value, key in named if key is None]
        queries.append(_query(entry, catalogue, [key for _, _, key in named if key is not None]))
        unknown += [
            f"{entry.id}: there is no forbidden target {f!r}" for f in catalogue.missing(entry.forbidden)
        ]
    _refuse_any(unknown, Path(name))
    return QuerySet(name, tuple(queries))


def _query(entry: Entry, catalogue: _Catalogue, targets: list[str]) -> EvalQuery:
    return EvalQuery(
        query_id=entry.id,
        text=nfc(entry.query),
        targets=dict.fromkeys(targets, 1),
        must_contain=tuple(nfc(text) for text in entry.must_contain),
        forbidden=tuple(nfc(target) for target in entry.forbidden),
        group=entry.group,
        lang=entry.lang,
        refuse=entry.refuse,
    )


def _faults(entries: tuple[Entry, ...]) -> Iterator[str]:
    seen: set[str] = set()
    for entry in entries:
        expected = entry.expect != Expect()
        if entry.id in seen:
            yield f"{entry.id}: this id stands twice"
        if not entry.query.strip():
            yield f"{entry.id}: the query is empty"
        if entry.refuse and expected:
            yield f"{entry.id}: refuse and expect exclude each other"
        if not entry.refuse and not expected:
            yield f"{entry.id}: expect is empty; write refuse: true where nothing should be found"
        seen.add(entry.id)


def _refuse_any(faults: list[str], path: Path) -> None:
    if faults:
        more = f" (and {len(faults) - 20} more)" if len(faults) > 20 else ""
        raise InvalidInput(
            f"{path}: " + "; ".join(faults[:20]) + more,
            hint="correct the golden file, or ingest the documents it names",
            details={"faults": faults},
        )


class _Catalogue:
    """What exists, so that a misspelt target is an error and not a lost query."""

    def __init__(self, store: DocumentStore) -> None:
        self._store = store
        summaries = store.list_documents()
        self._paths = {summary.path: summary.doc_id for summary in summaries}
        self._ids = {str(summary.doc_id): summary.path for summary in summaries}
        self._headings: dict[str, frozenset[str]] = {}

    def targets(self, entry: Entry) -> Iterator[tuple[str, str, str | None]]:
        """Each expectation as (kind, as written, target or None)."""
        expect = entry.expect
        yield from (("document", value, self._document(value)) for value in expect.documents)
        yield from (("path", value, self._path(value)) for value in expect.paths)
        yield from (("section", value, self._section(value)) for value in expect.sections)
        yield from (("chunk", value, self._chunk(value)) for value in expect.chunks)

    def missing(self, targets: tuple[str, ...]) -> list[str]:
        finders = (self._path, self._section, self._chunk)
        return [target for target in targets if all(find(target) is None for find in finders)]

    def _document(self, value: str) -> str | None:
        return self._ids.get(value) or self._path(value)

    def _path(self, value: str) -> str | None:
        return nfc(value) if nfc(value) in self._paths else None

    def _section(self, value: str) -> str | None:
        path, _, heading = nfc(value).partition("#")
        return f"{path}#{heading}" if heading in self._headings_of(path) else None

    def _headings_of(self, path: str) -> frozenset[str]:
        if path not in self._headings and path in self._paths:
            stored = self._store.chunks_of(self._paths[path])
            self._headings[path] = frozenset(h for item in stored for h in item.chunk.heading_path)
        return self._headings.get(path, frozenset())

    def _chunk(self, value: str) -> str | None:
        return value if self._store.hydrate([ChunkId(value)]) else None
