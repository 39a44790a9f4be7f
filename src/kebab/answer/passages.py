"""Cutting a chunk's Markdown into passages: what an answer may quote, each with its own lines.

A passage is a sentence, an item of a list, a list with the sentence that announces it, a row of a table, or a
few lines of code. Sentences that lean on the one before ("This is because …") come together with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kebab.answer.laid_out import read_code, read_rows, read_tables
from kebab.answer.sentences import Sentence, sentences, table_lines
from kebab.answer.shapes import LONGEST, MOST_ITEMS, Passage, Shape, announces, leads
from kebab.answer.words import pattern

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
_FRAGMENT = 20
"""Characters of what is hardly a sentence."""
_PAIR = 320
"""Characters of two sentences that are quoted as one passage."""
_TITLE = 40
"""Characters of a line above a list that is its title, as in notes."""
_TERSE = 160
"""Characters of an item or a line that is quoted whole: its sentences lean on each other."""

_DIGIT = re.compile(r"\d")
_HEADING = re.compile(r"^\s{0,3}#{2,6}\s+(?:\d{1,3}[.)]\s+)*(?=\D*\d)(\S.{7,120})$")
_ENDED = re.compile(r"[.!?。！？][\"'”’)\]*_`]*\s*$")
_ASKED = re.compile(r"[?？][\"'”’)*_`]*$")
_BOLD = re.compile(r"^(\*\*|__|[*_])(?!\s)[^*_]{3,60}\1\W?$")
_DEFAULT = re.compile(
    r"^(?:the )?defaults?(?: value)?(?: (?:is|of|to|are)\b|:| ?`| \d)|^기본값(?:은|:)", re.IGNORECASE
)


def passages(text: str) -> list[Passage]:
    """The passages of a Markdown text, in order; no markup, and of headings only those that tell a number."""
    rows = list(read_rows(text))
    cut = [*_prose(text), *_headings(text), *rows, *read_tables(rows), *read_code(text)]
    distinct: dict[tuple[int, int, str], Passage] = {}
    for one in cut:
        distinct.setdefault((one.first, one.last, one.text), one)
    found = sorted(distinct.values(), key=lambda passage: (passage.first, passage.last))
    return [replace(passage, place=place) for place, passage in enumerate(found)]


def _headings(text: str) -> Iterator[Passage]:
    """Headings with a number, which in notes may be all there is: "#### I need 2,200 kcal".

    Not those of the first level: "# Half marathon plan, spring 2026" says what the note is called.
    """
    for number, line in enumerate(text.split("\n")):
        if found := _HEADING.match(line):
            yield Passage(found[1].strip(), number, number, Shape.SENTENCE, 0, announced=False)


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
    yield from _terse(found)


def _nested(found: Sequence[Sentence]) -> Iterator[Passage]:
    """Each item that others are a part of, with these: "DAU - users who came on one day"."""
    for at, one in enumerate(found):
        end = at + 1
        while end < min(len(found), at + 1 + MOST_ITEMS) and _part(found, at, end):
            end += 1
        if one.item and any(each.item for each in found[at + 1 : end]) and not _leads(one):
            yield from _list(found, at, end)


def _terse(found: Sequence[Sentence]) -> Iterator[Passage]:
    """Each short item, and each short line, of several sentences: "10x goblet squat. 20kg."."""
    at = 0
    while at < len(found):
        end = at + 1
        while end < len(found) and _joined(found[end - 1], found[end]):
            end += 1
        text = " ".join(one.text for one in found[at:end])
        short = any(len(one.text) <= _FRAGMENT for one in found[at:end])
        alone = found[at].item or (short and found[end - 1].last == found[at].first)
        if end > at + 1 and alone and len(text) <= _TERSE:
            above = _above(found, at)
            below = above.text[:LONGEST] if above else ""
            shape = Shape.ITEM if found[at].item else Shape.SENTENCE
            yield Passage(text, found[at].first, found[end - 1].last, shape, 0, below=below)
        at = end


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
    """True for a title without an end, and for a sentence that announces the list right below it, also in
    passing: "for several reasons.".
    """
    titles = len(one.text) <= _TITLE and one.text[0].isalnum() and not _ENDED.search(one.text)
    return announces(one.text) or (not one.item and (titles or leads(one.text)))


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
    elif after and (labels or _goes_with(one, after)):
        yield Passage(f"{one.text} {after.text}", one.first, after.last, shape, 0, around, below=below)


def _goes_with(one: Sentence, after: Sentence) -> bool:
    """True for a sentence that gives the value of the one before, or is short enough to be quoted with it."""
    gives = len(after.text) <= _VALUE and _gives_value(one.text, after.text)
    return gives or len(one.text) + len(after.text) <= _PAIR


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
