"""Golden files: what they may say, and how a mistake in one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab.domain.evaluations import QuerySet
from kebab.errors import InvalidInput
from kebab.evaluate import golden
from tests.fakes import FakeDocumentStore


def resolved(tmp_path: Path, text: str, store: FakeDocumentStore) -> QuerySet:
    file = tmp_path / "golden.yaml"
    file.write_text(text, encoding="utf-8")
    return golden.resolve(golden.read(file), name="golden", store=store)


def test_every_kind_of_target_is_resolved(tmp_path: Path, store: FakeDocumentStore) -> None:
    queries = resolved(
        tmp_path,
        """
        - id: all
          query: noodles
          group: paraphrase
          lang: en
          expect:
            documents: [id-of-bread.md]
            paths: [김치.md]
            sections: ["pasta.md#Sauce"]
            chunks: ["pasta.md:2"]
          must_contain: [basil]
          forbidden: ["pasta.md#Cheese"]
        """,
        store,
    )
    (query,) = queries.queries
    assert set(query.targets) == {"bread.md", "김치.md", "pasta.md#Sauce", "pasta.md:2"}
    assert (query.group, query.lang, query.must_contain) == ("paraphrase", "en", ("basil",))
    assert query.forbidden == ("pasta.md#Cheese",)


def test_unknown_targets_are_all_named_at_once(tmp_path: Path, store: FakeDocumentStore) -> None:
    with pytest.raises(InvalidInput) as caught:
        resolved(
            tmp_path,
            """
            queries:
              - {id: a, query: x, expect: {paths: [nowhere.md]}}
              - {id: b, query: y, expect: {sections: ["pasta.md#Dessert"]}, forbidden: [gone.md]}
            """,
            store,
        )
    for name in ("nowhere.md", "pasta.md#Dessert", "gone.md"):
        assert name in caught.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {id: a, query: x, expect: {paths: [p]}}\n- {id: a, query: y, refuse: true}", "stands twice"),
        ("- {id: a, query: '  ', refuse: true}", "the query is empty"),
        ("- {id: a, query: x, refuse: true, expect: {paths: [p]}}", "exclude each other"),
        ("- {id: a, query: x}", "refuse: true"),
        ("- {id: a, query: x, expects: {paths: [p]}}", "expects"),
        ("- {query: x, refuse: true}", "id"),
        ("- [unclosed", "not valid YAML"),
    ],
)
def test_a_mistake_in_the_file_says_what_it_is(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "golden.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=said):
        golden.read(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"absent\.yaml"):
        golden.read(tmp_path / "absent.yaml")


def test_refusals_are_not_judged_by_search(tmp_path: Path, store: FakeDocumentStore) -> None:
    text = "- {id: a, query: x, refuse: true}\n- {id: b, query: y, expect: {paths: [bread.md]}}"
    queries = resolved(tmp_path, text, store)
    assert [query.query_id for query in queries.judged] == ["b"]
