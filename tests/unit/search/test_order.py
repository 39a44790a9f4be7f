"""Another order than the best first: only among what fits."""

from __future__ import annotations

from kebab.domain.documents import Metadata
from kebab.domain.queries import SearchQuery, SortOrder
from kebab.search.learned import Learned
from tests.unit.search.conftest import Shelf


def _days(shelf: Shelf) -> list[str]:
    query = SearchQuery("alpha beta", sort=SortOrder.DATE, by_document=True)
    return [hit.doc_path for hit in shelf.hybrid(Learned()).search(query).hits]


def test_the_newest_notes_come_first(shelf: Shelf) -> None:
    for day in ("2024-03-01", "2025-03-01", "2023-03-01"):
        shelf.add(f"{day}.md", f"alpha beta of {day}")
    assert _days(shelf) == ["2025-03-01.md", "2024-03-01.md", "2023-03-01.md"]


def test_a_new_note_that_hardly_fits_does_not_come_first(shelf: Shelf) -> None:
    shelf.add("old.md", "alpha beta together", metadata=Metadata(created_at="2020-01-01"))
    shelf.add("older.md", "alpha beta as well", metadata=Metadata(created_at="2019-01-01"))
    shelf.add("new.md", "nothing of the kind stands here", metadata=Metadata(created_at="2026-01-01"))
    assert _days(shelf) == ["old.md", "older.md", "new.md"]
