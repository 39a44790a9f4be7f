"""The links of a note and the notes near to it, through one open knowledge base."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.domain.connections import LinkStatus, ReasonKind
from kebab.domain.queries import SearchFilters
from kebab.errors import DocNotFound

NOTES = {
    "index.md": "# Home\n\n- [[sailing/knots#Bowline|knot]]\n- [x](%EC%A7%80%EB%8F%84.md)\n- [[lost]]\n",
    "sailing/knots.md": "# Knots\n\n## Bowline\n\nA loop of rope that holds. See [[boats]].\n",
    "sailing/boats.md": "# Boats\n\nA dinghy has rope and [knots](knots.md#no-such).\n\n![[boat.png]]\n",
    "지도.md": "---\naliases: [바다 지도]\n---\n# 지도\n\n항해 지도와 나침반.\n",
    "private/diary.md": "# Diary\n\nTied [[knots]] with a rope all day.\n",
    "bread.md": "# Bread\n\nFlour, water, salt and an oven.\n",
}


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[Kebab]:
    root = tmp_path / "notes"
    for path, text in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Kebab.open(root=root, data_dir=tmp_path / "data") as kb:
        kb.ingest()
        yield kb


def root(kb: Kebab) -> Path:
    return Path(kb.settings.sources[0].root)


def backlinks(kb: Kebab, note: str) -> list[str]:
    return [link.citation.uri for link in kb.links(note).back]


def test_links_are_told_out_back_and_broken(kb: Kebab) -> None:
    home = kb.links("index.md")
    assert [(link.target, link.status, link.note and link.note.path) for link in home.out] == [
        ("sailing/knots#Bowline", LinkStatus.RESOLVED, "sailing/knots.md"),
        ("%EC%A7%80%EB%8F%84.md", LinkStatus.RESOLVED, "지도.md"),
        ("lost", LinkStatus.BROKEN, None),
    ]
    assert home.out[0].place is not None
    assert home.out[0].place.uri == "sailing/knots.md#L3"
    assert [link.reason for link in home.broken] == ["no note is called 'lost'"]
    boats = kb.links("sailing/boats.md")
    assert [(link.target, link.reason) for link in boats.broken] == [
        ("knots.md#no-such", "sailing/knots.md has no heading or block 'no-such'")
    ]
    assert boats.out[1].status is LinkStatus.FILE
    assert backlinks(kb, "knots.md") == ["index.md#L3", "private/diary.md#L3", "sailing/boats.md#L3"]
    assert kb.links("knots.md").back[1].text == "Tied [[knots]] with a rope all day."


def test_a_note_is_named_as_a_wikilink_would(kb: Kebab) -> None:
    assert kb.links("바다 지도").note.path == "지도.md"
    assert kb.links("BOATS").note.path == "sailing/boats.md"
    with pytest.raises(DocNotFound):
        kb.links("lost")
    with pytest.raises(DocNotFound):
        kb.related("lost")


def test_a_note_that_moves_comes_or_goes_changes_the_links_of_others(kb: Kebab) -> None:
    (root(kb) / "old").mkdir()
    (root(kb) / "sailing/knots.md").rename(root(kb) / "old/knots.md")
    (root(kb) / "lost.md").write_text("# Lost\n\nfound\n", encoding="utf-8")
    kb.ingest()
    # By name it is found wherever it lies; the path that led to it leads nowhere.
    assert backlinks(kb, "old/knots.md") == ["private/diary.md#L3", "sailing/boats.md#L3"]
    assert [link.target for link in kb.links("index.md").broken] == ["sailing/knots#Bowline"]
    assert backlinks(kb, "lost.md") == ["index.md#L5"]
    (root(kb) / "lost.md").unlink()
    (root(kb) / "index.md").unlink()
    kb.ingest()
    assert backlinks(kb, "지도.md") == []
    with pytest.raises(DocNotFound):
        kb.links("lost")


def test_a_nearer_note_of_the_same_name_takes_the_link_over(kb: Kebab) -> None:
    (root(kb) / "private/knots.md").write_text("# Other knots\n", encoding="utf-8")
    kb.ingest()
    assert backlinks(kb, "private/knots.md") == ["private/diary.md#L3"]
    assert backlinks(kb, "sailing/knots.md") == ["index.md#L3", "sailing/boats.md#L3"]


def test_notes_that_a_filter_leaves_out_do_not_exist(kb: Kebab) -> None:
    filters = SearchFilters(path=("sailing/**",))
    seen = kb.links("knots", filters=filters)
    assert [link.note.path for link in seen.back] == ["sailing/boats.md"]
    assert all(
        found.note.path.startswith("sailing/") for found in kb.related("knots", filters=filters).related
    )
    with pytest.raises(DocNotFound):
        kb.links("private/diary.md", filters=filters)


def test_related_notes_say_why_and_cite_the_nearest_lines(kb: Kebab) -> None:
    found = kb.related("knots")
    by_path = {note.note.path: note for note in found.related}
    assert "sailing/knots.md" not in by_path
    kinds = {reason.kind for reason in by_path["sailing/boats.md"].reasons}
    assert {ReasonKind.LINKS_TO, ReasonKind.LINKED_FROM, ReasonKind.MEANING} <= kinds
    meaning = next(r for r in by_path["sailing/boats.md"].reasons if r.kind is ReasonKind.MEANING)
    assert [citation.path for citation in meaning.citations] == ["sailing/knots.md", "sailing/boats.md"]
    assert by_path["sailing/boats.md"].score > by_path["bread.md"].score
    assert found.related[-1].note.path == "bread.md"
    near_map = {note.note.path: note for note in kb.related("지도").related}
    assert ReasonKind.LINKED_FROM in {reason.kind for reason in near_map["index.md"].reasons}
    together = [r.text for r in near_map["sailing/knots.md"].reasons if r.kind is ReasonKind.LINKED_TOGETHER]
    assert together == ["linked together by index.md"]
    scores = [note.score for note in found.related]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert [note.note for note in kb.related("knots", k=2).related] == [n.note for n in found.related[:2]]


def test_without_a_model_links_and_tags_relate_notes_and_it_is_told(kb: Kebab, tmp_path: Path) -> None:
    plain = Kebab.open(
        root=root(kb), data_dir=tmp_path / "data", overrides={"models.embedding.provider": "none"}
    )
    with plain:
        found = plain.related("knots")
    assert [note.note.path for note in found.related] == [
        "sailing/boats.md", "index.md", "private/diary.md", "지도.md",
    ]  # fmt: skip
    assert [note.code for note in found.degraded] == ["no_model"]
    assert found.embedding_model is None
