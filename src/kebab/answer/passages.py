"""Cutting a chunk's Markdown into passages: what an answer may quote, each with its own lines.

A passage is a sentence, an item of a list, a list with the sentence that announces it, a row of a table, or a
few lines of code. Sentences that lean on the one before ("This is because …") come together with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum

from kebab.answer.sentences import RULER, Sentence, sentences, table_lines
from kebab.answer.words import pattern
from kebab.domain.values import dataclass

MOST_ITEMS = 8
LONGEST = 640
"""Characters of a passage that reads as text; more is no answer but a page."""
_TAIL = 80
"""Characters at the end of a sentence that tell whether it announces something."""
_VALUE = 90
"""Characters of a sentence that is taken along for its number."""
_NEARBY = 2
"""Sentences before one that tell what it is about."""
_ANSWER = 6
"""Sentences behind a question that may answer it."""
_FAR = 40
"""Sentences between an item and the one that it is a part of."""
_FROM_LIST = 2
"""Sentences between a list and the one that announces it."""
_LABEL = 4
"""Words of a label."""
LONGEST_TABLE = 2400
LONGEST_CODE = 12
"""Lines of code quoted at once."""

_FENCE = re.compile(r"^\s{0,12}(?:>\s?)*(```+|~~~+)")
_DIGIT = re.compile(r"\d")
_BROKEN = re.compile(r"[a-z]{2}$")
_ASKED = re.compile(r"[?？][\"'”’)*_`]*$")
_BOLD = re.compile(r"^(\*\*|__|[*_])(?!\s)[^*_]{3,60}\1\W?$")
_DEFAULT = re.compile(
    r"^(?:the )?defaults?(?: value)?(?: (?:is|of|to|are)\b|:| ?`| \d)|^기본값(?:은|:)", re.IGNORECASE
)


# Boxes, trees of arrows and diagrams are pictures, not lines that someone types.
_DRAWN = re.compile(r"[\u2500-\u257f]{3}|^(?:graph|flowchart|sequenceDiagram|classDiagram|pie|gantt)\b|-->")


class Shape(StrEnum):
    SENTENCE = "sentence"
    ITEM = "item"
    LIST = "list"
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Passage:
    """Some neighbouring lines of a chunk. ``text`` stands there as it is, but for line breaks and list signs.

    ``first`` and ``last`` are its lines, counted from 0 inside the chunk's text.
    """

    text: str
    first: int
    last: int
    shape: Shape
    place: int
    """How many passages stand before it in the chunk."""
    around: str = ""
    """What belongs to it without being quoted: the sentences before and after, the head of its table."""
    head: tuple[str, ...] = ()
    """The column names of a row's table."""
    code: str = ""
    """The lines of code, as they stand."""
    items: tuple[str, ...] = ()
    """What a table enumerates: the first cell of each of its rows."""
    below: str = ""
    """What stands above it like a heading, without being one: the question that it answers, a label."""
    announced: bool = True
    """False for a list that no sentence announces: it may be what its heading names."""


def passages(text: str) -> list[Passage]:
    """The passages of a Markdown text, in order; no headings and no markup."""
    rows = list(_rows(text))
    found = [*_prose(text), *rows, *_tables(rows), *_code(text)]
    found.sort(key=lambda passage: (passage.first, passage.last))
    return [replace(passage, place=place) for place, passage in enumerate(found)]


def announces(text: str) -> bool:
    """True for a sentence that says nothing without what follows it."""
    return bool(pattern("announces").search(text[-_TAIL:]))


def breaks_off(text: str) -> bool:
    """True for a sentence without an end, such as one that runs on into the code below it."""
    return bool(_BROKEN.search(text))


def leads(text: str) -> bool:
    """True for a sentence that a list below it may complete: also one that only counts what follows."""
    return announces(text) or bool(pattern("counts").search(text))


# --- sentences and lists -------------------------------------------------------------------------


def _prose(text: str) -> Iterator[Passage]:
    found = _without_rows(sentences(text), table_lines(text.split("\n")))
    place = listed = 0
    while place < len(found):
        end = place + 1 + _items(found, place + 1)
        lead = _lead(found, place) if end > place + 1 else None
        if lead is not None:
            yield from _list(found, lead, end)
        else:
            bare = place if found[place].item else place + 1
            if bare >= listed and sum(one.item for one in found[bare:end]) > 1:
                yield from _list(found, bare, end, announced=False)
                listed = end
            end = place + 1
        yield from _single(found, place)
        for at in range(place + 1, end):
            yield from _single(found, at, lead=found[lead] if lead is not None else None)
        place = end
    yield from _nested(found)


def _nested(found: Sequence[Sentence]) -> Iterator[Passage]:
    """Each item that others are a part of, with these: "DAU - users who came on one day"."""
    for at, one in enumerate(found):
        end = at + 1
        while end < min(len(found), at + 1 + MOST_ITEMS) and _part(found, at, end):
            end += 1
        if one.item and any(each.item for each in found[at + 1 : end]) and not _leads(one):
            yield from _list(found, at, end)


def _part(found: Sequence[Sentence], item: int, at: int) -> bool:
    """True for what follows an item as a part of it: items that are indented more, and their sentences."""
    one = found[at]
    if one.apart:
        return False
    return one.depth > found[item].depth if one.item else one.first <= found[at - 1].last


def _lead(found: Sequence[Sentence], last: int) -> int | None:
    """Which sentence announces the list behind ``last``: that one, or one shortly before it."""
    at = last
    while not _leads(found[at]):
        if last - at == _FROM_LIST or at == 0 or found[at].item or not _joined(found[at - 1], found[at]):
            return None
        at -= 1
    return at


def _leads(one: Sentence) -> bool:
    """True for a sentence that announces the list right below it, also in passing: "for several reasons."."""
    return announces(one.text) or (not one.item and leads(one.text))


def _without_rows(found: Sequence[Sentence], tables: frozenset[int]) -> list[Sentence]:
    """The sentences but for rows of tables and settings above a page; what follows one stands apart."""
    kept: list[Sentence] = []
    cut = False
    for one in found:
        if one.first in tables or one.text.startswith(("|", "+++")):
            cut = True
            continue
        kept.append(replace(one, apart=True) if cut else one)
        cut = False
    return kept


def _items(found: Sequence[Sentence], start: int) -> int:
    """How many sentences from ``start`` on belong to a list that follows without anything between."""
    place = start
    while place < len(found) and not found[place].apart:
        follows = place > start and found[place].first <= found[place - 1].last
        if not found[place].item and not follows:
            break
        place += 1
    return place - start


def _list(found: Sequence[Sentence], lead: int, end: int, *, announced: bool = True) -> Iterator[Passage]:
    """The announcement with its first items; fewer items where all would be too long."""
    for last in range(min(end, lead + 1 + MOST_ITEMS), lead + 1, -1):
        items = found[lead + 1 : last]
        text = found[lead].text + "".join(f" - {s.text}" if s.item else f" {s.text}" for s in items)
        if len(text) <= LONGEST:
            around = found[lead - 1].text[:LONGEST] if lead and _joined(found[lead - 1], found[lead]) else ""
            first, end_line = found[lead].first, items[-1].last
            yield Passage(text, first, end_line, Shape.LIST, 0, around, announced=announced)
            return


def _single(found: Sequence[Sentence], at: int, *, lead: Sentence | None = None) -> Iterator[Passage]:
    """A sentence, with the one before where it leans on it, and with the one after that gives its value.

    ``lead`` announces the list whose item it is. A label is no sentence: what it names comes with it.
    """
    one = found[at]
    if len(one.text) > LONGEST:
        return
    before = found[at - 1] if at and _joined(found[at - 1], one) else None
    after = found[at + 1] if at + 1 < len(found) and _followed(one, found[at + 1]) else None
    around = " ".join(s.text[:LONGEST] for s in (lead, *_before(found, at), after) if s)
    shape = Shape.ITEM if one.item else Shape.SENTENCE
    above = _above(found, at)
    below = " ".join(filter(None, (above.text[:LONGEST] if above else "", _heads(found, at))))
    labels = after is not None and _labels(one)
    if before and len(before.text) <= LONGEST and _leans(one.text):
        yield Passage(f"{before.text} {one.text}", before.first, one.last, shape, 0, around, below=below)
    elif not labels:
        yield Passage(one.text, one.first, one.last, shape, 0, around, below=below)
    if after and (default := _default_after(found, at + 1)):
        text = f"{one.text} {after.text} {default.text}"
        yield Passage(text, one.first, default.last, shape, 0, around, below=below)
    elif after and (labels or (len(after.text) <= _VALUE and _gives_value(one.text, after.text))):
        yield Passage(f"{one.text} {after.text}", one.first, after.last, shape, 0, around, below=below)


def _before(found: Sequence[Sentence], at: int) -> list[Sentence]:
    """The sentences of the same paragraph that stand right before this one."""
    begin = at
    while begin and at - begin < _NEARBY and _joined(found[begin - 1], found[begin]):
        begin -= 1
    return list(found[begin:at])


def _heads(found: Sequence[Sentence], at: int) -> str:
    """The question or label that opens the paragraph or the item of this sentence; empty for most."""
    begin = at
    while begin and at - begin < _ANSWER and _joined(found[begin - 1], found[begin]):
        begin -= 1
        if _ASKED.search(found[begin].text) or _labels(found[begin]):
            return found[begin].text
    return ""


def _above(found: Sequence[Sentence], at: int) -> Sentence | None:
    """The item that this one is a part of: the nearest one before it that is indented less."""
    one, far = found[at], at - _FAR
    while at > max(0, far) and not found[at].apart and one.item and one.depth:
        at -= 1
        if found[at].item and found[at].depth < one.depth:
            return found[at]
    return None


def _labels(one: Sentence) -> bool:
    """True for a few words that name what follows: "**Group related state.** If you …"."""
    return bool(_BOLD.match(one.text)) or (
        one.item and len(one.text) > _LABEL and one.text.count(" ") < _LABEL
    )


def _default_after(found: Sequence[Sentence], at: int) -> Sentence | None:
    """The sentence behind this one, in its paragraph, where it gives a default in a few words."""
    nearby = at + 1 < len(found) and _joined(found[at], found[at + 1]) and len(found[at].text) <= _VALUE
    given = nearby and len(found[at + 1].text) <= _VALUE and _DEFAULT.match(found[at + 1].text)
    return found[at + 1] if given else None


def _leans(text: str) -> bool:
    """True for "This is because …" and "If you need them, …": the sentence before says what."""
    return any(pattern(name).match(text) for name in ("leans.first", "leans.later"))


def _gives_value(text: str, after: str) -> bool:
    """True when the sentence after holds the number that a sentence lacks."""
    return bool(_DEFAULT.match(after)) or bool(_DIGIT.search(after) and not _DIGIT.search(text))


def _followed(one: Sentence, other: Sentence) -> bool:
    """True when ``other`` comes next in the paragraph, or below it as the default of what it describes."""
    below = not other.apart and other.first - one.last == 2 and bool(_DEFAULT.match(other.text))
    return below or _joined(one, other)


def _joined(one: Sentence, other: Sentence) -> bool:
    """True when ``other`` continues the paragraph or the item of ``one``."""
    return not other.apart and not other.item and other.first - one.last <= 1


# --- tables and code -----------------------------------------------------------------------------


def _rows(text: str) -> Iterator[Passage]:
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


def _tables(rows: Sequence[Passage]) -> Iterator[Passage]:
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


def _code(text: str) -> Iterator[Passage]:
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


def _stanzas(lines: Sequence[str], start: int, end: int) -> Iterator[Passage]:
    """The code between two fences, cut at empty lines where it is long; the first with its announcement."""
    above = next((n for n in range(start - 2, -1, -1) if lines[n].strip()), None)
    lead = _announcement(lines[above]) if above is not None else ""
    begin = start
    for number in range(start, end + 1):
        if number < end and (lines[number].strip() or end - start <= LONGEST_CODE):
            continue
        code = "\n".join(lines[begin:number]).strip("\n")
        if _quotable(code):
            typed = "\n" not in code and bool(pattern("typed").search(lead))
            said = lead if begin == start and (typed or announces(lead) or breaks_off(lead)) else ""
            first = above if said and above is not None else begin
            text = " ".join(f"{said} {code}".split())
            yield Passage(text, first, number - 1, Shape.CODE, 0, lead, code=code)
        begin = number + 1


def _quotable(code: str) -> bool:
    """True for a few lines that someone could type."""
    short = code.count("\n") < 2 * LONGEST_CODE and len(code) <= 2 * LONGEST
    return bool(code.strip()) and short and not _DRAWN.search(code)


def _announcement(line: str) -> str:
    """The last sentence of the line above some code, where it is one."""
    found = sentences(line)
    return found[-1].text if found and not found[-1].text.startswith("|") else ""
