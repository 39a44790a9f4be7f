"""Reading an answer: which sentence rests on which evidence."""

from __future__ import annotations

import re

from kebab.answer.sentences import split_prose
from kebab.domain.values import dataclass

MARKER = re.compile(r"\[#(\d{1,3})\]")
# Small models write [#1, #2] or [#1][#2]; the first form is made the second before anything is read.
_LIST = re.compile(r"\[#\d{1,3}(?:\s*[,;]\s*#?\d{1,3})+\]")
_LEADING = re.compile(r"^(?:\[#\d{1,3}\]\s*)+")
# Only from the first space of several: from each of them would take the square of their number.
_SPACED_SIGN = re.compile(r"(?<!\s)\s++([.,!?])")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence without its markers, and the markers it carries, in order, each once."""

    text: str
    markers: tuple[int, ...]


def spread(text: str) -> str:
    """The text with every ``[#1, #2]`` written as ``[#1][#2]``."""
    return _LIST.sub(lambda found: "".join(f"[#{n}]" for n in re.findall(r"\d+", found[0])), text)


def read_markers(text: str) -> list[Marked]:
    """The sentences of an answer. A marker behind a full stop belongs to the sentence before it.

    A sentence without one takes those of the next sentence on its line that has some: writers put one marker
    at the end of what it covers.
    """
    found: list[Marked] = []
    for line in spread(text).split("\n"):
        found += _inherited(_line(_ITEM.sub("", line)))
    return found


def _line(line: str) -> list[Marked]:
    marked: list[Marked] = []
    for piece in split_prose(line):
        leading = _LEADING.match(piece)
        if leading and marked:
            before = marked[-1]
            marked[-1] = Marked(before.text, _distinct((*before.markers, *_numbers(leading[0]))))
            piece = piece[leading.end() :]
        bare = _SPACED_SIGN.sub(r"\1", MARKER.sub("", piece)).strip()
        if bare.strip(".!? "):
            marked.append(Marked(bare, _distinct(_numbers(piece))))
        elif marked and not leading:
            before = marked[-1]
            marked[-1] = Marked(before.text, _distinct((*before.markers, *_numbers(piece))))
    return marked


def _inherited(marked: list[Marked]) -> list[Marked]:
    following: tuple[int, ...] = ()
    result: list[Marked] = []
    for sentence in reversed(marked):
        following = sentence.markers or following
        result.append(Marked(sentence.text, following))
    return result[::-1]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in MARKER.findall(text))


def _distinct(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(numbers))
