"""Chunks that were read lately are handed out again until the documents change."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab import Kebab
from kebab.adapters.sqlite.read_lately import TEXTS, ReadLately
from kebab.domain.chunks import StoredChunk
from kebab.domain.ids import ChunkId


@pytest.fixture
def base(tmp_path: Path) -> Kebab:
    (tmp_path / "notes").mkdir()
    kb = Kebab.open(root=tmp_path / "notes", data_dir=tmp_path / "data")
    (tmp_path / "notes" / "rope.md").write_text("# Rope\n\nA rope on a ship.\n", encoding="utf-8")
    kb.ingest()
    return kb


def test_a_chunk_is_read_once_while_nothing_changes(base: Kebab) -> None:
    with base:
        store = base.engines.reading.documents
        chunk = base.search("rope").hits[0].chunk_id
        assert store.hydrate([chunk])[chunk] is store.hydrate([chunk])[chunk]


def test_a_replaced_document_is_read_anew(base: Kebab, tmp_path: Path) -> None:
    with base:
        before = base.search("rope").hits[0]
        (tmp_path / "notes" / "rope.md").write_text("# Rope\n\nA longer rope.\n", encoding="utf-8")
        base.ingest()
        after = base.search("rope").hits[0]
        assert before.chunk_id not in base.engines.reading.documents.hydrate([before.chunk_id])
        assert "longer" in after.snippet.text


def test_the_language_of_a_note_that_was_rewritten_is_read_anew(base: Kebab, tmp_path: Path) -> None:
    with base:
        store = base.engines.reading.documents
        before = base.search("rope").hits[0].chunk_id
        assert store.languages([before]) == {before: "en"} == store.languages([before])
        (tmp_path / "notes" / "rope.md").write_text("# 밧줄\n\n배에는 밧줄이 있다.\n", encoding="utf-8")
        base.ingest()
        after = base.search("밧줄").hits[0].chunk_id
        assert store.languages([before, after]) == {after: "ko"}


def test_what_was_read_of_another_state_is_not_known_and_not_too_much_is_kept(base: Kebab) -> None:
    with base:
        store = base.engines.reading.documents
        chunk = base.search("rope").hits[0].chunk_id
        stored = store.hydrate([chunk])[chunk]
    lately: ReadLately[StoredChunk] = ReadLately(TEXTS)
    names = [ChunkId(f"{number:032x}") for number in range(TEXTS + 10)]
    lately.keep(dict.fromkeys(names, stored), at=(1, 1))
    assert list(lately.known(names, at=(1, 1))) == names[10:]
    assert lately.known(names, at=(1, 2)) == {}
    lately.keep({names[0]: stored}, at=(1, 2))
    assert list(lately.known(names, at=(1, 2))) == names[:1]
