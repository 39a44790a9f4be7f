"""Whether the file behind a document changed since it was indexed."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from kebab.adapters.source_files import DiskSourceFiles
from kebab.domain.citations import SourceState
from kebab.domain.ids import AssetId, DocId
from kebab.domain.ingests import NO_TIME, FileState

PATH = "폴더/한글.md"


def watched(file: Path, *, root: Path, mtime_ns: int | None = None) -> DiskSourceFiles:
    """The file as it is now, known under its composed path."""
    status = file.stat()
    time = status.st_mtime_ns if mtime_ns is None else mtime_ns
    state = FileState(PATH, status.st_size, time, AssetId("a"), DocId("d"), "print")
    return DiskSourceFiles({"notes": root}, lambda places: dict.fromkeys(places, state))


def written(file: Path, text: str = "text") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_whose_name_is_decomposed_on_disk_is_found(tmp_path: Path) -> None:
    folder = tmp_path / unicodedata.normalize("NFD", "폴더")
    file = written(folder / unicodedata.normalize("NFD", "한글.md"))
    files = watched(file, root=tmp_path)
    assert files.state("notes", PATH) is SourceState.CURRENT
    written(file, "another text")
    assert files.state("notes", PATH) is SourceState.CHANGED


def test_a_removed_file_is_gone_and_of_one_that_never_was_here_nothing_is_known(
    tmp_path: Path,
) -> None:
    file = written(tmp_path / PATH)
    seen, imported = watched(file, root=tmp_path), watched(file, root=tmp_path, mtime_ns=NO_TIME)
    assert seen.state("notes", PATH) is SourceState.CURRENT
    file.unlink()
    assert seen.state("notes", PATH) is SourceState.GONE
    assert imported.state("notes", PATH) is None
    file.parent.rmdir()
    assert seen.state("notes", PATH) is SourceState.GONE
    assert seen.state("elsewhere", PATH) is None
