"""Where a text stands in a file whose lines mean nothing to a reader: a page, a slide, some cells, a time.

A place is written as the fragment of a citation (``p=3``, ``t=62.000,75.500``); the same text is what the
store keeps, so that what is cited can be read back. Lines are no place: a text without one is cited by its
lines.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from kebab.domain.values import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a document, from 1."""

    number: int


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle: of a page, in its own units, or of an image, in pixels; ``page`` is 0 for an image."""

    x: int
    y: int
    width: int
    height: int
    page: int = 0


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide of a presentation, from 1."""

    number: int


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of a sheet; columns and rows count from 1 and are inclusive."""

    sheet: str
    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Time:
    """A stretch of a recording, in milliseconds."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Caption:
    """What is said about an image as a whole."""


@dataclass(frozen=True, slots=True)
class CodeUnit:
    """A function, class or the like. It has lines too, and is cited by them."""

    symbol: str


@dataclass(frozen=True, slots=True)
class Items:
    """What a file without pages is counted in, from 1 and inclusive.

    ``unit`` is ``par`` for paragraphs, ``cell`` for cells of a notebook, ``item`` for records and nodes.
    """

    unit: str
    first: int
    last: int
    part: int = 0
    """The chapter, message or note that they belong to, from 1; 0 where the file has none."""


Place = Page | Region | Slide | Cells | Time | Caption | CodeUnit | Items

_NUMBER = r"(\d{1,9})"
_SECONDS = r"(\d{1,9}(?:\.\d{1,3})?)"
_PAGE = re.compile(rf"(?:p|page)={_NUMBER}")
_REGION = re.compile(rf"(?:p={_NUMBER}&)?xywh={_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}")
_SLIDE = re.compile(rf"slide={_NUMBER}")
_CELLS = re.compile(rf"cell=([^!]{{1,300}})!([A-Z]{{1,4}}){_NUMBER}(?::([A-Z]{{1,4}}){_NUMBER})?")
_TIME = re.compile(rf"t={_SECONDS}(?:,{_SECONDS})?")
_SYMBOL = re.compile(r"symbol=(\S{1,1000})")
_ITEMS = re.compile(rf"(?:part={_NUMBER}&)?(par|cell|item)={_NUMBER}(?:-{_NUMBER})?")


def fragment(place: Place) -> str:
    """The place as the fragment of a citation; ``parse_place`` reads it back."""
    match place:
        case Page(number):
            return f"p={number}"
        case Region(x, y, width, height, page):
            return (f"p={page}&" if page else "") + f"xywh={x},{y},{width},{height}"
        case Slide(number):
            return f"slide={number}"
        case Cells(sheet, left, top, right, bottom):
            last = "" if (left, top) == (right, bottom) else f":{_column(right)}{bottom}"
            return f"cell={quote(sheet, safe='')}!{_column(left)}{top}{last}"
        case Time(start, end):
            return f"t={start / 1000:.3f},{end / 1000:.3f}"
        case Caption():
            return "caption"
        case CodeUnit(symbol):
            return f"symbol={quote(symbol, safe='.:')}"
        case Items(unit, first, last, part):
            numbers = str(first) if first == last else f"{first}-{last}"
            return (f"part={part}&" if part else "") + f"{unit}={numbers}"


def parse_place(text: str) -> Place:
    """The place that a fragment names; raises ValueError for anything else."""
    if text == "caption":
        return Caption()
    if found := _PAGE.fullmatch(text):
        return Page(int(found[1]))
    if found := _REGION.fullmatch(text):
        page, x, y, width, height = (int(number or 0) for number in found.groups())
        return Region(x, y, width, height, page)
    if found := _SLIDE.fullmatch(text):
        return Slide(int(found[1]))
    if found := _CELLS.fullmatch(text):
        left, top = _number(found[2]), int(found[3])
        right, bottom = (_number(found[4]), int(found[5])) if found[4] else (left, top)
        return Cells(unquote(found[1]), left, top, right, bottom)
    if found := _TIME.fullmatch(text):
        start = _milliseconds(found[1])
        return Time(start, _milliseconds(found[2]) if found[2] else start)
    if found := _SYMBOL.fullmatch(text):
        return CodeUnit(unquote(found[1]))
    if found := _ITEMS.fullmatch(text):
        return Items(found[2], int(found[3]), int(found[4] or found[3]), int(found[1] or 0))
    raise ValueError(f"not a place: {text[:80]!r}")


def joined(first: Place | None, second: Place | None) -> Place | None:
    """One place for two neighbouring texts. Raises ValueError where no citation can name both."""
    if first == second:
        return first
    match first, second:
        case Time(), Time():
            return Time(min(first.start, second.start), max(first.end, second.end))
        case Cells(), Cells() if first.sheet == second.sheet:
            left, top = min(first.left, second.left), min(first.top, second.top)
            return Cells(
                first.sheet, left, top, max(first.right, second.right), max(first.bottom, second.bottom)
            )
        case Region(), Region() if first.page == second.page:
            return _around(first, second)
        case Items(), Items() if (first.unit, first.part) == (second.unit, second.part):
            return Items(first.unit, min(first.first, second.first), max(first.last, second.last), first.part)
        case (Region(page=page), Page(number)) | (Page(number), Region(page=page)) if page == number:
            return Page(number)
    raise ValueError(f"no citation names both {first} and {second}")


def can_join(first: Place | None, second: Place | None) -> bool:
    try:
        joined(first, second)
    except ValueError:
        return False
    return True


def touches(wanted: Place, held: Place) -> bool:
    """Whether a text at ``held`` belongs to what ``wanted`` names, wholly or in part."""
    match wanted, held:
        case Page(number), Region(page=page):
            return page == number
        case Region(page=page), Page(number):
            return page == number
        case Region(), Region():
            return wanted.page == held.page and _overlap(wanted, held)
        case Cells(), Cells():
            return wanted.sheet == held.sheet and _meet(wanted, held)
        case Time(), Time():
            return wanted.start == held.start or (wanted.start < held.end and held.start < wanted.end)
        case Items(), Items():
            same = (wanted.unit, wanted.part) == (held.unit, held.part)
            return same and wanted.first <= held.last and held.first <= wanted.last
    return wanted == held


def _around(first: Region, second: Region) -> Region:
    x, y = min(first.x, second.x), min(first.y, second.y)
    right = max(first.x + first.width, second.x + second.width)
    bottom = max(first.y + first.height, second.y + second.height)
    return Region(x, y, right - x, bottom - y, first.page)


def _overlap(one: Region, other: Region) -> bool:
    across = one.x < other.x + other.width and other.x < one.x + one.width
    return across and one.y < other.y + other.height and other.y < one.y + one.height


def _meet(one: Cells, other: Cells) -> bool:
    across = one.left <= other.right and other.left <= one.right
    return across and one.top <= other.bottom and other.top <= one.bottom


def _column(number: int) -> str:
    """1 is A, 26 is Z, 27 is AA."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _milliseconds(seconds: str) -> int:
    whole, _, rest = seconds.partition(".")
    return 1000 * int(whole) + int(f"{rest:0<3}")
