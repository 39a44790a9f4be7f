"""What every SourceFiles promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from kebab.adapters.source_files import DiskSourceFiles
from kebab.domain.citations import SourceState
from kebab.domain.ids import DocId, asset_id, content_hash
from kebab.domain.ingests import FileState
from kebab.ports import SourceFiles
from tests.store_fakes import FakeSourceFiles

PATH = "folder/메모.md"


@dataclass(frozen=True)
class Shelf:
    """One indexed file, and what may happen to it."""

    files: SourceFiles
    rewrite: Callable[[], object]
    remove: Callable[[], object]
    unmount: Callable[[], object]

    def state(self) -> SourceState | None:
        return self.files.state("notes", PATH)


def faked() -> Shelf:
    files = FakeSourceFiles()
    return Shelf(
        files, lambda: files.changes.add(PATH), lambda: files.gone.add(PATH), lambda: files.unknown.add(PATH)
    )


def on_disk(root: Path) -> Shelf:
    file = root / "notes" / PATH
    file.parent.mkdir(parents=True)
    file.write_text("one line\n", encoding="utf-8")
    found = file.stat()
    asset = asset_id(content_hash(file.read_bytes()))
    state = FileState(PATH, found.st_size, found.st_mtime_ns, asset, DocId("d"), "fp")
    files = DiskSourceFiles({"notes": root / "notes"}, lambda places: dict.fromkeys(places, state))
    return Shelf(
        files,
        lambda: file.write_text("another line\n", encoding="utf-8"),
        file.unlink,
        lambda: (root / "notes").rename(root / "away"),
    )


@pytest.fixture(params=["fake", "disk"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    return faked() if request.param == "fake" else on_disk(tmp_path)


def test_an_untouched_file_is_current(shelf: Shelf) -> None:
    assert shelf.state() is SourceState.CURRENT


def test_a_file_with_other_content_has_changed(shelf: Shelf) -> None:
    shelf.rewrite()
    assert shelf.state() is SourceState.CHANGED


def test_a_removed_file_is_gone(shelf: Shelf) -> None:
    shelf.remove()
    assert shelf.state() is SourceState.GONE


def test_nothing_is_known_while_the_folder_of_the_source_is_not_here(shelf: Shelf) -> None:
    shelf.unmount()
    assert shelf.state() is None


def test_many_files_are_told_at_once_each_as_it_is_alone(shelf: Shelf) -> None:
    shelf.rewrite()
    assert shelf.files.states([("notes", PATH)]) == {("notes", PATH): SourceState.CHANGED}
    assert shelf.files.states([]) == {}
