"""Korean spellings of what notes are called in English; other words find nothing."""

from __future__ import annotations

import pytest

from kebab.domain.hits import Correction
from kebab.search.borrowed import borrowed
from kebab.search.fusion import Adaptive
from kebab.search.parse import parse_query
from tests.unit.search.conftest import Shelf

NAMES = (
    "redux", "latex", "svelte", "split", "grafana", "karabiner", "terraform", "haskell", "rust", "rest",
    "typescript", "elixir", "helix", "webassembly", "jellyfin", "emojis", "readme", "flutter", "pilates",
    "humans", "biases", "japan", "salvia", "clothes", "scala", "knowledge", "comics",
)  # fmt: skip


@pytest.fixture
def library(shelf: Shelf) -> Shelf:
    for name in NAMES:
        shelf.add(f"tools/{name}.md", f"what there is to say of {name}")
    return shelf


@pytest.mark.parametrize(
    ("korean", "name"),
    [
        ("리덕스", "redux"),
        ("스벨트", "svelte"),
        ("스벨트에서", "svelte"),
        ("그라파나", "grafana"),
        ("카라비너를", "karabiner"),
        ("테라폼", "terraform"),
        ("하스켈", "haskell"),
        ("러스트", "rust"),
        ("타입스크립트", "typescript"),
        ("엘릭서", "elixir"),
        ("웹어셈블리", "webassembly"),
        ("젤리핀", "jellyfin"),
        ("플러터", "flutter"),
    ],
)
def test_a_borrowed_name_is_told_by_its_sound(library: Shelf, korean: str, name: str) -> None:
    assert borrowed(korean, library.store.list_documents())[:1] == [name]


@pytest.mark.parametrize(
    "word",
    [
        "이리듐",
        "뮤지스",
        "문서에서",
        "버스에서",
        "사방으로",
        "수립하는",
        "쪽으로",
        "늙어서",
        "꿈꾸는",
        "그림",
        "가",
    ],
)
def test_other_words_borrow_no_name(library: Shelf, word: str) -> None:
    assert borrowed(word, library.store.list_documents()) == []


def test_a_word_that_stands_nowhere_is_searched_for_as_the_note_that_it_names(library: Shelf) -> None:
    found = library.hybrid(Adaptive()).search(parse_query("리덕스"))
    assert found.corrections == (Correction("리덕스", "redux"),)
    assert found.hits[0].doc_path == "tools/redux.md"


def test_a_word_that_some_note_holds_stays(library: Shelf) -> None:
    library.add("memo.md", "리덕스 정리", lang="ko")
    assert library.hybrid(Adaptive()).search(parse_query("리덕스")).corrections == ()


def test_a_note_that_a_filter_removes_lends_no_name(library: Shelf) -> None:
    library.add("other/memo.md", "something else")
    assert library.hybrid(Adaptive()).search(parse_query("리덕스 path:other")).corrections == ()
