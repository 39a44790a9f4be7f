"""The terminal screen, driven headless: typed into, moved through, opened in an editor and drawn."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, SelectionList, Static

from kebab import Kebab
from kebab.domain.citations import Citation, CitationKind
from kebab.domain.documents import LineSpan, TrustLevel
from kebab.domain.hits import RetrievalDetail, ScoreKind, SearchHit, SearchResponse, Snippet
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.queries import SearchMode
from kebab.tui.app import KebabTui
from kebab.tui.editor import editor_command
from kebab.tui.help import Help
from tests.drivers.web_server import a_kebab

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kebab]:
    with a_kebab(tmp_path_factory.mktemp("tui")) as kebab:
        yield kebab


@asynccontextmanager
async def opened(kebab: Kebab, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Pilot[None]]:
    async with KebabTui(kebab).run_test(size=size) as pilot:
        yield pilot


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    """Wait until something holds, ten seconds at most."""
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not come about")


def app_of(pilot: Pilot[None]) -> KebabTui:
    assert isinstance(pilot.app, KebabTui)
    return pilot.app


def note(pilot: Pilot[None]) -> str:
    return str(pilot.app.query_one("#note", Static).render())


def told(pilot: Pilot[None]) -> str:
    return str(pilot.app.query_one("#told", Static).render())


def screen_rows(pilot: Pilot[None]) -> list[str]:
    """What stands on the screen, row by row."""
    size = pilot.app.size
    strips = pilot.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip) for strip in strips][: size.height]


async def search(pilot: Pilot[None], text: str) -> None:
    app = app_of(pilot)
    app.query_one("#query", Input).value = text
    await until(pilot, lambda: app.response is not None and app.response.query == text)
    await pilot.pause()


@pytest.mark.asyncio
async def test_typing_shows_results_grouped_by_note_and_the_note_with_its_lines_marked(vault: Kebab) -> None:
    async with opened(vault, (120, 40)) as pilot:
        await pilot.press(*"seat")
        app = app_of(pilot)
        await until(pilot, lambda: app.response is not None and app.response.query == "seat")
        options = pilot.app.query_one("#results", OptionList)
        headers = [options.get_option_at_index(i) for i in range(options.option_count)]
        assert sum(each.disabled for each in headers) == len({hit.doc_id for hit in app.hits.values()})
        hit = app.current
        assert hit is not None
        cited = list(range(hit.citation.start, hit.citation.end + 1))

        def marked() -> list[int]:
            return [int(line.split("▌")[0]) for line in note(pilot).split("\n") if "▌" in line]

        await until(pilot, lambda: marked() == cited)


@pytest.mark.asyncio
async def test_one_long_note_leaves_room_for_the_others(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    text = "".join(
        f"\n## Sail {at}\n\nThe sail number {at} is mended with waxed thread.\n" for at in range(60)
    )
    (notes / "sails.md").write_text(f"# Sails\n{text}", encoding="utf-8")
    (notes / "harbour.md").write_text("# Harbour\n\nThere is room for a sail to dry.\n", encoding="utf-8")
    config = tmp_path / "config.toml"
    config.write_text("", encoding="utf-8")
    with Kebab.open(config, root=notes, data_dir=tmp_path / "data") as kebab:
        kebab.ingest()
        async with opened(kebab) as pilot:
            await search(pilot, "sail number")
            assert {hit.doc_path for hit in app_of(pilot).hits.values()} == {"sails.md", "harbour.md"}
            assert "in 2 notes" in told(pilot)


@pytest.mark.asyncio
async def test_a_search_that_nothing_fits_says_so_and_f3_says_how_to_ask(vault: Kebab) -> None:
    async with opened(vault, (120, 40)) as pilot:
        await search(pilot, "qwzxqwzx")
        assert "nothing fits well" in told(pilot)
        await search(pilot, "seat hold")
        assert "nothing fits well" not in told(pilot)
        await pilot.press("f3")
        assert "Enter asks" in told(pilot)


@pytest.mark.asyncio
async def test_the_keys_move_explain_and_return(vault: Kebab) -> None:
    async with opened(vault) as pilot:
        await search(pilot, "seat hold")
        app = app_of(pilot)
        await pilot.press("down")
        assert pilot.app.focused is pilot.app.query_one("#results")
        first = app.current
        await pilot.press("j")
        assert app.current is not first
        await pilot.press("k")
        assert app.current is first
        await pilot.press("f2")
        await until(pilot, lambda: "words" in note(pilot) and "gives" in note(pilot))
        await pilot.press("e")
        await until(pilot, lambda: "▌" in note(pilot))
        await pilot.press("escape")
        assert pilot.app.focused is pilot.app.query_one("#query")


@pytest.mark.asyncio
async def test_filters_and_modes_change_what_is_found(vault: Kebab) -> None:
    async with opened(vault) as pilot:
        await search(pilot, "팀 회의")
        app = app_of(pilot)
        await pilot.press("f4")
        selections = pilot.app.screen.query_one(SelectionList)
        assert "X" not in selections.render_line(0).text
        selections.select("lang:ko")
        boxes = [selections.render_line(y).text[1] for y in range(selections.option_count)]
        assert boxes.count("X") == 1  # told by more than their colour
        await pilot.press("escape")
        await until(pilot, lambda: "lang:ko" in told(pilot))
        paths = {each.path: each.lang for each in vault.list_docs()}
        await until(pilot, lambda: {paths[hit.doc_path] for hit in app.hits.values()} == {"ko"})
        await pilot.press("f5")
        await until(pilot, lambda: app.response is not None and app.response.mode is SearchMode.LEXICAL)
        assert "words" in told(pilot)


@pytest.mark.asyncio
async def test_a_question_is_answered_with_its_lines_and_a_refusal_with_near_notes(vault: Kebab) -> None:
    async with opened(vault) as pilot:
        await pilot.press("f3")
        pilot.app.query_one("#query", Input).value = "How many customers were charged twice?"
        await pilot.press("enter")
        await until(pilot, lambda: told(pilot) == "answered")
        assert "41 customers" in note(pilot)
        assert "double-charge.md#L" in note(pilot)
        pilot.app.query_one("#query", Input).value = "Who won the world cup in 1998?"
        await pilot.press("enter")
        await until(pilot, lambda: told(pilot) == "no answer")
        assert "nearest notes" in note(pilot)


@pytest.mark.asyncio
async def test_help_opens_on_f1_and_closes_on_any_key(vault: Kebab) -> None:
    async with opened(vault) as pilot:
        await pilot.press("f1")
        assert isinstance(pilot.app.screen, Help)
        await pilot.press("x")
        assert not isinstance(pilot.app.screen, Help)


@pytest.mark.asyncio
async def test_every_row_has_the_width_of_the_screen_in_korean_too(vault: Kebab) -> None:
    for size in ((80, 24), (120, 40)):
        async with opened(vault, size) as pilot:
            await search(pilot, "인증서 만료")
            await until(pilot, lambda: "▌" in note(pilot))
            await pilot.pause()
            rows = screen_rows(pilot)
            assert len(rows) == size[1]
            assert {cell_len(row) for row in rows} == {size[0]}
            assert any("인증서" in row for row in rows)


@pytest.mark.asyncio
async def test_escapes_in_names_and_notes_do_not_reach_the_terminal(vault: Kebab) -> None:
    async with opened(vault) as pilot:
        await search(pilot, "terminal escape name")
        app = app_of(pilot)
        assert any("\x1b" in hit.doc_path for hit in app.hits.values())
        await until(pilot, lambda: "▌" in note(pilot))
        assert not any(re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", row) for row in screen_rows(pilot))


def a_hit(rank: int, doc: str, heading: str, text: str, mark: str) -> SearchHit:
    at = text.index(mark)
    return SearchHit(
        rank=rank,
        score=1 / rank,
        score_kind=ScoreKind.ADAPTIVE,
        chunk_id=ChunkId(f"{rank:032}"),
        doc_id=DocId(f"{doc:0>32}"),
        doc_path=f"노트/{doc}.md",
        title=f"{doc} 정리",
        heading_path=(f"{doc} 정리", heading),
        section_label=heading,
        snippet=Snippet(text, ((at, at + len(mark)),)),
        citation=Citation(CitationKind.LINE, f"노트/{doc}.md", 3, 5),
        retrieval=RetrievalDetail(SearchMode.HYBRID, 1 / rank, 0.9 / rank, rank, 0.5, 3 - rank),
        index_version="hybrid",
        embedding_model="kebab-static",
        chunker_version="md-heading-v1",
        indexed_at="2026-03-01T09:00:00Z",
        old=False,
        source_id="default",
        trust_level=TrustLevel.PRIMARY,
    )


class FixedKebab:
    """Stands in for a knowledge base that always finds the same: how it ranks is not what is looked at."""

    hits = (
        a_hit(
            1, "백업", "복구 연습", "## 복구 연습\n\n사진 1.2 TB를 되살리는 데 세 시간이 걸렸다.", "되살리는"
        ),
        a_hit(2, "network", "Router", "The router restarts each night, and the backup waits.", "backup"),
    )

    def search(self, text: str, **_: object) -> SearchResponse:
        return SearchResponse(text, SearchMode.HYBRID, self.hits, None, False, (), "hybrid")

    def fetch_doc(self, reference: str) -> SimpleNamespace:
        return SimpleNamespace(
            text="# 백업 정리\n\n## 복구 연습\n\n사진 1.2 TB를 되살리는 데 세 시간이 걸렸다.\n"
        )

    def inspect_chunk(self, chunk_id: str) -> SimpleNamespace:
        chunk = SimpleNamespace(spans=(LineSpan(3, 5),))
        return SimpleNamespace(stored=SimpleNamespace(chunk=chunk))


@pytest.mark.asyncio
async def test_the_screen_at_80_by_24_looks_as_it_did() -> None:
    """Drawn rows, not pixels: frames, bars, ranks, marks and keys. ``KEBAB_SNAPSHOTS=1`` writes them anew."""
    async with opened(cast("Kebab", FixedKebab())) as pilot:
        await search(pilot, "백업 되살리기")
        await until(pilot, lambda: "▌" in note(pilot))
        await pilot.pause(0.2)
        shown = "\n".join(row.rstrip() for row in screen_rows(pilot)) + "\n"
    file = SNAPSHOTS / "search-80x24.txt"
    if os.environ.get("KEBAB_SNAPSHOTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        ("vim", ["vim", "+12", "a.md"]),
        ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+12", "a.md"]),
        ("code", ["code", "--wait", "--goto", "a.md:12"]),
        ("hx", ["hx", "a.md:12"]),
        ("", ["vi", "+12", "a.md"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(editor: str, expected: list[str]) -> None:
    assert editor_command({"EDITOR": editor}, Path("a.md"), 12) == expected


def test_a_file_without_lines_is_opened_without_one() -> None:
    assert editor_command({"VISUAL": "vim", "EDITOR": "ed"}, Path("a.pdf"), None) == ["vim", "a.pdf"]
