"""The datasets of a publication on disk: what is large stays where it lies, what is small is put together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kebab.adapters.lance_published import tables
from kebab.adapters.lance_published.storage import read_sparingly
from kebab.adapters.lance_table import lance_engine
from kebab.ports import ModelKey, PublishedDocument
from tests.contracts.test_publication import published
from tests.samples import sample

MODEL = ModelKey("toy", "1", 4)


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


def documents(count: int) -> list[PublishedDocument]:
    return [published(sample(f"{n}.md", f"alpha {n}", f"beta {n}")) for n in range(count)]


def test_a_batch_holds_whole_documents_in_order_and_no_more_than_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "_CHUNKS_AT_ONCE", 6)
    monkeypatch.setattr(tables, "_BATCH_BYTES", 2000)
    given, taken = documents(50), 0

    def read() -> Iterator[PublishedDocument]:
        nonlocal taken
        for one in given:
            taken += 1
            yield one

    seen: list[str] = []
    for batch in tables.batches(read(), MODEL):
        assert taken - len(seen) <= 10, "it reads no further than what it gives"
        assert batch.documents["doc_id"].to_pylist() == batch.doc_ids
        assert list(dict.fromkeys(batch.chunks["doc_id"].to_pylist())) == batch.doc_ids
        assert batch.chunks.num_rows == 2 * len(batch.doc_ids)
        seen += batch.doc_ids
    assert seen == [one.record.doc_id for one in given]


def test_a_chunk_without_a_vector_has_none_in_the_table() -> None:
    (one,) = documents(1)
    first, second = one.chunks
    rows = tables.chunk_rows([replace(first, vector=None), second], MODEL)
    assert rows.schema == tables.chunk_schema(MODEL)
    absent, there = rows["embedding"].to_pylist()
    assert absent is None
    assert np.asarray(there) == pytest.approx(second.vector, abs=0.01)
    assert rows["text"].to_pylist() == [chunk.stored.chunk.text for chunk in one.chunks]
    without = tables.chunk_rows(one.chunks, None)
    assert without.schema == tables.chunk_schema(None)
    assert tables.chunk_rows([], MODEL).num_rows == 0


def test_what_the_user_set_for_the_engine_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANCE_DEFAULT_IO_BUFFER_SIZE", "LANCE_FTS_PARTITION_SIZE"):
        monkeypatch.setenv(name, "")  # so that what is set below is taken away again
        monkeypatch.delenv(name)
    monkeypatch.setenv("LANCE_DEFAULT_BATCH_SIZE", "77")
    read_sparingly()
    assert os.environ["LANCE_DEFAULT_BATCH_SIZE"] == "77"
    assert int(os.environ["LANCE_DEFAULT_IO_BUFFER_SIZE"]) < 100_000_000
