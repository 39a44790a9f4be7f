"""What a sentence states that can be looked up: numbers, dates, names, identifiers, quotations.

Deterministic and deliberately simple. It cannot tell whether a sentence is true; it can tell that a number or
a name was not in the text the sentence claims to rest on, which is how small models usually invent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kebab.answer.words import read_lines, read_words

# Digits with separators; not the 32 of u32, nor the 1 of [#1].
_NUMBER = re.compile(r"(?<![A-Za-z_#\d.])\d+(?:,\d{3})*(?:\.\d+)*")
_LONGEST_NUMBER = 1000
_CODE = re.compile(r"`([^`\n]+)`")
_QUOTATION = re.compile(r"[\"“]([^\"“”\n]+)[\"”]")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[-'’.][A-Za-z0-9_]+)*\+{0,2}")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_TITLED = re.compile(
    r"([\uac00-\ud7a3]{2,4}?)\s?(?:씨|교수|박사|대표|팀장|부장|과장|사장|의원|대통령|장관|선생|기자|감독)"
)

_SPELLED = dict(line.split() for line in read_lines("numbers.txt") if line.isascii())
_KOREAN_SPELLED = dict(line.split() for line in read_lines("numbers.txt") if not line.isascii())
# Capitalised in any English text without being a name.
_ORDINARY = frozenset(read_words("capitals.en.txt"))


@dataclass(frozen=True, slots=True)
class Facts:
    numbers: tuple[str, ...]
    names: tuple[str, ...]
    """Proper names; as written."""
    identifiers: tuple[str, ...]
    """Code, and words with inner capitals or digits: never translated."""
    quotations: tuple[str, ...]
    korean: bool
    """The sentence is Korean."""


def facts(sentence: str) -> Facts:
    """Everything in a sentence that its cited text must hold."""
    code = tuple(_CODE.findall(sentence))
    prose = _CODE.sub(" ", sentence)
    quotations = tuple(q.strip() for q in _QUOTATION.findall(prose) if len(q.split()) >= 3)
    words = list(_names(prose))
    return Facts(
        numbers=tuple(dict.fromkeys(_normal(n) for n in _NUMBER.findall(prose))),
        names=tuple(dict.fromkeys(w for w in words if not _is_identifier(w))),
        identifiers=tuple(dict.fromkeys((*code, *(w for w in words if _is_identifier(w))))),
        quotations=quotations,
        korean=bool(_HANGUL.search(prose)),
    )


def missing_from(stated: Facts, source: str) -> list[str]:
    """What of a sentence's facts the source does not hold, as written in the sentence.

    Numbers match in any spelling (3, three, 세, March). Plain names are not looked up when the
    sentence translates its source, where they stand in the other script (Seoul, 서울); identifiers, numbers
    and quotations are.
    """
    folded = _fold(source)
    numbers = _numbers_in(source)
    missing = [number for number in stated.numbers if number not in numbers]
    missing += [name for name in stated.identifiers if not _holds(folded, name)]
    missing += [q for q in stated.quotations if _fold(q).strip(" .,") not in folded]
    translated = stated.korean != bool(_HANGUL.search(source))
    for name in stated.names:
        transliterated = translated and bool(_HANGUL.search(name)) == stated.korean
        if not transliterated and not _holds(folded, name):
            missing.append(name)
    return list(dict.fromkeys(missing))


def _names(prose: str) -> Iterator[str]:
    yield from _TITLED.findall(prose)
    korean = bool(_HANGUL.search(prose))
    words = list(_LATIN.finditer(prose))
    lead = len(prose) - len(prose.lstrip(" \t\"'“”‘’([*_-"))
    for place, match in enumerate(words):
        word = re.sub(r"['’]s$", "", match[0])
        starts = match.start() <= lead
        if word.lower() in _ORDINARY or len(word) < 2:
            continue
        if (
            _is_identifier(word)
            or (korean and not starts)
            or (word[0].isupper() and not starts)
            or (starts and word[0].isupper() and _next_is_name(words, place, prose))
        ):
            yield word


def _next_is_name(words: list[re.Match[str]], place: int, prose: str) -> bool:
    """A capital at the start of a sentence names something when a capitalised word follows at once."""
    if place + 1 >= len(words):
        return False
    following = words[place + 1]
    return prose[words[place].end() : following.start()] == " " and following[0][0].isupper()


def _is_identifier(word: str) -> bool:
    return bool(re.search(r"[A-Za-z]\d|\d[A-Za-z]|_|[a-z][A-Z]|\+", word))


def _numbers_in(source: str) -> frozenset[str]:
    found = {_normal(number) for number in _NUMBER.findall(source)}
    found |= {part for number in _NUMBER.findall(source) for part in map(_normal, number.split("."))}
    found |= {_SPELLED[word] for word in re.findall(r"[a-z]+", source.lower()) if word in _SPELLED}
    for word in re.findall(r"[\uac00-\ud7a3]+", source):
        found |= {value for spelled, value in _KOREAN_SPELLED.items() if word.startswith(spelled)}
    return frozenset(found)


def _normal(number: str) -> str:
    """1,000 → 1000, 05 → 5, 1.50 → 1.5; a version such as 1.2.10 stays."""
    number = number.replace(",", "")
    whole, dot, rest = number.partition(".")
    if dot and "." not in rest:
        rest = rest.rstrip("0")
        return f"{_whole(whole)}.{rest}" if rest else _whole(whole)
    return number if dot else _whole(whole)


def _whole(digits: str) -> str:
    """Without leading zeros, in the digits 0 to 9. One too long to be a quantity stays as it is written.

    ``int`` refuses more than some thousand digits, and reads them in the square of their number.
    """
    return str(int(digits)) if len(digits) <= _LONGEST_NUMBER else digits


def _holds(folded: str, name: str) -> bool:
    name = _fold(name).strip()
    if _HANGUL.search(name) or not re.match(r"\w", name):
        return name in folded
    singular = re.escape(name[:-1] if name.endswith("s") and len(name) > 3 else name)
    return bool(re.search(rf"(?<![a-z0-9]){singular}", folded))


def _fold(text: str) -> str:
    text = text.lower().replace("’", "'").replace("“", '"').replace("”", '"').replace("`", "")
    return " ".join(text.split())
