"""What every FolderEvents promises."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kebab.adapters.watchfiles_events import PollingEvents, WatchfilesEvents
from kebab.errors import StorageError
from kebab.ports import FolderEvents
from tests.folder_fakes import FakeFolderEvents

WAIT_S = 10.0


@pytest.fixture(params=["fake", "watchfiles", "polling"])
def events(request: pytest.FixtureRequest) -> FolderEvents:
    builders: dict[str, Callable[[], FolderEvents]] = {
        "fake": lambda: FakeFolderEvents(quiet=1 << 30),
        "watchfiles": WatchfilesEvents,
        "polling": lambda: PollingEvents(seconds=0.01),
    }
    return builders[request.param]()


def never() -> bool:
    return False


def told(batches: Iterator[frozenset[str]], *wanted: Path) -> bool:
    """Whether every path, or a folder above it, is told of in time."""
    missing, until = set(wanted), time.monotonic() + WAIT_S
    while missing and time.monotonic() < until:
        batch = next(batches)
        missing -= {path for path in missing if any(str(each) in batch for each in (path, *path.parents))}
    return not missing


def test_the_first_batch_is_empty_and_what_happens_from_then_on_is_told(
    events: FolderEvents, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("old")
    (tmp_path / "gone.md").write_text("old")
    batches = events.batches([tmp_path], stopped=never)
    assert next(batches) == frozenset()
    (tmp_path / "a.md").write_text("changed, and longer")
    (tmp_path / "new.md").write_text("new")
    (tmp_path / "gone.md").unlink()
    assert told(batches, *(tmp_path / name for name in ("a.md", "new.md", "gone.md")))


def test_a_moved_folder_is_told_of_by_both_names_and_watched_where_it_is(
    events: FolderEvents, tmp_path: Path
) -> None:
    (tmp_path / "before").mkdir()
    (tmp_path / "before" / "a.md").write_text("text")
    batches = events.batches([tmp_path], stopped=never)
    next(batches)
    (tmp_path / "before").rename(tmp_path / "after")
    assert told(batches, tmp_path / "before", tmp_path / "after")
    (tmp_path / "after" / "b.md").write_text("text")
    assert told(batches, tmp_path / "after" / "b.md")


def test_a_file_that_is_replaced_by_another_is_told_of(events: FolderEvents, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("old text")
    batches = events.batches([tmp_path], stopped=never)
    next(batches)
    (tmp_path / "draft").write_text("a new text")
    os.replace(tmp_path / "draft", tmp_path / "a.md")
    assert told(batches, tmp_path / "a.md")


def test_empty_batches_come_while_nothing_happens_and_without_folders(
    events: FolderEvents, tmp_path: Path
) -> None:
    for roots in ([tmp_path], []):
        batches = events.batches(roots, stopped=never)
        assert [next(batches) for _ in range(3)].count(frozenset()) >= 2


def test_it_ends_when_it_is_stopped(events: FolderEvents, tmp_path: Path) -> None:
    stopped: list[bool] = []
    batches = events.batches([tmp_path], stopped=lambda: bool(stopped))
    next(batches)
    stopped.append(True)
    assert len(list(batches)) <= 1


def refusing(error: Exception) -> Callable[..., Iterator[set[tuple[object, str]]]]:
    """An engine that the system refuses."""

    def watch(*paths: str, **_: object) -> Iterator[set[tuple[object, str]]]:
        yield from ()
        raise error

    return watch


@pytest.mark.parametrize(
    "error",
    [RuntimeError("OS file watch limit reached."), OSError(24, "Too many open files")],
    ids=["watches", "instances"],
)
def test_where_the_system_watches_no_more_the_folders_are_polled_and_a_note_says_how_to_raise_the_limit(
    error: Exception, tmp_path: Path
) -> None:
    notes: list[str] = []
    events = WatchfilesEvents(told=notes.append, watch=refusing(error))
    batches = events.batches([tmp_path], stopped=never)
    assert next(batches) == frozenset()
    assert told(batches, tmp_path / "a.md")
    (note,) = notes
    assert str(error) in note
    assert "fs.inotify.max_user_watches" in note
    assert "every second" in note


def test_a_folder_that_is_not_there_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        next(WatchfilesEvents().batches([tmp_path / "nothing"], stopped=never))
