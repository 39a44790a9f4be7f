"""How far an index got: read once for each file that stood there, and never of one that is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab.adapters.checkpoint import CheckpointFile
from kebab.errors import StorageError


@pytest.fixture
def mark(tmp_path: Path) -> CheckpointFile:
    (tmp_path / "proof").touch()
    return CheckpointFile(tmp_path / "checkpoint.json", "layout-1", proof=tmp_path / "proof")


def test_what_another_process_wrote_is_read(mark: CheckpointFile, tmp_path: Path) -> None:
    other = CheckpointFile(mark.path, "layout-1", proof=mark.proof)
    assert mark.read() is None
    for position in (3, 4, 40):
        other.write(position)
        assert (mark.read(), mark.read()) == (position, position)


def test_a_position_without_its_index_or_of_another_layout_is_none(mark: CheckpointFile) -> None:
    mark.write(7)
    assert mark.read() == 7
    mark.proof.unlink()
    assert mark.read() is None
    mark.proof.touch()
    CheckpointFile(mark.path, "layout-2", proof=mark.proof).write(8)
    assert mark.read() is None
    mark.forget()
    assert mark.read() is None


def test_a_file_that_was_read_is_not_taken_for_the_link_in_its_place(
    mark: CheckpointFile, tmp_path: Path
) -> None:
    mark.write(7)
    assert mark.read() == 7
    mark.path.rename(tmp_path / "elsewhere.json")
    mark.path.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(StorageError):
        mark.read()
