"""Settling: now and then the words and vectors of the shelf go into indexes that are searched in one go.

Until then records are compared one by one, which a few hundred of them bear well.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from kebab.adapters.execution_words import WordsDocument
from kebab.adapters.journaled.settled import Settled, entry_of
from kebab.adapters.journaled.shelf import Shelf, note, put_notes
from kebab.adapters.journaled.tables import KIND
from kebab.ports import MemoryKind, VectorSpace

STEP = 256
"""How many records may stand unsettled before a writer settles them."""
_BATCH = 5000
GAPS = 1000
"""How many settled records may be gone before all settle anew; at least a quarter as well."""
_DEAD_SHARE = 0.25


def settled_folder(shelf: Shelf, name: str, kind: MemoryKind) -> Path:
    return shelf.folder / f"settled-{name}" / kind.value


def settle(shelf: Shelf, *, step: int = STEP, gaps: int = GAPS, wait: bool = False) -> bool:
    """Settle what stands unsettled, where that is at least ``step``; False where another process writes."""
    with shelf.lock.held_if_free(wait=wait) as free:
        if not free or not shelf.file.exists():
            return free
        with shelf.changing() as db:
            name, dead = note(db, "settled"), db.execute("SELECT count(*) FROM dead").fetchone()[0]
            count = db.execute("SELECT count(*) FROM records").fetchone()[0]
        # Where much of what has settled is gone, all of it settles anew, without the gaps.
        anew = name is None or dead > max(gaps, _DEAD_SHARE * count)
        name = uuid.uuid4().hex[:12] if anew else str(name)
        done = [_settle_kind(shelf, name, kind, step=1 if anew else step) for kind in MemoryKind]
        if anew and any(done):
            with shelf.changing() as db:
                before = note(db, "settled") or ""
                put_notes(db, settled=name, settled_before=before)
                db.execute("DELETE FROM dead")
            _remove_others(shelf, {name, before})
        return True


def _settle_kind(shelf: Shelf, name: str, kind: MemoryKind, *, step: int) -> bool:
    settled = Settled(settled_folder(shelf, name, kind))
    settled.refresh()
    while batch := _batch(shelf, kind, after=settled.manifest.upto):
        if len(batch) < step:
            break
        _extend(shelf, settled, batch)
        step = 1
    return settled.manifest.upto > 0


def _batch(shelf: Shelf, kind: MemoryKind, *, after: int) -> list[tuple[object, ...]]:
    with shelf.changing() as db:
        return db.execute(
            "SELECT records.*, terms, vector "
            "FROM records JOIN bodies USING (seq) LEFT JOIN vectors USING (seq) "
            "WHERE kind = ? AND seq > ? ORDER BY seq LIMIT ?",
            (KIND[kind], after, _BATCH),
        ).fetchall()


def _extend(shelf: Shelf, settled: Settled, batch: list[tuple[object, ...]]) -> None:
    first, last = int(str(batch[0][0])), int(str(batch[-1][0]))
    labels: dict[int, list[tuple[str, str]]] = {}
    with shelf.changing() as db:
        for seq, name, value in db.execute("SELECT * FROM labels WHERE seq BETWEEN ? AND ?", (first, last)):
            labels.setdefault(seq, []).append((name, value))
        dead = [seq for (seq,) in db.execute("SELECT seq FROM dead")]
    documents = [
        WordsDocument(str(row[0]), str(row[-2]), entry_of(row, labels.get(int(str(row[0])), [])))
        for row in batch
    ]
    settled.extend(last, documents, _vectors(batch), dead=dead)


def _vectors(batch: list[tuple[object, ...]]) -> Iterator[tuple[VectorSpace, int, bytes]]:
    for row in batch:
        if isinstance(row[-1], bytes):
            yield VectorSpace(str(row[15]), len(row[-1]) // 4), int(str(row[0])), row[-1]


def _remove_others(shelf: Shelf, kept: set[str]) -> None:
    for folder in shelf.folder.glob("settled-*"):
        if folder.name.removeprefix("settled-") not in kept:
            shutil.rmtree(folder, ignore_errors=True)
