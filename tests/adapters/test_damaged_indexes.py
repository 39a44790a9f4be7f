"""A damaged index is a clear error with a way out, never a crash; clearing and filling it mends it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kebab.adapters.fts5_lexical import Fts5LexicalIndex
from kebab.adapters.lance_vector import LanceVectorIndex
from kebab.adapters.tantivy_lexical import TantivyLexicalIndex
from kebab.errors import EngineError
from kebab.ports import LexicalIndex, LexicalQuery, ModelKey
from tests.fakes import FakeAnalyzer
from tests.samples import Sample, sample

pytestmark = pytest.mark.slow

MODEL = ModelKey("toy", "1", 8)
SAMPLES = [sample(f"{n}.md", f"word number{n} " * 20) for n in range(80)]
LEXICAL: dict[str, Callable[[Path], LexicalIndex]] = {
    "tantivy": lambda folder: TantivyLexicalIndex(folder / "tantivy", FakeAnalyzer()),
    "fts5": lambda folder: Fts5LexicalIndex(folder / "fts5.sqlite", FakeAnalyzer()),
}


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _scribble(path: Path) -> None:
    path.write_bytes(os.urandom(max(64, path.stat().st_size)))


DAMAGES: dict[str, Callable[[Path], None]] = {
    "cut": _cut,
    "emptied": _empty,
    "scribbled": _scribble,
    "deleted": Path.unlink,
}


def _files(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".lock"))
    return sorted(str(path.relative_to(folder)) for path in found)


def _fill_words(index: LexicalIndex) -> None:
    chunks = [stored for one in SAMPLES for stored in one.stored()]
    index.apply(removed=(), chunks=chunks, checkpoint=3)


def _fill_vectors(index: LanceVectorIndex) -> None:
    chunks = [stored for one in SAMPLES for stored in one.stored()]
    vectors = {stored.chunk.chunk_id: _vector(one) for one in SAMPLES for stored in one.stored()}
    index.apply(removed=(), chunks=chunks, vectors=vectors, checkpoint=3)
    index.optimize()


def _vector(one: Sample) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.frombuffer(bytes.fromhex(one.doc_id), dtype=np.uint8)[:8].astype(np.float32)


@pytest.mark.parametrize("damage", list(DAMAGES))
@pytest.mark.parametrize("name", list(LEXICAL))
def test_a_damaged_words_index_fails_clearly_and_can_be_mended(
    name: str, damage: str, tmp_path: Path
) -> None:
    pristine = tmp_path / "pristine"
    _fill_words(LEXICAL[name](pristine))
    errors: list[EngineError] = []
    for number in range(len(_files(pristine))):
        folder = tmp_path / str(number)
        _fill_words(LEXICAL[name](folder))
        victim = _files(folder)[number]
        DAMAGES[damage](folder / victim)
        index = LEXICAL[name](folder)
        try:
            index.search(LexicalQuery(("word",)), limit=10)
            index.document_frequencies(["word"])
            index.chunk_ids()
        except EngineError as error:
            errors.append(error)
        index.clear()
        _fill_words(index)
        assert len(index.search(LexicalQuery(("word",)), limit=100)) == len(SAMPLES), victim
    # One file that is gone or empty is no index at all: position 0, built anew.
    assert errors or (name == "fts5" and damage in ("emptied", "deleted"))
    assert all(error.hint for error in errors)


def test_what_a_killed_commit_left_behind_does_not_stop_the_next_one(tmp_path: Path) -> None:
    index = TantivyLexicalIndex(tmp_path / "words", FakeAnalyzer())
    _fill_words(index)
    gone = [SAMPLES[0].doc_id]
    copied = tmp_path / "same commit"
    shutil.copytree(tmp_path / "words", copied)
    TantivyLexicalIndex(copied, FakeAnalyzer()).apply(removed=gone, chunks=(), checkpoint=4)
    (left,) = copied.glob("*.del")
    managed = tmp_path / "words" / ".managed.json"
    # The engine notes the name of a file before it writes it, and publishes the commit after that.
    managed.write_text(json.dumps([*json.loads(managed.read_text()), left.name]))
    shutil.copy(left, tmp_path / "words")
    index.apply(removed=gone, chunks=(), checkpoint=4)
    assert index.count() == sum(len(one.stored()) for one in SAMPLES[1:])


@pytest.mark.parametrize("damage", list(DAMAGES))
@pytest.mark.parametrize("threshold", [1, 1000])
def test_a_damaged_vector_index_fails_clearly_and_can_be_mended(
    damage: str, threshold: int, tmp_path: Path
) -> None:
    _fill_vectors(LanceVectorIndex(tmp_path / "pristine", MODEL, ann_threshold=threshold))
    query = np.ones(8, dtype=np.float32)
    errors: list[EngineError] = []
    for number in range(len(_files(tmp_path / "pristine"))):
        folder = tmp_path / str(number)
        _fill_vectors(LanceVectorIndex(folder, MODEL, ann_threshold=threshold))
        victim = _files(folder)[number]
        DAMAGES[damage](folder / victim)
        index = LanceVectorIndex(folder, MODEL, ann_threshold=threshold)
        try:
            index.search(query, limit=10)
            index.chunk_ids()
        except EngineError as error:
            errors.append(error)
        index.clear()
        _fill_vectors(index)
        assert len(index.search(query, limit=100)) == len(SAMPLES), victim
    assert errors, "some damage shows"
    assert all(error.hint for error in errors)


def test_an_index_whose_files_are_gone_is_not_taken_for_one_that_is_up_to_date(tmp_path: Path) -> None:
    words = LEXICAL["tantivy"](tmp_path)
    _fill_words(words)
    (tmp_path / "tantivy" / "meta.json").unlink()
    assert (words.checkpoint(), words.count()) == (0, 0)
    vectors = LanceVectorIndex(tmp_path, MODEL)
    _fill_vectors(vectors)
    (table,) = tmp_path.glob("*.lance")
    shutil.rmtree(table)
    assert (vectors.checkpoint(), vectors.count()) == (0, 0)


def test_a_flipped_bit_in_the_columns_is_damage_and_never_another_error(tmp_path: Path) -> None:
    """A damaged column may lack the number of a chunk, which the engine then gives as None."""
    _fill_words(LEXICAL["tantivy"](tmp_path))
    docs = frozenset(one.doc_id for one in SAMPLES)
    (column,) = (tmp_path / "tantivy").glob("*.fast")
    content = column.read_bytes()
    told = 0
    for at in range(0, len(content), 2):
        # A file of its own: the one before may still be mapped.
        flipped = column.with_suffix(".flipped")
        flipped.write_bytes(content[:at] + bytes([content[at] ^ (1 << at % 8)]) + content[at + 1 :])
        flipped.replace(column)
        index = LEXICAL["tantivy"](tmp_path)
        try:
            assert len(index.chunk_ids()) <= len(SAMPLES)
            index.search(LexicalQuery(("word",)), limit=100, docs=docs)
        except EngineError:
            told += 1
    assert told
