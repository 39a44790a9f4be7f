"""Terminal text: columns, cutting, wrapping, bars and links."""

from __future__ import annotations

import io
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.cli import output
from kebab.cli.screen import Screen, clip, clip_start, pad, width, wrap
from kebab.cli.tables import pairs, seconds_of, size_of, table
from kebab.domain.controls import harmless

TEXTS = st.text(alphabet=st.sampled_from("ab 한글字é́\n-"), max_size=80)
COLOR = Screen(columns=80, color=True, links=True, terminal=True)
PLAIN = Screen()


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("abc", 3), ("한글", 4), ("a한b", 4), ("e\u0301", 1), ("\u200bx", 1), ("字", 2)],
)
def test_a_korean_syllable_takes_two_columns_and_an_accent_none(text: str, columns: int) -> None:
    assert width(text) == columns


@given(TEXTS, st.integers(2, 30))
def test_clipped_text_never_exceeds_its_room(text: str, columns: int) -> None:
    assert width(clip(text, columns)) <= columns
    assert width(clip_start(text, columns)) <= columns


def test_clipping_keeps_the_beginning_or_the_end() -> None:
    assert clip("한국어 노트", 8) == "한국어…"
    assert clip_start("notes/deep/file.md", 10) == "…p/file.md"
    assert clip("short", 10) == clip_start("short", 10) == "short"


@given(TEXTS, st.integers(4, 30))
def test_wrapped_lines_fit_and_lose_nothing_but_blanks(text: str, columns: int) -> None:
    ranges = wrap(text, columns)
    assert all(width(text[start:end]) <= columns for start, end in ranges)
    kept = "".join(text[start:end] for start, end in ranges)
    assert "".join(kept.split()) == "".join(text.split())
    assert all(a[1] <= b[0] for a, b in pairwise(ranges))


def test_a_word_longer_than_the_line_is_cut_inside() -> None:
    assert [("가나다라마"[start:end]) for start, end in wrap("가나다라마", 4)] == ["가나", "다라", "마"]


def test_bars_are_as_long_as_their_share() -> None:
    assert PLAIN.bar(0, cells=4) == "····"
    assert PLAIN.bar(1, cells=4) == "████"
    assert PLAIN.bar(0.5, cells=4) == "██··"
    assert PLAIN.bar(7, cells=4) == "████"
    assert all(len(PLAIN.bar(n / 100)) == 10 for n in range(101))


def test_links_and_colours_are_for_terminals_alone() -> None:
    assert PLAIN.link("a", "file:///a") == "a"
    assert output.shown(COLOR.link("a", "file:///a")) == "\x1b]8;;file:///a\x1b\\a\x1b]8;;\x1b\\"
    assert PLAIN.style("a", fg="red") == "a"
    assert "\x1b[31m" in output.shown(COLOR.style("a", fg="red"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_no_color_takes_the_colours_and_leaves_the_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Screen.of(Terminal()).color
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Screen.of(Terminal())
    assert (screen.color, screen.links, screen.terminal) == (False, True, True)
    assert Screen.of(io.StringIO()) == PLAIN


def test_a_table_fits_the_screen_and_keeps_its_columns_aligned() -> None:
    rows = [
        ["1", "노트/아주-긴-경로/파일-이름이-정말-깁니다.md", "제목"],
        ["22", "a.md", "A rather long title " * 4],
    ]
    screen = Screen(columns=60, terminal=True)
    lines = table(rows, header=("n", "path", "title"), screen=screen, grow=[1, 2]).split("\n")
    assert all(width(line) <= 60 for line in lines)
    starts = {
        width(line[: line.index(cell)]) for line, cell in zip(lines[1:], ("제목", "A rather"), strict=True)
    }
    assert len(starts) == 1


def test_a_path_that_does_not_fit_keeps_its_end() -> None:
    rows = [["work/architecture/booking-service.md", "Booking service architecture"]]
    screen = Screen(columns=40, terminal=True)
    _, row = table(rows, header=("path", "title"), screen=screen, grow=[0, 1], keep_end=0).split("\n")
    assert row.startswith("…")
    assert "booking-service.md  Booking" in row
    assert width(row) <= 40


def test_a_piped_table_is_tab_separated_and_whole() -> None:
    assert (
        table([["a", "b\tc"], ["d", "e" * 300]], header=("x", "y"), screen=PLAIN, grow=1)
        == "a\tb c\nd\t" + "e" * 300
    )


def test_a_styled_value_shows_its_style_and_not_the_signs_for_it() -> None:
    text = pairs([("title", "제목"), ("path", "a\x1bb")], screen=COLOR, styles={"title": {"bold": True}})
    shown = output.shown(text)
    assert "\x1b[1m제목\x1b[0m" in shown
    assert shown.endswith("a\ufffdb")


def test_padding_counts_columns() -> None:
    assert pad("한", 4) == "한  "


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (3_200_000, "3.2 MB")]
)
def test_sizes_are_for_people(count: int, shown: str) -> None:
    assert size_of(count) == shown


@pytest.mark.parametrize(("ms", "shown"), [(80, "80 ms"), (1200, "1.2 s"), (200_000, "3 min 20 s")])
def test_durations_are_for_people(ms: int, shown: str) -> None:
    assert seconds_of(ms) == shown


def test_control_characters_of_a_note_never_reach_the_terminal() -> None:
    hostile = "a\x1b]0;owned\x07b\x9b31m\x7f\r\n\tc"
    shown = harmless(hostile)
    assert len(shown) == len(hostile)
    assert not [char for char in shown if unicodedata.category(char) == "Cc" and char not in "\n\t"]
