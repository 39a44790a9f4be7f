"""What kind of answer a question wants, and whether a passage is of that kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from kebab.answer.shapes import Shape
from kebab.answer.words import pattern, pattern_names


class Kind(StrEnum):
    NUMBER = "number"
    WHEN = "when"
    WHERE = "where"
    WHO = "who"
    DEFINITION = "definition"
    HOW = "how"
    WHY = "why"
    LIST = "list"
    YES_NO = "yes_no"
    OTHER = "other"


def kind_of(question: str) -> Kind:
    """The kind of answer a question asks for; ``OTHER`` where nothing tells, such as for keywords."""
    text = " ".join(question[:400].split())
    asked = (name for name in pattern_names() if name.startswith("asked."))
    found = next((name for name in asked if pattern(name).search(text)), None)
    return Kind(found.removeprefix("asked.")) if found else Kind.OTHER


def definition(text: str) -> tuple[str, float]:
    """What a passage defines, and how much it reads like a definition, 0 to 1."""
    for tenths in (10, 9, 6, 4):
        if found := pattern(f"defines.{tenths}").search(text[:160]):
            subject = next(group for group in found.groups() if group is not None)
            return subject, tenths / (20 if "의 " in subject else 10)  # A의 B는 says of B, not of A
    return "", 0.0


def fits(kind: Kind, shape: Shape, text: str, question: str = "") -> float:
    """How well a passage that reads ``text`` looks like such an answer to the question, 0 to 1."""
    match kind:
        case Kind.NUMBER:
            unit = _unit(question)
            return (
                1.0 if unit and unit.search(text) else 0.7 * (_like("digit", text) or _like("number", text))
            )
        case Kind.HOW:
            shown = shape in (Shape.CODE, Shape.LIST) or "`" in text
            return 0.5 * shown + 0.5 * _like("step", text)
        case Kind.LIST:
            return 1.0 if shape is Shape.LIST else 0.6 * _like("enumerated", text)
        case Kind.WHO:
            return 1.0 if _tells_name(text, question) else _WEAK * _like("name", text)
        case Kind.WHERE if pattern("asks_file").search(question):
            return 1.0 if pattern("given.path").search(text) else _SOMEWHERE * _like("place", text)
        case Kind.WHEN if pattern("happened").search(question):
            return 1.0 if pattern("given.date").search(text) else _WEAK * _like("date", text)
        case _:
            return float(kind in _LIKE and _like(_LIKE[kind], text))


def _tells_name(text: str, question: str) -> bool:
    """Whether a text names somebody, or the role of somebody, whom the question does not."""
    known = question.lower()
    return any(found[0].strip().lower() not in known for found in pattern("given.name").finditer(text))


def named(question: str, texts: Sequence[str]) -> list[float]:
    """For each passage 1 where a question asks what something is called or set to, and it holds a name that
    the question lacks; 0 for one that most of them hold.
    """
    if not _asks_name(question):
        return [0.0] * len(texts)
    known = question.lower()
    names = [
        frozenset(found[0].lower().strip("`'\"*“”") for found in pattern("name").finditer(text))
        for text in texts
    ]
    counts = Counter(name for held in names for name in held)
    common = max(_FEW, len(texts) * _COMMON)
    return [float(any(name not in known and counts[name] <= common for name in held)) for held in names]


@lru_cache(maxsize=64)
def wanted(question: str) -> re.Pattern[str] | None:
    """What must be told where a question asks for one private thing, such as a phone number; else None.

    No sentence about phones answers for a number that is nowhere.
    """
    told = pattern("asks_place").search(question) or pattern("is_lost").search(question)
    if told or kind_of(question) in (Kind.HOW, Kind.WHY, Kind.YES_NO):
        return None
    for name in pattern_names():
        private, _, of = name.partition(".")
        asked = rf"(?:{pattern(name).pattern}){_NAMED}"
        if private == "private" and re.search(asked, question, re.IGNORECASE):
            return pattern(f"given.{of}")
    return None


@lru_cache(maxsize=64)
def demanded(question: str) -> re.Pattern[str] | None:
    """What one of the best passages must tell by its form: a price, a day by which, a name; else None."""
    for name in pattern_names():
        asked, _, of = name.partition(".")
        if asked == "demanded" and pattern(name).search(question):
            return pattern(f"given.{of}")
    return None


@lru_cache(maxsize=64)
def _asks_name(question: str) -> bool:
    return bool(pattern("asked_name").search(question))


@lru_cache(maxsize=64)
def _unit(question: str) -> re.Pattern[str] | None:
    """What a number that answers the question is counted in: years, won, the thing that "how many" names."""
    for name in pattern_names():
        asked, _, of = name.partition(".")
        if asked == "unit" and pattern(name).search(question):
            return pattern(f"measured.{of}")
    counted = pattern("counted").search(question)
    noun = next((group for group in counted.groups() if group), "") if counted else ""
    if not noun:
        return pattern("like.digit")
    named = re.escape(noun[:5])
    # "Eggs: 5" counts eggs as "5 eggs" does.
    return re.compile(rf"{_COUNT}{named}|^\W*{named}\S{{0,4}}\s?[:=]\s?\d", re.IGNORECASE)


# Behind what is asked for: whose it is, or that it is asked for. "Password length" asks for something else.
_NAMED = (
    r"(?: (?:of|for|at|on|in|to|from) .{1,60})?(?:는|은|가|이|를|을|좀)?"
    r"(?: ?(?:뭐|무엇|몇|알려|어떻게 되|좀)[가-힣 ]*)?"
    r"\s*[?？.]?\s*$"
)
_FEW, _COMMON = 4, 0.25
"""A name in more passages than a few, and in a larger share of them, is what all of them are about."""
_COUNT = (
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|no)\b)"
    r"[\d,.]*(?: (?!and )[^\s.]+){0,3}? ?"
)
_WEAK = 0.5
"""What counts of a passage that only may be of the kind: a day may be before another, a subject no person."""
_SOMEWHERE = 0.75
"""What a place counts that is no path, where a file is asked for."""
_LIKE = {
    Kind.WHEN: "date",
    Kind.WHERE: "place",
    Kind.WHY: "reason",
    Kind.YES_NO: "says_yes",
}


def _like(name: str, text: str) -> bool:
    return bool(pattern(f"like.{name}").search(text))
