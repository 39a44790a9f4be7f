"""The datasets of a publication on disk: what is large stays where it lies, what is small is put together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kebab.adapters.lance_published import tables
from kebab.adapters.lance_table import lance_engine


def dataset_of(folder: Path, files: int, rows: int) -> Any:
    """A dataset of so many files with so many rows each."""
    made = None
    for number in range(files):
        table = pa.table({"doc_id": [f"{number}-{row}" for row in range(rows)]})
        mode = "append" if made is not None else "create"
        made = lance_engine().write_dataset(table, made or str(folder / "there"), mode=mode)
    return made


def test_a_first_publication_is_not_read_and_written_again(tmp_path: Path) -> None:
    made = dataset_of(tmp_path, files=30, rows=tables.LARGE["documents"])
    assert tables.tidied(made, "documents").version == made.version


@pytest.mark.parametrize("large_ones", [0, 3])
def test_small_files_are_put_together_beside_large_ones(tmp_path: Path, large_ones: int) -> None:
    made = dataset_of(tmp_path, files=large_ones, rows=150) if large_ones else None
    for number in range(30):
        table = pa.table({"doc_id": [f"small {number}-{row}" for row in range(10)]})
        place = str(tmp_path / "there") if made is None else made
        made = lance_engine().write_dataset(table, place, mode="append" if made is not None else "create")
    assert made is not None
    before = set((tmp_path / "there" / "data").iterdir())
    tidy = tables.tidied(made, "documents")
    assert tidy.count_rows() == made.count_rows()
    assert len(tidy.get_fragments()) < large_ones + 6
    new = set((tmp_path / "there" / "data").iterdir()) - before
    assert len(new) < 6


def test_files_of_which_much_is_gone_are_written_anew(tmp_path: Path) -> None:
    made = dataset_of(tmp_path, files=2, rows=100)
    made.delete("doc_id LIKE '0-%' AND doc_id != '0-0'")
    tidy = tables.tidied(made, "documents")
    assert tidy.count_rows() == 101
    assert sum(fragment.num_deletions for fragment in tidy.get_fragments()) == 0
