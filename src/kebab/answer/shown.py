"""Passages for the eye: without markup, on one line."""

from __future__ import annotations

import re
from itertools import zip_longest

from kebab.answer.laid_out import cells
from kebab.answer.shapes import Passage, Shape
from kebab.domain.readable import readable

_NUMBERED = re.compile(r"^(?:\d{1,3}[.)-])+\d{0,3}[.)]?\s+")
_GLOSS = re.compile(r"(?<=\S)\s*[(（][^()（）]*[)）]")


def show(passage: Passage) -> str:
    """The passage for the eye, on one line: without markup, a row with the names of its columns."""
    if passage.items:
        column = f"{passage.head[0]}: " if passage.head[0] else ""
        return readable(column + ", ".join(passage.items))
    if passage.shape is Shape.ROW:
        named = zip_longest(passage.head, cells(passage.text), fillvalue="")
        return readable("; ".join(f"{head}: {cell}" if head else cell for head, cell in named if cell))
    return passage.text if passage.shape is Shape.CODE else readable(passage.text)


def heading_name(heading: str) -> str:
    """What a heading names, without its number and what stands in brackets: "2. EBS (Block Store)"."""
    plain = readable(heading)
    return _GLOSS.sub("", _NUMBERED.sub("", plain)).strip() or plain
