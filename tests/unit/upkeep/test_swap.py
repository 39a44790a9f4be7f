"""One knowledge base takes another's place: all of it or nothing, whenever it is stopped."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kebab.errors import StorageError
from kebab.upkeep.swap import Swap

PARTS = ("kebab.sqlite", "kebab.sqlite-wal", "index", "inbox")


class Killed(BaseException):
    """Nothing that runs on an error runs on this one."""


def fill(folder: Path, version: str, *, journal: bool) -> Path:
    for part in ("index", "inbox"):
        (folder / part).mkdir(parents=True)
        (folder / part / "file").write_text(version)
    (folder / "kebab.sqlite").write_text(version)
    if journal:
        (folder / "kebab.sqlite-wal").write_text(version)
    return folder


def state(folder: Path) -> set[tuple[str, str]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {(path.relative_to(folder).as_posix(), path.read_text()) for path in files}


def stopping(after: int, error: BaseException) -> Callable[[Path, Path], None]:
    """Renames ``after`` times, then raises; renames again afterwards."""
    count = itertools.count()

    def rename(source: Path, target: Path) -> None:
        if next(count) == after:
            raise error
        os.rename(source, target)

    return rename


OLD = {(name, "old") for name in ("kebab.sqlite", "kebab.sqlite-wal", "index/file", "inbox/file")}
NEW = {(name, "new") for name in ("kebab.sqlite", "index/file", "inbox/file")}
UNUSED = {(f"scratch/ready/{name}", version) for name, version in NEW}
STEPS = range(1 + len(PARTS) + 1 + 3)


def made(tmp_path: Path) -> tuple[Path, Path]:
    data = fill(tmp_path / "data", "old", journal=True)
    return data, fill(data / "scratch" / "ready", "new", journal=False)


def test_the_new_parts_take_the_place_of_all_old_ones(tmp_path: Path) -> None:
    data, ready = made(tmp_path)
    Swap(data, PARTS).begin(ready)
    assert state(data) == NEW
    assert not Swap(data, PARTS).is_pending


@pytest.mark.parametrize("after", STEPS)
def test_killed_at_any_rename_the_next_start_finishes_or_nothing_happened(tmp_path: Path, after: int) -> None:
    data, ready = made(tmp_path)
    with pytest.raises(Killed):
        Swap(data, PARTS, rename=stopping(after, Killed())).begin(ready)
    swap = Swap(data, PARTS)
    assert swap.is_pending
    swap.finish()
    assert state(data) == (NEW if after else OLD | UNUSED)
    assert not swap.is_pending


@pytest.mark.parametrize("first", STEPS)
@pytest.mark.parametrize("second", range(3))
def test_killed_twice_it_is_finished_all_the_same(tmp_path: Path, first: int, second: int) -> None:
    data, ready = made(tmp_path)
    with pytest.raises(Killed):
        Swap(data, PARTS, rename=stopping(first, Killed())).begin(ready)
    try:
        Swap(data, PARTS, rename=stopping(second, Killed())).finish()
    except Killed:
        Swap(data, PARTS).finish()
    assert state(data) == (NEW if first else OLD | UNUSED)


@pytest.mark.parametrize("after", STEPS)
def test_a_rename_that_fails_restores_the_old_parts(tmp_path: Path, after: int) -> None:
    data, ready = made(tmp_path)
    with pytest.raises(StorageError, match="nothing changed"):
        Swap(data, PARTS, rename=stopping(after, OSError(13, "Permission denied"))).begin(ready)
    kept = {entry for entry in state(data) if not entry[0].startswith("scratch")}
    assert kept == OLD
    assert not Swap(data, PARTS).is_pending


def test_a_part_that_is_in_the_way_is_not_overwritten(tmp_path: Path) -> None:
    data, ready = made(tmp_path)
    with pytest.raises(Killed):
        Swap(data, PARTS, rename=stopping(2, Killed())).begin(ready)
    (data / "kebab.sqlite").write_text("made meanwhile")
    Swap(data, PARTS).finish()
    assert state(data) == NEW


def test_nothing_begun_is_nothing_to_finish(tmp_path: Path) -> None:
    data, _ = made(tmp_path)
    Swap(data, PARTS).finish()
    assert state(data) >= OLD
