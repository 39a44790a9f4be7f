"""Which passages may answer a question at all, before any is ranked."""

from __future__ import annotations

import re

from kebab.answer.kinds import Kind
from kebab.answer.shapes import Passage, Shape
from kebab.answer.words import pattern

SHORTEST = 8
"""Columns of a passage; a number says enough in half of them."""
_SECTION = 240
"""Characters of a list that answers as a whole, though nothing but its heading announces it."""
_SCRIPT = 4
"""Lines of code that only a question for the way is answered by."""
_LISTED = (Kind.LIST, Kind.HOW)
"""Kinds that a list may answer which nothing but its heading announces."""
_TOLD = (Kind.NUMBER, Kind.WHEN, Kind.WHO, Kind.WHY, Kind.YES_NO, Kind.DEFINITION)
"""Kinds that a script does not answer."""
_AWAY = 0.5
"""Share of what is shown that links to other sites make of a mere bookmark."""
_LINK = re.compile(r"!?\[([^\[\]]{1,300})\]\(<?https?://[^()\s]{1,600}(?:\([^()\s]{0,80}\)[^()\s]{0,80})?\)")
_TELLS = re.compile(r"[.!。][\"'”’)\]]*$|[다요죠]$")
"""The end of a sentence: a quotation may be the text of a link."""
_DIGIT = re.compile(r"\d")
_SAID_BEFORE = re.compile(r"(?:[.!]|[다요]\.?) \S")
"""A sentence that ends before the last one, which may ask."""
_QUESTION = re.compile(
    r"[?？](?:(?![?？])\W)*$|(?:무엇|뭐|어떻게|왜|언제|어디|어떤)[^.]{0,20}(?:인가|는가|은가|일까|할까|는지|인지)\W*$"
    r"|궁금[하할한해][^.]{0,12}\W*$|^(?:you|some|many) (?:may|might|will)(?: be)? wonder\b.{0,200}$"
)


def says_something(shown: str) -> bool:
    """True for a passage that is no question and long enough to say something: 계란 6개 is, 계란 is not."""
    if _QUESTION.search(shown) and not _SAID_BEFORE.search(shown[:-1]):
        return False
    width = len(shown) + sum("\uac00" <= letter <= "\ud7a3" for letter in shown)
    return width >= (SHORTEST if not _DIGIT.search(shown) else SHORTEST / 2)


def may_answer(passage: Passage, kind: Kind) -> bool:
    """Whether a passage of this shape may answer such a question at all."""
    if kind is not Kind.WHERE and pattern("bare_link").match(passage.text):
        return False
    if passage.shape is Shape.CODE:
        return kind not in _TOLD or passage.code.count("\n") < _SCRIPT
    if passage.announced:
        return True
    if passage.shape is Shape.LIST:
        return kind in _LISTED or len(passage.text) <= _SECTION
    return kind in (Kind.NUMBER, Kind.WHEN)


def points_away(text: str) -> bool:
    """True for a title that links to another site, with hardly a word about it: "- [How to sleep](https://…)"."""
    links = [link[1] for link in _LINK.finditer(text)]
    if not links or any(_TELLS.search(link) for link in links):
        return False
    rest = len(_LINK.sub("", text))
    shown = sum(map(len, links))
    return shown >= _AWAY * (shown + rest)
