"""What an answer may quote, as a value: some lines of a chunk and what belongs to them."""

from __future__ import annotations

import re
from enum import StrEnum

from kebab.answer.words import pattern
from kebab.domain.values import dataclass

LONGEST = 640
"""Characters of a passage that reads as text; more is no answer but a page."""
MOST_ITEMS = 8
_TAIL = 80
"""Characters at the end of a sentence that tell whether it announces something."""
_BROKEN = re.compile(r"[a-z]{2}$")


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


def announces(text: str) -> bool:
    """True for a sentence that says nothing without what follows it."""
    return bool(pattern("announces").search(text[-_TAIL:]))


def breaks_off(text: str) -> bool:
    """True for a sentence without an end, such as one that runs on into the code below it."""
    return bool(_BROKEN.search(text))


def leads(text: str) -> bool:
    """True for a sentence that a list below it may complete: also one that only counts what follows."""
    return announces(text) or bool(pattern("counts").search(text))
