"""What kind of answer a question wants, and whether a passage is of that kind."""

from __future__ import annotations

from enum import StrEnum

from kebab.answer.passages import Shape
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
            return next(group for group in found.groups() if group is not None), tenths / 10
    return "", 0.0


def fits(kind: Kind, shape: Shape, text: str) -> float:
    """How well a passage that reads ``text`` looks like such an answer, 0 to 1."""
    match kind:
        case Kind.NUMBER:
            return 1.0 if _like("digit", text) else 0.7 * _like("number", text)
        case Kind.HOW:
            shown = shape in (Shape.CODE, Shape.LIST) or "`" in text
            return 0.5 * shown + 0.5 * _like("step", text)
        case Kind.LIST:
            return 1.0 if shape is Shape.LIST else 0.8 * _like("enumerated", text)
        case _:
            return float(kind in _LIKE and _like(_LIKE[kind], text))


_LIKE = {
    Kind.WHEN: "date",
    Kind.WHERE: "place",
    Kind.WHO: "name",
    Kind.WHY: "reason",
    Kind.YES_NO: "says_yes",
}


def _like(name: str, text: str) -> bool:
    return bool(pattern(f"like.{name}").search(text))
