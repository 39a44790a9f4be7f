"""Whether the file behind a document is still the one that was indexed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kebab.adapters.source_files import DiskSourceFiles
from kebab.domain.citations import SourceState
from kebab.domain.ids import DocId, asset_id, content_hash
from kebab.domain.ingests import NO_TIME, FileState


@pytest.fixture
def note(tmp_path: Path) -> Path:
    file = tmp_path / "note.md"
    file.write_text("one line\n", encoding="utf-8")
    return file


def files_of(note: Path, *, time: int | None = None) -> DiskSourceFiles:
    found = note.stat()
    asset = asset_id(content_hash(note.read_bytes()))
    mtime = found.st_mtime_ns if time is None else time
    state = FileState(note.name, found.st_size, mtime, asset, DocId("d"), "fp")
    return DiskSourceFiles(
        {"notes": note.parent}, lambda places: {place: state for place in places if place[1] == note.name}
    )


def state(files: DiskSourceFiles, source: str = "notes", path: str = "note.md") -> SourceState | None:
    return files.state(source, path)


def test_a_touched_file_is_current_and_a_rewritten_one_of_the_same_size_has_changed(note: Path) -> None:
    files = files_of(note)
    assert state(files) is SourceState.CURRENT
    os.utime(note, ns=(1, 1))
    assert state(files) is SourceState.CURRENT
    note.write_text("one lane\n", encoding="utf-8")
    assert state(files) is SourceState.CHANGED
    note.write_text("one line and more\n", encoding="utf-8")
    assert state(files) is SourceState.CHANGED


def test_a_file_that_was_removed_is_gone_and_something_else_in_its_place_is_a_change(note: Path) -> None:
    files = files_of(note)
    note.unlink()
    assert state(files) is SourceState.GONE
    note.mkdir()
    assert state(files) is SourceState.CHANGED


def test_a_file_known_from_a_bundle_is_compared_by_its_content_where_it_is_here(note: Path) -> None:
    files = files_of(note, time=NO_TIME)
    assert state(files) is SourceState.CURRENT
    note.write_text("one lane\n", encoding="utf-8")
    assert state(files) is SourceState.CHANGED
    note.unlink()
    assert state(files) is None


def test_nothing_is_known_of_a_source_or_a_path_that_is_not_stored(note: Path) -> None:
    files = files_of(note)
    assert state(files, "elsewhere") is None
    assert state(files, "notes", "other.md") is None
