"""What a terminal can show: colour, clickable links, and columns, in which a Korean syllable takes two."""

from __future__ import annotations

import os
import unicodedata
from typing import IO, Any

import click

from kebab.cli.output import ESC
from kebab.domain.controls import harmless_line
from kebab.domain.values import dataclass

DEFAULT_COLUMNS = 100
"""Width of piped output: results stay readable without a terminal to ask."""
BLOCKS = "▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Screen:
    """How to write for one stream; the plain one has neither colours nor links.

    Its escape sequences begin with ``ESC``, which becomes the real character where they are printed.
    """

    columns: int = DEFAULT_COLUMNS
    color: bool = False
    links: bool = False
    terminal: bool = False

    @classmethod
    def of(cls, stream: IO[Any]) -> Screen:
        """Colour and links only on a terminal, colour only without ``NO_COLOR`` (https://no-color.org)."""
        if not stream.isatty():
            return cls()
        capable = os.environ.get("TERM") != "dumb"
        from shutil import get_terminal_size

        columns = max(40, get_terminal_size().columns)
        color = capable and not os.environ.get("NO_COLOR")
        return cls(columns=columns, color=color, links=capable, terminal=True)

    def style(self, text: str, **attributes: Any) -> str:
        """The text with click's style attributes, or as it is where colours are off."""
        if not (self.color and text and attributes):
            return text
        before, _, after = click.style("\n", **attributes).replace("\x1b", ESC).partition("\n")
        return f"{before}{text}{after}"

    def dim(self, text: str) -> str:
        return self.style(text, dim=True)

    def bold(self, text: str) -> str:
        return self.style(text, bold=True)

    def link(self, text: str, url: str | None) -> str:
        """An OSC 8 hyperlink; terminals that do not know it show the text alone."""
        if not (self.links and url):
            return text
        return f"{ESC}]8;;{harmless_line(url)}{ESC}\\{text}{ESC}]8;;{ESC}\\"

    def bar(self, share: float, *, cells: int = 10) -> str:
        """A bar of ``cells`` columns filled by ``share`` of 1, in eighths of a column."""
        eighths = round(max(0.0, min(1.0, share)) * cells * 8)
        full, part = divmod(eighths, 8)
        drawn = "█" * full + (BLOCKS[part - 1] if part else "")
        return drawn + "·" * (cells - len(drawn))


def width(text: str) -> int:
    """Columns the text takes on a terminal; it holds no escape sequences."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, columns: int) -> str:
    """The text cut to this many columns, with ``…`` where its end is missing."""
    return text if width(text) <= columns else text[: _fitting(text, columns - 1)].rstrip() + "…"


def clip_start(text: str, columns: int) -> str:
    """Like clip, but the end is kept: for paths, whose last part says most."""
    if width(text) <= columns:
        return text
    return "…" + text[len(text) - _fitting(text[::-1], columns - 1) :].lstrip()


def _fitting(text: str, columns: int) -> int:
    """How many characters from the start fit into so many columns."""
    used = 0
    for position, char in enumerate(text):
        used += _char_width(char)
        if used > columns:
            return position
    return len(text)


def pad(text: str, columns: int) -> str:
    """The text followed by spaces up to this many columns."""
    return text + " " * max(0, columns - width(text))


def wrap(text: str, columns: int) -> list[tuple[int, int]]:
    """Break the text into lines of at most so many columns, as character ranges.

    Ranges rather than strings, so that marks inside the text keep their places. A line ends at a space where
    there is one (which no line then holds), inside a word where there is none; line breaks are kept.
    """
    lines: list[tuple[int, int]] = []
    start = 0
    for paragraph in text.split("\n"):
        lines += _wrap_line(text, start, start + len(paragraph), columns)
        start += len(paragraph) + 1
    return lines


def _wrap_line(text: str, start: int, end: int, columns: int) -> list[tuple[int, int]]:
    lines: list[tuple[int, int]] = []
    begin, used, space = start, 0, -1
    position = start
    while position < end:
        used += _char_width(text[position])
        if text[position] == " ":
            space = position
        if used > columns and position > begin:
            cut = space if space > begin else position
            lines.append((begin, cut))
            begin = position = cut + 1 if cut == space else cut
            used, space = 0, -1
            continue
        position += 1
    lines.append((begin, end))
    return lines
