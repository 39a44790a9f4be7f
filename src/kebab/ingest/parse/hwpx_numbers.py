"""How HWPX numbers its paragraphs: outlines and lists, each level with signs of its own."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple
from xml.etree.ElementTree import Element

_PLACE = re.compile(r"\^(\d{1,2})")
_LEVELS = 10
_HANGUL = "가나다라마바사아자차카타파하"
_JAMO = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


class _Head(NamedTuple):
    written: str
    """Such as ``^1.``, where the number stands for a level."""
    form: str
    start: int


class _Form(NamedTuple):
    kind: str
    numbering: str
    level: int


class Numbering:
    """The numbers of the paragraphs of a document, counted in their order."""

    def __init__(self, header: Element | None) -> None:
        self.outline = ""
        """The numbering of the headings of the present section."""
        self._forms: dict[str, _Form] = {}
        self._heads: dict[str, dict[int, _Head]] = {}
        self._counts: dict[str, list[int]] = defaultdict(lambda: [0] * (_LEVELS + 1))
        if header is not None:
            self._learn(header)

    def next(self, form: str) -> tuple[int, str]:
        """The level of a heading, 0 for anything else, and the number of the next paragraph of this form."""
        found = self._forms.get(form)
        if found is None:
            return 0, ""
        heading = found.level if found.kind == "OUTLINE" else 0
        if found.kind == "BULLET":
            return 0, "-"
        name = self.outline if found.kind == "OUTLINE" else found.numbering
        return heading, self._counted(name, found.level)

    def _counted(self, name: str, level: int) -> str:
        heads = self._heads.get(name, {})
        head = heads.get(level)
        if head is None:
            return ""
        counts = self._counts[name]
        counts[level] = counts[level] + 1 if counts[level] else max(1, head.start)
        counts[level + 1 :] = [0] * (_LEVELS - level)

        def number(place: re.Match[str]) -> str:
            which = int(place[1])
            form = heads[which].form if which in heads else "DIGIT"
            return _sign(max(1, counts[which]), form) if which <= _LEVELS else ""

        return _PLACE.sub(number, head.written)

    def _learn(self, header: Element) -> None:
        for numbering in header.iter("numbering"):
            self._heads[numbering.get("id", "")] = {
                _number(head.get("level")): _Head(
                    (head.text or "").strip(), head.get("numFormat", ""), _number(head.get("start"))
                )
                for head in numbering.iter("paraHead")
            }
        for properties in header.iter("paraPr"):
            heading = properties.find("heading")
            if heading is not None and heading.get("type", "NONE") != "NONE":
                level = min(_number(heading.get("level")) + 1, _LEVELS)
                form = _Form(heading.get("type", ""), heading.get("idRef", ""), level)
                self._forms[properties.get("id", "")] = form


def _number(written: str | None) -> int:
    return int(written) if written and written.isdecimal() and len(written) < 4 else 0


def _sign(number: int, form: str) -> str:
    if "HANGUL_SYLLABLE" in form:
        return _HANGUL[(number - 1) % len(_HANGUL)]
    if "JAMO" in form:
        return _JAMO[(number - 1) % len(_JAMO)]
    if form == "CIRCLED_DIGIT" and number <= 20:
        return chr(0x2460 + number - 1)
    if "LATIN" in form:
        letter = chr(ord("a") + (number - 1) % 26)
        return letter if "SMALL" in form else letter.upper()
    if "ROMAN" in form:
        return _roman(number) if "SMALL" in form else _roman(number).upper()
    return str(number)


def _roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        while number >= value:
            written, number = written + letters, number - value
    return written
