"""Passages that are laid out rather than written: rows of tables, what a table enumerates, lines of code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kebab.answer.sentences import ITEM, RULER, indented, sentences, table_lines
from kebab.answer.shapes import LONGEST, MOST_ITEMS, Passage, Shape, announces, breaks_off
from kebab.answer.words import pattern

LONGEST_TABLE = 2400
LONGEST_CODE = 12
"""Lines of code quoted at once."""

_FAR = 2
"""Lines between a label above some code and the sentence that announces both."""

_FENCE = re.compile(r"^\s{0,12}(?:>\s?)*(```+|~~~+)")
_TAGS = re.compile(r"^\s*\{%.*%\}\s*$")
_LABEL = re.compile(r"^[^.!?。]{2,80}$")
# Boxes, trees of arrows and diagrams are pictures, not lines that someone types.
_DRAWN = re.compile(r"[\u2500-\u257f]{3}|^(?:graph|flowchart|sequenceDiagram|classDiagram|pie|gantt)\b|-->")


def read_rows(text: str) -> Iterator[Passage]:
    head: tuple[str, ...] = ()
    lines = text.split("\n")
    inside = table_lines(lines)
    for number, line in enumerate(lines):
        if number not in inside:
            head = ()
        elif RULER.match(line):
            head = cells(lines[number - 1]) if number else ()
        elif head or number + 1 == len(lines) or not RULER.match(lines[number + 1]):
            row = " ".join(line.split())
            if len(row) <= LONGEST and any(cell.strip("-: ") for cell in cells(line)):
                yield Passage(row, number, number, Shape.ROW, 0, " ".join(head), head)


def read_tables(rows: Sequence[Passage]) -> Iterator[Passage]:
    """Neighbouring rows as one list: what a table enumerates stands in its first column."""
    begin = 0
    for end in range(1, len(rows) + 1):
        if (
            end < len(rows)
            and rows[end].first == rows[end - 1].last + 1
            and rows[end].head == rows[begin].head
        ):
            continue
        table = rows[begin : min(end, begin + 2 * MOST_ITEMS)]
        text = " ".join(row.text for row in table)
        if table[0].head and len(table) > 1 and len(text) <= LONGEST_TABLE:
            items = tuple(cells(row.text)[0] for row in table)
            yield Passage(text, table[0].first, table[-1].last, Shape.LIST, 0, "", table[0].head, items=items)
        begin = end


def cells(row: str) -> tuple[str, ...]:
    """The cells of a table's row."""
    return tuple(cell.strip() for cell in row.strip().strip("|").split("|"))


def read_code(text: str) -> Iterator[Passage]:
    lines = text.split("\n")
    start: int | None = None
    fence = ""
    for number, line in enumerate(lines):
        opened = _FENCE.match(line)
        if start is None and opened:
            start, fence = number + 1, opened[1]
        elif start is not None and opened and opened[1].startswith(fence):
            yield from _stanzas(lines, start, number)
            start = None
    for begin, end in _runs(sorted(indented(lines))):
        yield from _stanzas(lines, begin, end, above=begin)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring numbers as the first and the one behind the last."""
    begin = 0
    for at in range(1, len(numbers) + 1):
        if at == len(numbers) or numbers[at] > numbers[at - 1] + 1:
            if numbers:
                yield numbers[begin], numbers[at - 1] + 1
            begin = at


def _stanzas(lines: Sequence[str], start: int, end: int, *, above: int | None = None) -> Iterator[Passage]:
    """The code between two fences, cut at empty lines where it is long; the first with its announcement.

    ``above`` is the line below the announcement; by default that of the fence.
    """
    top, lead = _introduced(lines, start - 1 if above is None else above)
    begin = start
    for number in range(start, end + 1):
        if number < end and (lines[number].strip() or end - start <= LONGEST_CODE):
            continue
        code = "\n".join(lines[begin:number]).strip("\n")
        if _quotable(code):
            typed = "\n" not in code and bool(pattern("typed").search(lead))
            said = lead if begin == start and (typed or announces(lead) or breaks_off(lead)) else ""
            first = top if said else begin
            text = " ".join(f"{said} {code}".split())
            yield Passage(text, first, number - 1, Shape.CODE, 0, lead, code=code)
        begin = number + 1


def _introduced(lines: Sequence[str], below: int) -> tuple[int, str]:
    """The line above some code where its announcement begins, and this; empty where there is none.

    A label between the two ("For Debian", "macOS:") belongs to it.
    """
    at = _line_above(lines, below)
    lead = _announcement(lines[at]) if at >= 0 else ""
    if (
        lead
        and _LABEL.match(lead)
        and not ITEM.match(lines[at])
        and (over := _line_above(lines, at)) >= max(0, at - _FAR)
    ):
        more = _announcement(lines[over])
        if announces(more):
            return over, f"{more} {lead}"
    return at, lead


def _line_above(lines: Sequence[str], below: int) -> int:
    """The nearest line above that says something; -1 for none. Tags of a template say nothing."""
    return next((n for n in range(below - 1, -1, -1) if lines[n].strip() and not _TAGS.match(lines[n])), -1)


def _quotable(code: str) -> bool:
    """True for a few lines that someone could type."""
    short = code.count("\n") < 2 * LONGEST_CODE and len(code) <= 2 * LONGEST
    return bool(code.strip()) and short and not _DRAWN.search(code)


def _announcement(line: str) -> str:
    """The last sentence of the line above some code, where it is one."""
    found = sentences(line)
    return found[-1].text if found and not found[-1].text.startswith("|") else ""
