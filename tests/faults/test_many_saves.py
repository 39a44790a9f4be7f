"""Indexes that stay fast: many single saves leave them as small and as right as if they were built anew.

The long form is ``python -m benchmarks.year --updates 100000``.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from benchmarks import footprint
from benchmarks.corpus import Corpus
from benchmarks.year import begin, live, save
from kebab import Kebab
from kebab.domain.queries import SearchMode

SAVES = int(os.environ.get("KEBAB_SAVES", "30"))
VAULT = Path(__file__).parents[2] / "examples" / "vault"
QUERIES = ("ownership", "how is the harbour kept", "소유권 규칙")

pytestmark = pytest.mark.slow


def opened(folder: Path, root: Path) -> Kebab:
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "config.toml"
    config.write_text("", encoding="utf-8")
    return Kebab.open(config, root=root, data_dir=folder / "data")


def found(kb: Kebab, mode: SearchMode) -> list[list[str]]:
    return [[hit.chunk_id for hit in kb.search(query, mode=mode).hits] for query in QUERIES]


def pieces(folder: Path) -> int:
    return len(list((folder / "data" / "index").rglob("*.codes")))


def test_many_saves_leave_indexes_like_those_built_anew(tmp_path: Path) -> None:
    lived, fresh = tmp_path / "lived", tmp_path / "fresh"
    live(Corpus(VAULT), lived, notes=1_000, updates=SAVES)
    with opened(fresh, lived / "notes") as new, opened(lived, lived / "notes") as old:
        new.ingest()
        assert found(old, SearchMode.VECTOR) == found(new, SearchMode.VECTOR)
        # Until its segments are merged the words engine counts removed chunks into the rarity of a word.
        lexical = zip(found(old, SearchMode.LEXICAL), found(new, SearchMode.LEXICAL), strict=True)
        assert all(len(set(one) & set(other)) >= 0.8 * len(other) for one, other in lexical)
    assert footprint.disk_mb(lived / "data") <= 1.2 * footprint.disk_mb(fresh / "data") + 1
    # As many as may wait for a merge, and those that the last save left for the next one to remove.
    assert pieces(lived) <= 16


def test_a_search_while_indexes_are_merged_is_right(tmp_path: Path) -> None:
    corpus, folder = Corpus(VAULT), tmp_path / "lived"
    begin(corpus, folder, notes=1_000)
    saving = threading.Thread(target=lambda: list(save(corpus, folder, notes=1_000, updates=SAVES)))
    seen: set[str] = set()
    with opened(folder, folder / "notes") as kb:
        saving.start()
        while saving.is_alive():
            answers = [kb.search("러스트 소유권", mode=mode) for mode in SearchMode]
            # While that very note is being replaced, an answer without it says that it is behind.
            seen |= {answer.hits[0].doc_path for answer in answers if not answer.degraded}
        saving.join()
    # A saved note gains a line about the harbour: what it says of ownership stays the best.
    assert seen == {"learning/러스트-소유권.md"}
