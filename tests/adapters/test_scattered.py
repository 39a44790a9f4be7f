"""Rows of a file that are read one by one: what is read, and that no file stays open."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kebab.adapters.int8_scattered import CAN_READ, ScatteredRows
from kebab.adapters.int8_vector import Int8VectorIndex
from tests.adapters.test_signs import MODEL, clustered, filled

ROWS = np.random.default_rng(0).integers(-127, 128, size=(200, 24)).astype(np.int8)

only_where_files_are_read = pytest.mark.skipif(not CAN_READ, reason="rows come from the map")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "1.codes"
    path.write_bytes(ROWS.tobytes())
    return path


def mapped(path: Path) -> NDArray[np.int8]:
    return np.memmap(path, dtype=np.int8, mode="r", shape=ROWS.shape)


@given(wanted=st.sets(st.integers(0, 199)), can_read=st.sampled_from([CAN_READ, False]))
def test_it_reads_single_rows_and_rows_that_stand_together(
    file: Path, wanted: set[int], can_read: bool
) -> None:
    rows = np.array(sorted(wanted), dtype=np.intp)
    read = ScatteredRows(file, mapped(file), can_read=can_read).read(rows)
    assert read.dtype == np.int8
    assert read.tolist() == ROWS[rows].tolist()


@only_where_files_are_read
def test_a_file_that_became_shorter_is_told(tmp_path: Path, file: Path) -> None:
    path = tmp_path / "2.codes"
    path.write_bytes(file.read_bytes())
    rows = ScatteredRows(path, mapped(file))
    os.truncate(path, 24 * 100)
    assert rows.read(np.array([99])).tolist() == ROWS[[99]].tolist()
    with pytest.raises(ValueError, match=r"2\.codes is shorter than it was"):
        rows.read(np.array([99, 100]))


@only_where_files_are_read
def test_a_file_that_was_removed_can_still_be_read(tmp_path: Path, file: Path) -> None:
    path = tmp_path / "3.codes"
    path.write_bytes(file.read_bytes())
    rows = ScatteredRows(path, mapped(file))
    path.unlink()
    assert rows.read(np.array([7, 8, 150])).tolist() == ROWS[[7, 8, 150]].tolist()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux which files are open")
def test_only_the_files_of_the_last_state_stay_open(tmp_path: Path) -> None:
    writer, reader = (Int8VectorIndex(tmp_path, MODEL, signed=True, least=5) for _ in range(2))
    vectors = clustered(600, 64, seed=3)
    for at in range(0, 600, 30):
        filled(writer, vectors[at : at + 30])
        writer.optimize()
        assert reader.search(vectors[at], limit=1)
    named = {path.name for path in tmp_path.rglob("*.codes")}
    # Of each segment the vectors, and the maps of vectors and signs.
    assert opened(tmp_path) <= 2 * 3 * len(named)
    writer.clear()
    assert reader.search(vectors[0], limit=1) == []
    assert opened(tmp_path) == 0


def opened(folder: Path) -> int:
    links = [os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
    return sum(link.startswith(f"{folder}/") for link in links)
