"""Who types one word of two scripts, such as react와, gets the texts where it stands so first."""

from __future__ import annotations

import pytest

from kebab.domain.names import glued_word, stands_in
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.search.analyze import Analyzer
from kebab.search.learned import Learned
from kebab.search.parse import parse_query
from tests.unit.search.conftest import Shelf


@pytest.fixture
def crowded() -> Shelf:
    """One note that says react와, one that has signs between, and many that are about React."""
    shelf = Shelf(analyzer=Analyzer())
    shelf.add(
        "비교.md", "화면을 그리는 데는 여러 도구가 있고 그중에서 react와 비슷한 것도 하나 있다.", lang="ko"
    )
    shelf.add("표시.md", "`React`와 다른 도구, `React`와 또 다른 도구.", lang="ko")
    for number in range(20):
        shelf.add(f"React {number}.md", "React 소개. React React React.", "React, React", lang="ko")
    return shelf


@pytest.mark.parametrize("asked", ["react와", "React와", '"react와"'])
def test_a_word_with_its_particle_comes_first_where_it_stands_as_typed(crowded: Shelf, asked: str) -> None:
    hits = crowded.hybrid(Learned()).search(parse_query(asked)).hits
    assert hits[0].doc_path == "비교.md"


def test_by_words_alone_those_that_hold_both_parts_in_a_row_come_first(crowded: Shelf) -> None:
    hits = crowded.hybrid(Learned()).search(SearchQuery("react와", mode=SearchMode.LEXICAL)).hits
    assert {hit.doc_path for hit in hits[:2]} == {"비교.md", "표시.md"}
    assert len(hits) == 10, "the others follow"
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_the_first_hits_of_such_a_word_do_not_depend_on_k(crowded: Shelf) -> None:
    retriever = crowded.hybrid(Learned())
    few, many = (retriever.search(SearchQuery("react와", k=k)).hits for k in (3, 40))
    assert [hit.chunk_id for hit in few] == [hit.chunk_id for hit in many][:3]


def test_where_the_word_stands_nowhere_so_its_parts_are_searched_for(crowded: Shelf) -> None:
    hits = crowded.hybrid(Learned()).search(SearchQuery("react처럼")).hits
    assert hits
    assert hits[0].doc_path.startswith("React")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("react와", "react와"),
        (" React와 ", "react와"),
        ("3월", "3월"),
        ("b형처럼", "b형처럼"),
        ("react", None),
        ("소유권을", None),
        ("react와 vue", None),
        ("path/이름", None),
        ("", None),
    ],
)
def test_one_word_of_two_scripts_is_told_from_other_queries(text: str, word: str | None) -> None:
    assert glued_word(text) == word


def test_a_word_stands_in_a_text_where_it_begins_a_word_of_it() -> None:
    assert stands_in("react와", "이것은 React와의 비교")
    assert not stands_in("react와", "이것은 preact와 다르다")
    assert not stands_in("react와", "React 와")
