"""From the lines of pages to paragraphs: reading order, running heads, headings, words cut at line ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from kebab.ports import PdfEntry, PdfLine, PdfPage

_MARGIN = 0.12
"""Running heads stand in this share of the page, at its top and at its bottom."""
_OFTEN = 3
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"[\s\-–—|·]{0,4}(?:page|쪽)?\s?(?:\d{1,5}|[ivxlc]{1,7})(?:\s?(?:/|of)\s?\d{1,5})?[\s\-–—|·]{0,4}", re.I
)
_NUMBERED = re.compile(
    r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s{1,4}\S|(?:제\s?\d{1,3}\s?[장절조]|chapter\s\d)", re.I
)
_LEADERS = re.compile(r"[.·…]{5,}|(?:\s\.){4,}")
_BULLET = re.compile(r"[•▪◦‣·○●■□※-]\s|\(?\d{1,2}[.)]\s|[가-하][.)]\s")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_LARGER = 1.12
_SAME_SIZE = 1.05
_TITLE = 1.25
_FEWEST = 3
"""Letters of a size: signs of mathematics are large too."""
_LONGEST_HEADING = 160
_MOST_LEVELS = 4
_OUTLINED = 3
"""Pages that an outline must name to be believed alone: sizes of letters say less."""
_OUTERMOST = 1
_WIDE = 0.6
"""A line that takes more of the width than this belongs to no column."""


class PdfText(NamedTuple):
    """A paragraph, or a heading where ``level`` is not 0."""

    text: str
    level: int


@dataclass(frozen=True, slots=True)
class Layout:
    """What holds for all pages of a file, found by looking at some or all of them."""

    running: frozenset[str] = frozenset()
    """Running heads, with their digits taken out."""
    body: float = 0.0
    """The size of most letters."""
    sizes: Mapping[float, int] = field(default_factory=dict)
    """Level of the headings of each larger size."""
    outline: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """For each page the words of its headings, without spaces, and their levels."""
    spaced: bool = False
    """A line that ends with a word ends with a space: so one without cuts a Korean word."""

    def paragraphs(self, page: PdfPage) -> Iterator[PdfText]:
        """The paragraphs and headings of a page, in reading order."""
        group: list[PdfLine] = []
        level = 0
        for line in self._read(page):
            own = self._level(line, page)
            if group and not (own == level and _goes_on(group[-1], line, heading=bool(own))):
                yield self._text(group, level)
                group = []
            group, level = [*group, line], own
        if group:
            yield self._text(group, level)

    def title(self, page: PdfPage) -> str:
        """The largest words of a first page, where they stand out."""
        largest = max((line.size for line in page.lines if _bare(line.text)), default=0.0)
        if not largest or largest < _TITLE * self.body:
            return ""
        words = self._joined([line for line in page.lines if line.size == largest])
        return words if len(words) <= _LONGEST_HEADING else ""

    def _text(self, lines: Sequence[PdfLine], level: int) -> PdfText:
        text = self._joined(lines)
        return PdfText(text, level if len(text) <= _LONGEST_HEADING else 0)

    def _read(self, page: PdfPage) -> list[PdfLine]:
        margins = set(in_margins(page))
        return in_order([line for line in page.lines if not (line in margins and self._is_running(line))])

    def _is_running(self, line: PdfLine) -> bool:
        return _PAGE_NUMBER.fullmatch(line.text.strip()) is not None or _key(line.text) in self.running

    def _level(self, line: PdfLine, page: PdfPage) -> int:
        named = self.outline.get(page.number, {}).get(_bare(line.text))
        if named:
            return named
        if len(line.text) > _LONGEST_HEADING or not any(map(str.isalpha, line.text)):
            return 0
        if _LEADERS.search(line.text) or len(self.outline) >= _OUTLINED:
            return 0
        found = self.sizes.get(line.size, 0)
        if found or not line.bold:
            return found
        numbered = _NUMBERED.match(line.text)
        return 2 + (numbered[1] or "").count(".") if numbered else 0

    def _joined(self, lines: Sequence[PdfLine]) -> str:
        text = lines[0].text
        for line in lines[1:]:
            text = self._append(text, line.text)
        return " ".join(_LEADERS.sub(" … ", text).split())

    def _append(self, text: str, following: str) -> str:
        if text[-1:] == "-" and text[-2:-1].isalpha() and following[:1].islower():
            return text[:-1] + following
        last, first = text[-1:], following[:1]
        cut = self.spaced and _HANGUL.match(last) and _HANGUL.match(first)
        if cut or (_CJK.match(last) and _CJK.match(first)):
            return text + following
        return f"{text} {following}"


def look_at(pages: Sequence[PdfPage], outline: Sequence[PdfEntry]) -> Layout:
    body = _body(pages)
    return Layout(
        running=_running(pages),
        body=body,
        sizes=_sizes(pages, body),
        outline=_by_page(outline),
        spaced=_is_spaced(pages),
    )


def in_order(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Reading order. The file's own, unless it jumps up often: then by columns, each from top to bottom."""
    jumps = sum(after.top < before.top - before.size for before, after in pairwise(lines))
    if jumps <= max(3, len(lines) // 10):
        return list(lines)
    return [
        line
        for band in _bands(lines)
        for column in _columns(band)
        for line in sorted(column, key=lambda one: (one.top, one.left))
    ]


def _bands(lines: Sequence[PdfLine]) -> Iterator[list[PdfLine]]:
    """The page from top to bottom, cut at lines that cross its columns."""
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    band: list[PdfLine] = []
    for line in sorted(lines, key=lambda one: one.top):
        if line.right - line.left > _WIDE * (right - left):
            yield from ([band] if band else [])
            yield [line]
            band = []
        else:
            band.append(line)
    yield from ([band] if band else [])


def _columns(lines: Sequence[PdfLine]) -> Iterator[list[PdfLine]]:
    """Lines whose widths overlap stand in one column; columns from left to right."""
    columns: list[tuple[float, float, list[PdfLine]]] = []
    for line in sorted(lines, key=lambda one: one.left):
        if columns and line.left < columns[-1][1] - line.size:
            left, right, members = columns[-1]
            columns[-1] = (left, max(right, line.right), [*members, line])
        else:
            columns.append((line.left, line.right, [line]))
    return (members for _, _, members in columns)


def _goes_on(before: PdfLine, line: PdfLine, *, heading: bool) -> bool:
    """Whether a line belongs to the paragraph of the one before."""
    height = max(before.size, 1.0)
    gap = line.top - before.bottom
    if not -1.2 * height < gap < 0.75 * height or abs(before.size - line.size) > 0.2 * height:
        return False
    if heading:
        return True
    if before.bold != line.bold and before.bold:
        return False
    return not (_BULLET.match(line.text) or _LEADERS.search(before.text))


def in_margins(page: PdfPage) -> Iterator[PdfLine]:
    """The lines where running heads stand: near the edge, or the outermost of the page."""
    tops = sorted(page.lines, key=lambda line: line.top)
    outermost = {*tops[:_OUTERMOST], *tops[-_OUTERMOST:]}
    for line in page.lines:
        edge = line.bottom < _MARGIN * page.height or line.top > (1 - _MARGIN) * page.height
        if edge or line in outermost:
            yield line


def _running(pages: Sequence[PdfPage]) -> frozenset[str]:
    """What stands in the margins of many pages: all, or every other one."""
    seen: Counter[str] = Counter()
    for page in pages:
        seen.update({_key(line.text) for line in in_margins(page)})
    least = max(_OFTEN, len(pages) // 20)
    return frozenset(text for text, times in seen.items() if times >= least)


def _body(pages: Iterable[PdfPage]) -> float:
    letters: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            letters[line.size] += len(line.text)
    return letters.most_common(1)[0][0] if letters else 0.0


def _sizes(pages: Iterable[PdfPage], body: float) -> dict[float, int]:
    """Sizes of headings, the largest first; a size that much of the text has is no heading's."""
    letters: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            letters[line.size] += sum(map(str.isalpha, line.text))
    whole = sum(letters.values())
    found: dict[float, int] = {}
    level, before = 0, float("inf")
    for size in sorted(letters, reverse=True):
        if size < _LARGER * body:
            break
        if letters[size] < _FEWEST or letters[size] > 0.2 * whole:
            continue
        level += size < before / _SAME_SIZE
        before = size
        found[size] = min(level, _MOST_LEVELS)
    return found


def _by_page(outline: Sequence[PdfEntry]) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for entry in outline:
        title = _bare(entry.title)
        if len(title) > 1:
            found.setdefault(entry.page, {}).setdefault(title, entry.level)
    return found


def _is_spaced(pages: Iterable[PdfPage]) -> bool:
    ends = [line.text for page in pages for line in page.lines if _HANGUL.match(line.text.rstrip()[-1:])]
    return sum(end.endswith(" ") for end in ends) > 0.2 * len(ends)


def _key(text: str) -> str:
    return _DIGITS.sub("#", " ".join(text.split())).casefold()


def _bare(text: str) -> str:
    """Letters alone: an outline leaves out or adds numbers and dots."""
    return "".join(filter(str.isalpha, text)).casefold()
