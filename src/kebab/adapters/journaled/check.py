"""Looking at everything that a search of the memory reads, byte by byte where it was written once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice

from kebab.adapters.journaled import queries
from kebab.adapters.journaled.journal import START, Trimmed
from kebab.adapters.journaled.settle import settled_folder
from kebab.adapters.journaled.settled import Settled
from kebab.adapters.journaled.shelf import Shelf, note
from kebab.errors import EngineError
from kebab.ports import MemoryKind

_SHOWN = 3


def faults(shelf: Shelf) -> list[str]:
    """What is not as it was written; empty where all is well. Changes nothing."""
    return [*_journal_faults(shelf), *_shelf_faults(shelf)]


def missing(shelf: Shelf) -> int:
    """How many bytes of the journal are gone that never reached the store."""
    reached = shelf.drained() if shelf.source.exists() else START
    return shelf.journal.missing() + max(0, shelf.journal.first() - (reached or shelf.journal.first()))


def _journal_faults(shelf: Shelf) -> Iterator[str]:
    try:
        damaged = sum(line.payload is None for line in shelf.journal.read(shelf.journal.first()))
    except Trimmed:
        damaged = 0
    if lost := missing(shelf):
        yield f"{lost} bytes that were written to the journal are gone"
    if damaged:
        yield f"{damaged} lines of the journal are damaged"
    if kept := list(shelf.journal.folder.glob("*.damaged")):
        yield f"{kept[0].name} holds lines that were damaged before they reached the store"


def _shelf_faults(shelf: Shelf) -> Iterator[str]:
    if not shelf.file.exists():
        return
    try:
        with shelf.reading() as db:
            told = db.execute("PRAGMA main.integrity_check(1)").fetchone()[0]
            if told != "ok":
                yield f"the shelf is damaged: {told}"
                return
            if ids := list(islice(queries.damaged(db), _SHOWN)):
                yield f"records on the shelf are not what was written: {', '.join(ids)}"
            name = note(db, "settled")
    except EngineError as error:
        yield error.message
        return
    except sqlite3.DatabaseError as error:
        yield f"the shelf is damaged: {error}"
        return
    for kind in MemoryKind if name else ():
        yield from _settled_faults(Settled(settled_folder(shelf, str(name), kind)), kind)


def _settled_faults(settled: Settled, kind: MemoryKind) -> Iterator[str]:
    try:
        settled.refresh()
    except EngineError as error:
        yield error.message
        return
    for file in settled.faults():
        yield f"the index of {kind} is damaged: {file}"
