from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from kebab.domain.queries import SearchMode, SearchQuery
from tests.unit.search.conftest import Shelf


@pytest.mark.parametrize(("days", "old"), [(29, False), (31, True)])
def test_a_hit_is_old_by_its_age_alone_and_stale_by_its_file_alone(
    shelf: Shelf, days: int, old: bool
) -> None:
    shelf.add("a.md", "alpha")
    shelf.add("b.md", "alpha")
    shelf.files.changes.add("b.md")
    query = SearchQuery("alpha", mode=SearchMode.LEXICAL)
    indexed_at = shelf.lexical().search(query).hits[0].indexed_at
    later = datetime.fromisoformat(indexed_at) + timedelta(days=days)
    presenter = replace(shelf.presenter(), old_after=timedelta(days=30), now=lambda: later)
    retriever = replace(shelf.lexical(), presenter=presenter)

    found = retriever.search(query).hits

    assert {hit.doc_path: (hit.old, hit.stale) for hit in found} == {
        "a.md": (old, False),
        "b.md": (old, True),
    }
