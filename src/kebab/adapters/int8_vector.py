"""The vector index in plain files of int8: small, and opened without an engine.

Every vector is compared while there are few. Of many, the signs of all are looked at first where those of the
model tell enough (docs/decisions/0016-two-looks.md), and the likeliest are compared.

A folder holds segments, each written once, and a manifest that names them, the rows of them that are gone,
their checksums and the outbox position that all of it belongs to. The manifest is replaced last: whatever a
crash leaves behind is not named by it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from blake3 import blake3

from kebab.adapters import int8_segments as segments
from kebab.adapters.file_sums import hash_of
from kebab.adapters.int8_merging import due, full_tier
from kebab.adapters.int8_rows import LEAST, Rows
from kebab.adapters.int8_segments import Files, Segment
from kebab.adapters.vector_tables import remove_superseded, table_name, unit_query
from kebab.disk.private import make_folder, replacing
from kebab.domain.chunks import StoredChunk
from kebab.domain.fusion import Ranked
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.values import dataclass
from kebab.errors import Corrupt, ModelMismatch, StorageError
from kebab.ports import IndexShape, ModelKey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.ports import Vectors

LAYOUT = "int8-3"
_BEFORE = ("int8-1", "int8-2")
"""The layouts before signs: their vectors are read as they are, and get signs at the next ``optimize``."""
ENDING = "int8"
_ENDINGS = ("codes", "keys", "signs")

_MANIFEST = "manifest.json"
_REPAIR = "run `kebab doctor --repair`"
# A reader may find the segments of its manifest merged away, and takes the next one.
_TRIES = 20


@dataclass(frozen=True, slots=True)
class _Manifest:
    checkpoint: int
    """Of the outbox; 0 while the index is being built."""
    next_name: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class _View:
    """What one manifest names, opened. ``seen`` tells whether there is another one by now."""

    seen: tuple[int, int, int]
    manifest: _Manifest
    rows: Rows


class Int8VectorIndex:
    """VectorIndex in a folder of its own. Nothing is created before the first apply.

    Readers hold what the manifest named when they looked; each search looks once whether it was replaced.
    """

    def __init__(self, folder: Path, model: ModelKey, *, signed: bool = False, least: int = LEAST) -> None:
        """``signed`` where the signs of the model's vectors tell which are likely to be near; otherwise every
        search compares every vector."""
        self._model = model
        self._signed = signed
        self._least = least
        self._folder = folder / f"{table_name(model)}.{ENDING}"
        named = f"{model.model_id}:{model.version}:{model.dimensions}"
        self._layout = f"{LAYOUT}:{named}"
        self._older = frozenset(f"{layout}:{named}" for layout in _BEFORE)
        self._lock = Lock()
        self._view: _View | None = None

    @property
    def version(self) -> str:
        return f"vector:{self._layout}"

    @property
    def model(self) -> ModelKey:
        return self._model

    def checkpoint(self) -> int:
        with self._translated():
            view = self._view
            if view is not None and view.seen == self._state():
                return view.manifest.checkpoint
            manifest = self._manifest()
            return manifest.checkpoint if manifest else 0

    def apply(
        self,
        *,
        removed: Sequence[DocId],
        chunks: Sequence[StoredChunk],
        vectors: Mapping[ChunkId, Vectors],
        checkpoint: int,
    ) -> None:
        with self._translated():
            view = self._current()
            if view is None:
                self._remove()
                make_folder(self._folder)
            known = [stored for stored in chunks if stored.chunk.chunk_id in vectors]
            gone = frozenset((*removed, *(stored.chunk.doc_id for stored in chunks)))
            kept = _without(view, gone) if view else ()
            number = view.manifest.next_name if view else 1
            if known:
                codes, keys = self._rows(known, [vectors[stored.chunk.chunk_id] for stored in known])
                kept = (*kept, self._written(number, codes, keys))
            self._write(_Manifest(checkpoint, number + 1, kept))
            if tier := full_tier(kept):
                self._merge(tier)
                self._sweep()

    def search(self, vector: Vectors, *, limit: int, docs: frozenset[DocId] | None = None) -> list[Ranked]:
        query = segments.codes_of(unit_query(vector, self._model).reshape(1, -1))
        with self._translated():
            view = self._current()
            if view is None or limit <= 0 or not query.any() or (docs is not None and not docs):
                return []
            return view.rows.nearest(query, limit=limit, docs=docs)

    def optimize(self) -> None:
        with self._translated():
            view = self._current()
            if view is None:
                return
            if merged := due(view.manifest.segments):
                self._merge(merged)
            self._complete()
            self._sweep()
            if view.manifest.checkpoint:
                remove_superseded(self._folder.parent, self._model, keep=(ENDING,))

    def chunk_ids(self) -> set[ChunkId]:
        with self._translated():
            view = self._current()
            return {ChunkId(name) for name in view.rows.names()} if view else set()

    def count(self) -> int:
        with self._translated():
            view = self._current()
            return view.rows.count if view else 0

    def faults(self) -> list[str]:
        with self._translated():
            for _ in range(_TRIES):
                before = self._manifest()
                found = [] if before is None else self._compare(before)
                if not found or before == self._manifest():
                    break  # otherwise somebody wrote meanwhile
            return found

    def shape(self) -> IndexShape:
        from kebab.disk.sizes import bytes_of  # no search needs it

        with self._translated():
            manifest = self._manifest()
            if manifest is None:
                return IndexShape()
            removed = sum(bin(int(one.dead, 16)).count("1") for one in manifest.segments if one.dead)
            return IndexShape(len(manifest.segments), removed, byte_len=bytes_of([self._folder]))

    def clear(self) -> None:
        with self._translated():
            self._remove()

    # --- writing -----------------------------------------------------------------------------------

    def _rows(
        self, chunks: Sequence[StoredChunk], vectors: Sequence[Vectors]
    ) -> tuple[NDArray[np.int8], NDArray[np.void]]:
        import numpy as np

        wrong = {len(vector) for vector in vectors} - {self._model.dimensions}
        if wrong:
            raise ModelMismatch(
                f"vectors of {wrong} dimensions, {self._model.model_id} has {self._model.dimensions}"
            )
        codes = segments.codes_of_each(vectors, self._model.dimensions)
        keys = np.empty(len(chunks), dtype=segments.key_type())
        keys["chunk"] = [bytes.fromhex(stored.chunk.chunk_id) for stored in chunks]
        keys["doc"] = [bytes.fromhex(stored.chunk.doc_id) for stored in chunks]
        keys["square"] = segments.squares_of(codes)
        return codes, keys

    def _merge(self, merged: tuple[Segment, ...]) -> None:
        """Write the living rows of some segments as one; the others stay as they are."""
        view = self._current()
        if view is None:
            return
        names = {one.name for one in merged}
        opened = [part for part in view.rows.parts() if part[0].segment.name in names]
        number, name = view.manifest.next_name, f"{view.manifest.next_name:08d}"
        whole = segments.merge_segments(
            self._folder, name, opened, self._model.dimensions, signed=self._signed
        )
        rest = tuple(one for one in view.manifest.segments if one.name not in names)
        kept = (*rest, whole) if whole.rows else rest
        self._write(_Manifest(view.manifest.checkpoint, number + 1, kept))

    def _complete(self) -> None:
        """Give signs to the segments of an index that was made without them."""
        manifest = self._manifest()
        if manifest is None or not self._signed or all(one.signs for one in manifest.segments):
            return
        width = self._model.dimensions
        kept = [
            one if one.signs else segments.with_signs(self._folder, one, width) for one in manifest.segments
        ]
        self._write(replace(manifest, segments=tuple(kept)))

    def _written(self, number: int, codes: NDArray[np.int8], keys: NDArray[np.void]) -> Segment:
        return segments.write_segment(self._folder, f"{number:08d}", codes, keys, signed=self._signed)

    def _write(self, manifest: _Manifest) -> None:
        content = {"layout": self._layout, **asdict(manifest)}
        with replacing(self._folder / _MANIFEST) as file:
            file.write(json.dumps({**content, "hash": _hash_of(content)}).encode())

    def _sweep(self) -> None:
        """Remove what no manifest names any more. A reader that has it open keeps it."""
        manifest = self._manifest()
        named = {one.name for one in manifest.segments} if manifest else set()
        for path in self._folder.iterdir():
            name, _, ending = path.name.partition(".")
            if path.name != _MANIFEST and not (name in named and ending in _ENDINGS):
                path.unlink(missing_ok=True)

    def _remove(self) -> None:
        # The manifest goes first: half a cleared folder must not look like an index.
        with self._lock:
            self._view = None
        (self._folder / _MANIFEST).unlink(missing_ok=True)
        if self._folder.exists():
            shutil.rmtree(self._folder)

    # --- reading -----------------------------------------------------------------------------------

    def _current(self) -> _View | None:
        with self._lock:
            for attempt in range(_TRIES):
                seen = self._state()
                if seen is None:
                    self._view = None
                elif self._view is None or self._view.seen != seen:
                    try:
                        self._view = self._opened(seen)
                    except FileNotFoundError:
                        if attempt + 1 < _TRIES and self._state() != seen:
                            continue
                        raise
                return self._view
        return None

    def _opened(self, seen: tuple[int, int, int]) -> _View | None:
        import numpy as np

        manifest = self._manifest()
        if manifest is None:
            return None
        dead = [segments.dead_rows(one) for one in manifest.segments]
        rows = Rows(
            tuple(self._files(one) for one in manifest.segments),
            ~np.concatenate([*dead, np.zeros(0, dtype=bool)]),
            self._signed,
            self._least,
        )
        return _View(seen, manifest, rows)

    def _files(self, segment: Segment) -> Files:
        """Those of a segment, from the view before where it had them open."""
        for files in self._view.rows.files if self._view else ():
            if files.are_those_of(segment):
                return files
        return segments.open_files(self._folder, segment, self._model.dimensions)

    def _state(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._folder / _MANIFEST)
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _manifest(self) -> _Manifest | None:
        """None where there is no index of this layout; raises ValueError where it cannot be relied on."""
        try:
            found = json.loads((self._folder / _MANIFEST).read_bytes())
        except FileNotFoundError:
            return None
        if not isinstance(found, dict) or found.pop("hash", None) != _hash_of(found):
            raise ValueError("its manifest is damaged")
        if found["layout"] not in {self._layout, *self._older}:
            return None
        named = tuple(_segment(segment) for segment in found["segments"])
        return _Manifest(found["checkpoint"], found["next_name"], named)

    def _compare(self, manifest: _Manifest) -> list[str]:
        found = []
        for one in manifest.segments:
            for ending, known in zip(_ENDINGS, (one.codes, one.keys, one.signs), strict=True):
                if not known:
                    continue
                file = self._folder / f"{one.name}.{ending}"
                try:
                    found += [f"{file.name} is damaged"] if hash_of(file) != known else []
                except OSError as error:
                    found.append(f"{file.name} cannot be read: {error.strerror}")
        return found

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise Corrupt(
                f"the vector index in {self._folder} has lost a file: {error}", hint=_REPAIR
            ) from error
        except OSError as error:
            raise StorageError(
                f"{self._folder}: {error}", hint="check free space and permissions of the data folder"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise Corrupt(
                f"the vector index in {self._folder} cannot be used: {error}", hint=_REPAIR
            ) from error


def _segment(found: dict[str, Any]) -> Segment:
    """As a manifest names it; what the layout before knew of it beside that is not needed."""
    return Segment(**{key: value for key, value in found.items() if key != "leads"})


def _without(view: _View, docs: frozenset[DocId]) -> tuple[Segment, ...]:
    """The segments with the rows of these documents dead; those without a living row are left out."""
    kept = []
    for (files, alive), one in zip(view.rows.parts(), view.manifest.segments, strict=True):
        gone = files.rows_of(docs) & alive
        if not gone.any():
            kept.append(one)
        elif (alive & ~gone).any():
            kept.append(segments.with_dead(one, ~alive | gone))
    return tuple(kept)


def _hash_of(content: dict[str, Any]) -> str:
    return blake3(json.dumps(content, sort_keys=True).encode()).hexdigest(length=16)
