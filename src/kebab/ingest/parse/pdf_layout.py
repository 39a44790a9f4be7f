"""From the lines of pages to paragraphs: reading order, running heads, headings, words cut at line ends."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from kebab.ingest.parse.pdf_order import in_order, parts
from kebab.ports import PdfEntry, PdfLine, PdfPage

_MARGIN = 0.12
"""Running heads stand in this share of the page, at its top and at its bottom."""
_SIDE = 0.05
"""And turned ones in this share at its sides; further in stand the axes of figures."""
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
_SHORTEST_HEADING = 2
_MOST_LEVELS = 4
_OUTLINED = 3
"""Pages that an outline must name to be believed alone: sizes of letters say less."""
_OUTERMOST = 1
_NAMING = 5
"""Letters of a heading that says what a page is about, and does not stand there by chance."""
_BESIDE = 8
"""Letters that a running head adds to headings, such as "Chapter"."""
_LOOSER = 0.3
"""How much wider than usual, in heights of the letters, the gap is that begins a paragraph."""
_USUAL = 0.45
_INDENTED = 4
"""Lines of one paragraph begin within so many heights of each other."""
_ENOUGH_GAPS = 10
_WIDEST = 1.5
"""Between lines of one paragraph, in heights; above this even double spacing ends."""
_MOSTLY = 0.5
_SAME_LETTERS = 0.09
_WITHIN_HEADING = 0.75


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
    open: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """The same of the sections that go on or open on each page; the longest words first."""
    spaced: bool = False
    """A line that ends with a word ends with a space: so one without cuts a Korean word."""
    gaps: Mapping[float, float] = field(default_factory=dict)
    """For each size, from the bottom of most lines to the top of the next, in heights of their letters."""
    bold_stands_out: bool = True

    def paragraphs(self, page: PdfPage) -> Iterator[PdfText]:
        """The paragraphs and headings of a page, in reading order."""
        group: list[PdfLine] = []
        level = 0
        for part in parts(self._read(page)):
            edges = _edges(part)
            for line in part:
                own = self._level(line, page)
                edge = edges[_column(line)]
                if group and not (own == level and self._goes_on(group[-1], line, edge, heading=bool(own))):
                    yield self._text(group, level)
                    group = []
                group.append(line)
                level = own
        if group:
            yield self._text(group, level)

    def title(self, page: PdfPage) -> str:
        """The largest words of a first page, where they stand out."""
        lines = upright(page.lines)
        largest = max((line.size for line in lines if _bare(line.text)), default=0.0)
        if not largest or largest < _TITLE * self.body:
            return ""
        words = self._joined([line for line in lines if line.size == largest])
        return words if len(words) <= _LONGEST_HEADING else ""

    def _text(self, lines: Sequence[PdfLine], level: int) -> PdfText:
        text = self._joined(lines)
        return PdfText(text, level if len(text) <= _LONGEST_HEADING else 0)

    def _read(self, page: PdfPage) -> list[PdfLine]:
        margins = set(in_margins(page))
        return in_order(
            [line for line in page.lines if not (line in margins and self._is_running(line, page))]
        )

    def _is_running(self, line: PdfLine, page: PdfPage) -> bool:
        if _PAGE_NUMBER.fullmatch(line.text.strip()) or _key(line.text) in self.running:
            return True
        return line.bottom < _MARGIN * page.height and self._repeats_headings(line, page)

    def _repeats_headings(self, line: PdfLine, page: PdfPage) -> bool:
        """Whether a line is made of the headings of its chapter and sections, of which one opened before."""
        rest, opening = _bare(line.text), self.outline.get(page.number, {})
        if rest in opening:
            return False
        named: dict[str, int] = {}
        for title, level in self.open.get(page.number, {}).items():
            if len(title) >= _NAMING and title in rest:
                rest = rest.replace(title, "", 1)
                named[title] = level
        return len(rest) <= _BESIDE and 1 in named.values() and not named.keys() <= opening.keys()

    def _level(self, line: PdfLine, page: PdfPage) -> int:
        named = self.outline.get(page.number, {}).get(_bare(line.text))
        if named:
            return named
        if len(line.text) > _LONGEST_HEADING or len(_bare(line.text)) < _SHORTEST_HEADING:
            return 0
        if _LEADERS.search(line.text) or len(self.outline) >= _OUTLINED:
            return 0
        found = 0 if _is_turned(line) else self.sizes.get(line.size, 0)
        if found or not (line.bold and self.bold_stands_out):
            return found
        numbered = _NUMBERED.match(line.text)
        return 2 + (numbered[1] or "").count(".") if numbered else 0

    def _goes_on(self, before: PdfLine, line: PdfLine, edge: float, *, heading: bool) -> bool:
        """Whether a line belongs to the paragraph of the one before; ``edge`` is where its column ends."""
        height = max(before.size, 1.0)
        gap = line.top - before.bottom
        usual = self.gaps.get(before.size, _USUAL)
        widest = max(_WITHIN_HEADING, usual) if heading else usual + _LOOSER
        if not -1.2 * height < gap < widest * height:
            return False
        if abs(before.size - line.size) > _SAME_LETTERS * height:
            return False
        if heading:
            return True
        if self.bold_stands_out and before.bold and not line.bold:
            return False
        if _BULLET.match(line.text) or _LEADERS.search(before.text):
            return False
        return not _would_fit(line, before, edge)

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
        open=_open(pages, outline),
        spaced=_is_spaced(pages),
        gaps=_usual_gaps(pages),
        bold_stands_out=_stands_out(pages),
    )


def in_margins(page: PdfPage) -> Iterator[PdfLine]:
    """The lines where running heads stand: near the edge, or the outermost; at a side only turned ones."""
    tops = sorted(page.lines, key=lambda line: line.top)
    outermost = {*tops[:_OUTERMOST], *tops[-_OUTERMOST:]}
    for line in page.lines:
        edge = line.bottom < _MARGIN * page.height or line.top > (1 - _MARGIN) * page.height
        side = line.right < _SIDE * page.width or line.left > (1 - _SIDE) * page.width
        if edge or line in outermost or (side and _is_turned(line)):
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


def _open(pages: Iterable[PdfPage], outline: Sequence[PdfEntry]) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    coming = deque(sorted(outline, key=lambda entry: entry.page))
    path: list[PdfEntry] = []
    for number in sorted(page.number for page in pages):
        here = list(path)
        while coming and coming[0].page <= number:
            path = [entry for entry in path if entry.level < coming[0].level]
            path.append(coming.popleft())
            here.append(path[-1])
        levels = {_bare(entry.title): entry.level for entry in here}
        found[number] = dict(sorted(levels.items(), key=lambda named: -len(named[0])))
    return found


def _usual_gaps(pages: Iterable[PdfPage]) -> dict[float, float]:
    """The gap between most lines of a size that stand below each other; none for a size of few lines."""
    gaps: dict[float, Counter[float]] = defaultdict(Counter)
    for page in pages:
        for before, line in pairwise(page.lines):
            gap = (line.top - before.bottom) / max(before.size, 1.0)
            if before.size == line.size and line.left < before.right and -1 < gap < _WIDEST:
                gaps[line.size][round(gap, 1)] += 1
    most = {size: seen.most_common(1)[0] for size, seen in gaps.items()}
    return {size: max(0.0, gap) for size, (gap, seen) in most.items() if seen >= _ENOUGH_GAPS}


def _stands_out(pages: Iterable[PdfPage]) -> bool:
    """Whether bold letters are the lesser part, so that they tell something."""
    letters: Counter[bool] = Counter()
    for page in pages:
        for line in page.lines:
            letters[line.bold] += len(line.text)
    return letters[True] <= _MOSTLY * letters.total()


def _column(line: PdfLine) -> tuple[float, int]:
    """Lines of one paragraph are of one size and begin at about one place."""
    return line.size, int(line.left // (_INDENTED * max(line.size, 1.0)))


def _edges(part: Iterable[PdfLine]) -> dict[tuple[float, int], float]:
    """Where the column ends of the lines that begin about here."""
    ends: dict[tuple[float, int], list[float]] = defaultdict(list)
    for line in part:
        ends[_column(line)].append(line.right)
    return {
        (size, at): _edge([end for near in (at - 1, at, at + 1) for end in ends.get((size, near), ())], size)
        for size, at in ends
    }


def _edge(ends: Sequence[float], size: float) -> float:
    """The furthest end that two lines share: one alone may stick out of its column."""
    furthest = sorted(ends, reverse=True)
    return next((end for end, other in pairwise(furthest) if end - other <= size), furthest[0])


def _would_fit(line: PdfLine, before: PdfLine, edge: float) -> bool:
    """Whether the line before had room for the first word of this one: then it ended on purpose."""
    if line.top < before.bottom - before.size:
        return False  # it stands beside it, or begins another column
    first = len(line.text.split(maxsplit=1)[0]) / len(line.text) * (line.right - line.left)
    return before.right + first + 2 * before.size < edge


def upright(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The lines that are not turned by a quarter, as some stand in a margin; all where all are turned."""
    return [line for line in lines if not _is_turned(line)] or list(lines)


def _is_turned(line: PdfLine) -> bool:
    height = line.bottom - line.top
    return len(line.text) > 3 and height > 2.5 * line.size and height > line.right - line.left


def _is_spaced(pages: Iterable[PdfPage]) -> bool:
    ends = [line.text for page in pages for line in page.lines if _HANGUL.match(line.text.rstrip()[-1:])]
    return sum(end.endswith(" ") for end in ends) > 0.2 * len(ends)


def _key(text: str) -> str:
    return _DIGITS.sub("#", " ".join(text.split())).casefold()


def _bare(text: str) -> str:
    """Letters alone: an outline leaves out or adds numbers and dots."""
    return "".join(filter(str.isalpha, text)).casefold()
