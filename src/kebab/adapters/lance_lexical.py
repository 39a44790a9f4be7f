"""The words index on Lance's own full-text index, fed with our analyzer's terms."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from kebab.adapters.checkpoint import CheckpointFile, Mark
from kebab.adapters.file_sums import FileSums
from kebab.adapters.lance_table import among, lance_engine, opened_table, shape_of
from kebab.disk.private import make_folder
from kebab.domain.chunk_words import ChunkCutter, ChunkWords
from kebab.domain.chunks import StoredChunk
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId, DocId
from kebab.errors import Corrupt, EngineError, StorageError
from kebab.ports import NONE_CUT, Analyzer, IndexShape, LexicalQuery

if TYPE_CHECKING:
    import pyarrow as pa

LAYOUT = "lance-fts-1"
FIELDS = ("body", "exact", "name", "about", "called")
_COLUMNS = ("chunk_id", "doc_id", *FIELDS)
# A run of equal scores that reaches over the cut is fetched whole, up to this many hits, to order it by id.
_MAX_TIED = 4096
# A longer list of documents is not sent to the engine; what it finds is filtered instead.
_MAX_LISTED = 2_000
_MOST_NAMED = 1000
_MAX_FRAGMENTS = 16
_DISK_TROUBLE = ("No space left", "Permission denied", "Read-only file system", "Disk quota")


def text_options(*, positions: bool) -> dict[str, object]:
    """How the engine cuts a field: at spaces alone, since the analyzer did the rest."""
    return {
        "base_tokenizer": "whitespace",
        "lower_case": False,
        "stem": False,
        "remove_stop_words": False,
        "ascii_folding": False,
        "with_position": positions,
        "max_token_length": None,
    }


class LanceLexicalIndex:
    """LexicalIndex in one table of a folder. Nothing is created before the first apply.

    Readers stay on the version that the newest checkpoint names, so they never see half a change.
    """

    def __init__(self, folder: Path, analyzer: Analyzer) -> None:
        self._folder = folder
        self._table = folder / "words.lance"
        self._cut = ChunkCutter(analyzer.index_text)
        layout = f"{LAYOUT}:{analyzer.version}"
        self._checkpoint = CheckpointFile(folder / "checkpoint.json", layout, proof=self._table / "_versions")
        self._sums = FileSums(folder / "sums.json", folder)
        self._lock = Lock()
        self._opened: tuple[Mark, Any] | None = None

    @property
    def version(self) -> str:
        return f"lexical:{self._checkpoint.layout}"

    def checkpoint(self) -> int:
        return self._checkpoint.read() or 0

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        checkpoint: int,
        cut: Mapping[ChunkId, ChunkWords] = NONE_CUT,
    ) -> None:
        if self._checkpoint.read() is None:
            self.clear()
        gone = list(dict.fromkeys([*removed, *(stored.chunk.doc_id for stored in chunks)]))
        with self._translated():
            make_folder(self._folder)
            dataset = _indexed(self._written(self._rows(chunks, cut), gone))
            self._sums.write(sorted(path for path in self._table.rglob("*") if path.is_file()))
            self._checkpoint.write(checkpoint, table_version=dataset.version)

    def search(
        self, query: LexicalQuery, *, limit: int, docs: frozenset[DocId] | None = None
    ) -> list[Ranked]:
        with self._translated():
            dataset = self._dataset()
            ranked = None if dataset is None or limit <= 0 else _ranking(query)
            if ranked is None or (docs is not None and not docs):
                return []
            allowed = _allowed(dataset, query)
            listed = docs is not None and len(docs) <= _MAX_LISTED
            condition = among("doc_id", sorted(docs)) if docs is not None and listed else None
            keep = None if listed or docs is None else docs
            return _best(dataset, ranked, limit=limit, condition=condition, allowed=allowed, docs=keep)

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        with self._translated():
            dataset = self._dataset()
            return {
                term: len(_found(dataset, _match(term, "body")))
                if dataset is not None and _clean(term)
                else 0
                for term in terms
            }

    def named(self, key: str, *, docs: frozenset[DocId] | None = None) -> list[ChunkId]:
        with self._translated():
            dataset = self._dataset()
            if dataset is None or not _clean(key):
                return []
            rows = _rows_of(dataset, _match(key, "called"), ["chunk_id", "doc_id"])
            kept = [chunk for chunk, doc in rows if docs is None or doc in docs]
            return [ChunkId(chunk) for chunk in sorted(kept)[:_MOST_NAMED]]

    def words_from(self, beginning: str) -> dict[str, int]:
        with self._translated():
            dataset = self._dataset()
            if dataset is None or not _clean(beginning):
                return {}
            # The engine lists no terms: the field is read, as far as it holds the beginning anywhere.
            quoted = beginning.replace("'", "''")
            table = dataset.to_table(columns=["exact"], filter=f"contains(exact, '{quoted}')")
            found: Counter[str] = Counter()
            for text in table["exact"].to_pylist():
                found.update({word for word in text.split(" ") if word.startswith(beginning)})
            return dict(found)

    def chunk_ids(self) -> set[ChunkId]:
        with self._translated():
            dataset = self._dataset()
            names = [] if dataset is None else dataset.to_table(columns=["chunk_id"])["chunk_id"].to_pylist()
            return {ChunkId(name) for name in names}

    def count(self) -> int:
        with self._translated():
            dataset = self._dataset()
            return 0 if dataset is None else int(dataset.count_rows())

    def faults(self) -> list[str]:
        return self._sums.faults() if self._checkpoint.read() else []

    def shape(self) -> IndexShape:
        with self._translated():
            dataset = self._dataset()
            return IndexShape() if dataset is None else shape_of(dataset, [self._table])

    def clear(self) -> None:
        # The checkpoint goes first: half a cleared table must not look like an index.
        self._checkpoint.forget()
        with self._lock:
            self._opened = None
        with self._translated():
            self._sums.forget()
            if self._table.exists():
                shutil.rmtree(self._table)

    def _rows(self, chunks: Sequence[StoredChunk], cut: Mapping[ChunkId, ChunkWords]) -> pa.Table:
        import pyarrow as pa

        rows = [
            {
                "chunk_id": stored.chunk.chunk_id,
                "doc_id": stored.chunk.doc_id,
                **(cut.get(stored.chunk.chunk_id) or self._cut(stored))._asdict(),
            }
            for stored in chunks
        ]
        return pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in _COLUMNS]))

    def _written(self, rows: pa.Table, gone: Sequence[DocId]) -> Any:
        """Old rows go before new ones come: whatever a crash leaves, applying it again ends the same."""
        lance = lance_engine()
        if not self._table.exists():
            return lance.write_dataset(rows, str(self._table), mode="create")
        dataset = opened_table(self._table)
        for start in range(0, len(gone), 500):
            dataset.delete(among("doc_id", gone[start : start + 500]))
        return lance.write_dataset(rows, dataset, mode="append") if rows.num_rows else dataset

    def _dataset(self) -> Any | None:
        mark = self._checkpoint.mark()
        with self._lock:
            if mark is None:
                self._opened = None
            elif self._opened is None or self._opened[0] != mark:
                self._opened = (mark, opened_table(self._table, mark.table_version))
            return self._opened[1] if self._opened else None

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, RuntimeError, NotImplementedError) as error:
            raise _translation(error, self._table) from error
        except BaseException as error:
            # A panic of the engine derives from BaseException, and its class cannot be imported.
            if type(error).__name__ != "PanicException":
                raise
            raise _translation(error, self._table) from None


def _indexed(dataset: Any) -> Any:
    """With every row in the index: the engine scores those that are not by other statistics."""
    if not dataset.count_rows():
        return dataset
    if len(dataset.get_fragments()) > _MAX_FRAGMENTS:
        dataset.optimize.compact_files()
    known = {index.name for index in dataset.describe_indices()}
    for field in FIELDS:
        if f"{field}_idx" not in known:
            dataset.create_scalar_index(field, "INVERTED", **text_options(positions=field == "body"))
    if known:
        dataset.optimize.optimize_indices()
    return opened_table(Path(dataset.uri))


def _ranking(query: LexicalQuery) -> Any | None:
    """Every term in every field where it may stand, weighed; None where nothing can match."""
    from lance.query import BooleanQuery, Occur

    terms = query.terms or tuple(term for phrase in query.phrases for term in phrase)
    fields = (("body", 1.0), ("name", query.fields.name), ("about", query.fields.about))
    parts = [
        _match(term, field, query.weights.get(term, 1.0) * weight)
        for term in dict.fromkeys(terms)
        if _clean(term)
        for field, weight in fields
        if weight
    ]
    if parts and query.fields.exact:
        parts += [_match(word, "exact", query.fields.exact) for word in query.words if _clean(word)]
    return BooleanQuery([(Occur.SHOULD, part) for part in parts]) if parts else None


def _allowed(dataset: Any, query: LexicalQuery) -> tuple[list[set[str]], set[str]]:
    """The chunks that each condition lets through, and those that are left out: they must not score."""
    musts = [_row(dataset, phrase) for phrase in query.phrases if phrase]
    musts += [
        set(_found(dataset, _match(word, "exact"))) if _clean(word) else set() for word in query.required
    ]
    nots = [_row(dataset, row) for row in query.excluded if row]
    return musts, set().union(*nots)


def _row(dataset: Any, terms: Sequence[str]) -> set[str]:
    """The chunks in whose body the terms stand next to each other."""
    from lance.query import PhraseQuery

    if not all(map(_clean, terms)):
        return set()
    query = _match(terms[0], "body") if len(terms) == 1 else PhraseQuery(" ".join(terms), "body")
    return set(_found(dataset, query))


def _match(term: str, field: str, boost: float = 1.0) -> Any:
    from lance.query import MatchQuery

    return MatchQuery(term, field, boost=boost)


def _found(dataset: Any, query: Any) -> list[str]:
    return [name for (name,) in _rows_of(dataset, query, ["chunk_id"])]


def _rows_of(dataset: Any, query: Any, columns: list[str], **options: Any) -> list[tuple[Any, ...]]:
    table = dataset.scanner(columns=columns, full_text_query=query, **options).to_table()
    return list(zip(*(table[name].to_pylist() for name in columns), strict=True))


def _best(
    dataset: Any,
    query: Any,
    *,
    limit: int,
    condition: str | None,
    allowed: tuple[list[set[str]], set[str]],
    docs: frozenset[DocId] | None,
) -> list[Ranked]:
    """By score, ties by id, also where a tie reaches over the cut: the engine breaks it by position."""
    musts, nots = allowed
    wanted = limit + 1 if not (musts or nots or docs) else 4 * limit + 100
    while True:
        rows = _rows_of(
            dataset,
            query,
            ["chunk_id", "doc_id", "_score"],
            filter=condition,
            prefilter=condition is not None,
            limit=wanted,
        )
        kept = [
            Ranked(name, score)
            for name, doc, score in rows
            if (docs is None or doc in docs) and name not in nots and all(name in must for must in musts)
        ]
        kept.sort(key=lambda hit: (-hit.score, hit.id))
        enough = len(kept) > limit and rows[-1][2] < kept[limit - 1].score
        if len(rows) < wanted or enough or (len(kept) > limit + _MAX_TIED):
            return kept[:limit]
        wanted *= 4


def _clean(term: str) -> bool:
    """Whether a term can stand in the index: one word, and no lone surrogate of a terminal's wrong bytes."""
    whole = bool(term) and len(term.split()) == 1 and term == term.strip()
    return whole and (term.isascii() or not any("\ud800" <= char <= "\udfff" for char in term))


def _translation(error: BaseException, table: Path) -> EngineError:
    message = str(error).partition(", /")[0]  # what follows are places in the engine's source
    if any(trouble in message for trouble in _DISK_TROUBLE):
        return StorageError(f"{table}: {message}", hint="check free space and permissions of the data folder")
    return Corrupt(
        f"the words index in {table} cannot be used: {message}", hint="run `kebab doctor --repair`"
    )
