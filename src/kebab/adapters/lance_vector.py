"""The vector index on Lance, through pylance: one table a model, exact while small, IVF_RQ above."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from kebab.adapters.checkpoint import CheckpointFile, Mark
from kebab.adapters.file_sums import FileSums
from kebab.adapters.flat_vectors import FlatFiles, FlatVectors
from kebab.adapters.lance_table import (
    among,
    copied,
    lance_engine,
    opened_table,
    pieces_of,
    rows_of,
    shape_of,
    unindexed,
)
from kebab.adapters.vector_tables import remove_superseded, table_name, unit_query
from kebab.disk.private import make_folder
from kebab.domain.chunks import StoredChunk
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.values import dataclass
from kebab.errors import Corrupt, EngineError, StorageError
from kebab.ports import IndexShape, ModelKey

if TYPE_CHECKING:
    import pyarrow as pa

    from kebab.ports import Vectors

LAYOUT = "lance-1"
_ENDINGS = ("lance", "flat", "checkpoint.json", "sums.json")

# Rows from which the approximate index is faster than the exact scan.
ANN_THRESHOLD = 30_000
# Partitions looked into, and candidates for each wanted hit, before exact cosines decide.
_PROBES = 40
_CANDIDATES = 4
_MIN_CANDIDATES = 400
# Rows of a filter's documents that are scanned exactly; beyond that the index is asked for more and more.
_MAX_SCANNED = 4_000
# Fragments and the share of deleted or not yet indexed rows that call for an overhaul.
_MAX_FRAGMENTS = 16
_MAX_STALE = 0.05
# Fragments of this size are left alone, or every small change would rewrite the whole table.
_FRAGMENT_ROWS = 100_000
# The index is trained anew when the table has grown by this factor: its partitions become too large.
_GROWTH = 3
_TRAINED = "kebab.trained_rows"
# A longer list of documents is not sent to the engine; what it finds is filtered instead.
_MAX_LISTED = 2_000
# Old versions are kept this long: a reader may be in the middle of one.
_KEEP = timedelta(minutes=10)
_REPAIR = "run `kebab doctor --repair`"
_DISK_TROUBLE = ("No space left", "Permission denied", "Read-only file system", "Disk quota")


@dataclass(frozen=True, slots=True)
class _View:
    """The table as of one checkpoint. ``dataset`` is None where the copy, then complete, answers alone."""

    mark: Mark
    flat: FlatVectors | None
    complete: bool
    """Whether the copy has every row."""
    dataset: Any | None = None


def files_of(folder: Path, model: ModelKey) -> tuple[Path, Path, Path, Path]:
    """Where a model's vectors are indexed: the table, the copy, the checkpoint and the checksums."""
    table, flat, checkpoint, sums = (folder / f"{table_name(model)}.{ending}" for ending in _ENDINGS)
    return table, flat, checkpoint, sums


class LanceVectorIndex:
    """VectorIndex in one table of a folder. Nothing is created before the first apply.

    Readers stay on the version that the newest checkpoint names, so they never see half a change.
    """

    def __init__(self, folder: Path, model: ModelKey, *, ann_threshold: int = ANN_THRESHOLD) -> None:
        self._model = model
        self._ann_threshold = ann_threshold
        self._table, flat, checkpoint, sums = files_of(folder, model)
        self._flat_files = FlatFiles(flat)
        layout = f"{LAYOUT}:{model.model_id}:{model.version}:{model.dimensions}"
        proof = self._table / "_versions"
        self._checkpoint = CheckpointFile(checkpoint, layout, proof=proof)
        self._sums = FileSums(sums, folder)
        self._lock = Lock()
        self._view: _View | None = None

    @property
    def version(self) -> str:
        return f"vector:{self._checkpoint.layout}"

    @property
    def model(self) -> ModelKey:
        return self._model

    def checkpoint(self) -> int:
        return self._checkpoint.read() or 0

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        vectors: Mapping[ChunkId, Vectors],
        checkpoint: int,
    ) -> None:
        if self._checkpoint.read() is None:
            self.clear()
        known = [stored for stored in chunks if stored.chunk.chunk_id in vectors]
        gone = dict.fromkeys([*removed, *(stored.chunk.doc_id for stored in chunks)])
        rows = rows_of(self._model, known, [vectors[stored.chunk.chunk_id] for stored in known])
        with self._translated():
            make_folder(self._table.parent)
            dataset = self._written(rows, list(gone))
            self._sums.write(self._files())
            self._checkpoint.write(checkpoint, table_version=dataset.version)

    def search(self, vector: Vectors, *, limit: int, docs: frozenset[DocId] | None = None) -> list[Ranked]:
        query = unit_query(vector, self._model)
        with self._translated():
            view = self._current()
            if view is None or limit <= 0 or not query.any() or (docs is not None and not docs):
                return []
            return _nearest(view, query, limit=limit, docs=docs)

    def optimize(self) -> None:
        mark = self._checkpoint.mark()
        if mark is None:
            return
        with self._translated():
            dataset = _compacted(opened_table(self._table))
            dataset = self._indexed(dataset)
            if self._copy_is_due(dataset):
                rows, dimensions = dataset.count_rows(), self._model.dimensions
                self._flat_files.save(dataset.version, pieces_of(dataset), rows=rows, dimensions=dimensions)
            self._sums.write(self._files())
            self._checkpoint.write(mark.position, table_version=dataset.version)
            dataset.cleanup_old_versions(older_than=_KEEP)
            self._sums.write(self._files())
            if mark.position:
                remove_superseded(self._table.parent, self._model, keep=_ENDINGS)

    def chunk_ids(self) -> set[ChunkId]:
        with self._translated():
            dataset = self._dataset()
            names = dataset.to_table(columns=["chunk_id"])["chunk_id"].to_pylist() if dataset else []
            return {ChunkId(name) for name in names}

    def count(self) -> int:
        with self._translated():
            dataset = self._dataset()
            return int(dataset.count_rows()) if dataset else 0

    def faults(self) -> list[str]:
        return self._sums.faults() if self._checkpoint.read() else []

    def shape(self) -> IndexShape:
        with self._translated():
            dataset = self._dataset()
            places = [self._table, self._flat_files.folder]
            return IndexShape() if dataset is None else shape_of(dataset, places)

    def _files(self) -> list[Path]:
        folders = (self._table, self._flat_files.folder)
        return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())

    def clear(self) -> None:
        # The checkpoint goes first: half a cleared table must not look like an index.
        self._checkpoint.forget()
        with self._translated():
            self._sums.forget()
            for folder in (self._table, self._flat_files.folder):
                if folder.exists():
                    shutil.rmtree(folder)
        with self._lock:
            self._view = None

    # --- writing -----------------------------------------------------------------------------------

    def _written(self, rows: pa.Table, gone: Sequence[DocId]) -> Any:
        """Old rows go before new ones come: whatever a crash leaves, applying it again ends the same."""
        lance = lance_engine()
        if not self._table.exists():
            return lance.write_dataset(rows, str(self._table), mode="create")
        dataset = opened_table(self._table)
        if gone and dataset.count_rows():
            dataset.delete(among("doc_id", gone))
        if rows.num_rows:
            dataset = lance.write_dataset(rows, dataset, mode="append")
        return dataset

    def _indexed(self, dataset: Any) -> Any:
        rows = dataset.count_rows()
        if rows < self._ann_threshold:
            return dataset
        trained = int(dataset.config().get(_TRAINED, "0"))
        if not dataset.describe_indices() or rows > _GROWTH * trained:
            # One bit a dimension, said explicitly: without it the engine takes larger codes.
            dataset = dataset.create_index("embedding", "IVF_RQ", metric="cosine", num_bits=1, replace=True)
            dataset.update_config({_TRAINED: str(rows)})
        elif unindexed(dataset) > _MAX_STALE * rows:
            dataset.optimize.optimize_indices()
        return opened_table(self._table)

    def _copy_is_due(self, dataset: Any) -> bool:
        newest = self._flat_files.newest()
        if newest is None or dataset.count_rows() < self._ann_threshold:
            return bool(newest != dataset.version)
        flat = self._flat_files.load(newest)
        if flat is None:
            return True
        rows = dataset.to_table(columns=[], with_row_id=True)["_rowid"].to_numpy()
        return len(flat.positions(rows)) < (1 - _MAX_STALE) * len(rows)

    # --- reading -----------------------------------------------------------------------------------

    def _current(self) -> _View | None:
        mark = self._checkpoint.mark()
        with self._lock:
            if mark is None:
                self._view = None
            elif self._view is None or self._view.mark != mark:
                self._view = self._viewed(mark)
            return self._view

    def _viewed(self, mark: Mark) -> _View:
        flat = self._flat_files.load(mark.table_version)
        if flat is not None and len(flat) < self._ann_threshold:
            return _View(mark, flat, complete=True)
        dataset = opened_table(self._table, mark.table_version)
        if flat is None and dataset.count_rows() < self._ann_threshold:
            return _View(mark, copied(dataset), complete=True)
        if flat is None:
            # Rows never change under their id, so that an older copy still serves for those it has.
            newest = self._flat_files.newest()
            flat = self._flat_files.load(newest) if newest is not None else None
            return _View(mark, flat, complete=False, dataset=dataset)
        return _View(mark, flat, complete=True, dataset=dataset)

    def _dataset(self) -> Any | None:
        mark = self._checkpoint.mark()
        return opened_table(self._table, mark.table_version) if mark else None

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


def _nearest(view: _View, query: Vectors, *, limit: int, docs: frozenset[DocId] | None) -> list[Ranked]:
    least = max(limit * _CANDIDATES, _MIN_CANDIDATES)
    if view.flat is None or not view.complete:
        return _nearest_rows(view, query, limit=limit, least=least, docs=docs)
    among = None if docs is None else view.flat.rows_of(docs)
    if view.dataset is not None and among is None:
        among = view.flat.positions(_proposed(view.dataset, query, least))
    elif view.dataset is not None and among is not None and len(among) > _MAX_SCANNED:
        among = _proposed_among(view.flat, view.dataset, query, among, limit=limit, least=least)
    return view.flat.nearest(query, limit=limit, among=among)


def _proposed_among(
    flat: FlatVectors, dataset: Any, query: Vectors, among: Any, *, limit: int, least: int
) -> Any:
    """Those of the proposals that a filter allows; all that it allows when too few are proposed."""
    import numpy as np

    allowed = np.zeros(len(flat), dtype=bool)
    allowed[among] = True
    wanted = least * len(flat) // len(among)
    proposed = flat.positions(_proposed(dataset, query, wanted))
    kept = proposed[allowed[proposed]]
    return kept if len(kept) >= min(2 * limit, len(among)) else among


def _nearest_rows(
    view: _View, query: Vectors, *, limit: int, least: int, docs: frozenset[DocId] | None
) -> list[Ranked]:
    """Without a complete copy: proposals, four times as many each time, until a filter leaves enough."""
    wanted = least
    while True:
        row_ids = _proposed(view.dataset, query, wanted, docs)
        found = _gathered(view, row_ids)
        among = None if docs is None else found.rows_of(docs)
        if among is None or len(among) >= 2 * limit or len(row_ids) < wanted:
            return found.nearest(query, limit=limit, among=among)
        wanted *= 4


def _proposed(dataset: Any, query: Vectors, wanted: int, docs: frozenset[DocId] | None = None) -> Any:
    """Row ids of about the nearest rows. Only ids: the engine would read every other column row by row."""
    import pyarrow as pa

    asked = {
        "column": "embedding",
        "q": pa.array(query),  # an array of numpy would be turned into doubles and back
        "k": wanted,
        "nprobes": max(_PROBES, wanted // 1000),
        "metric": "cosine",
    }
    listed = docs is not None and len(docs) <= _MAX_LISTED
    scanner = dataset.scanner(
        columns=["_distance"],
        with_row_id=True,
        nearest=asked,
        filter=among("doc_id", sorted(docs)) if docs is not None and listed else None,
        prefilter=listed,
    )
    return scanner.to_table()["_rowid"].to_numpy()


def _gathered(view: _View, row_ids: Any) -> FlatVectors:
    """These rows with their vectors: from the copy where it has them, from the table otherwise."""
    import numpy as np

    if view.flat is None:
        return copied(view.dataset, np.sort(row_ids))
    at = np.sort(view.flat.positions(row_ids))
    held = view.flat.taken(at)
    missing = np.setdiff1d(row_ids, held.row_ids)
    return held if not len(missing) else held.joined(copied(view.dataset, missing))


def _compacted(dataset: Any) -> Any:
    fragments = dataset.get_fragments()
    deleted = sum(fragment.num_deletions for fragment in fragments)
    if len(fragments) <= _MAX_FRAGMENTS and deleted <= _MAX_STALE * dataset.count_rows():
        return dataset
    dataset.optimize.compact_files(
        target_rows_per_fragment=_FRAGMENT_ROWS, materialize_deletions_threshold=_MAX_STALE
    )
    return opened_table(Path(dataset.uri))


def _translation(error: BaseException, table: Path) -> EngineError:
    message = str(error).partition(", /")[0]  # what follows are places in the engine's source
    if any(trouble in message for trouble in _DISK_TROUBLE):
        return StorageError(f"{table}: {message}", hint="check free space and permissions of the data folder")
    return Corrupt(f"the vector index in {table} cannot be used: {message}", hint=_REPAIR)
