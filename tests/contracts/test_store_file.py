"""What every StoreFile promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab.adapters.sqlite.connection import Database
from kebab.ports import StoreFile
from tests.store_fakes import FakeStoreFile


@pytest.fixture(params=["fake", "sqlite"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreFile]:
    if request.param == "fake":
        yield FakeStoreFile()
        return
    database = Database(tmp_path / "kebab.sqlite")
    yield database
    database.close()


def test_a_new_file_is_sound_and_whole_and_stays_so_when_its_indexes_are_made_anew(file: StoreFile) -> None:
    assert file.faults() == []
    file.reindex()
    assert file.faults() == []
    file.require_whole()


def test_it_says_which_version_its_schema_has(file: StoreFile) -> None:
    assert file.schema_version() > 0


def test_a_copy_is_a_file_of_its_own(file: StoreFile, tmp_path: Path) -> None:
    file.back_up(tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_size > 0
