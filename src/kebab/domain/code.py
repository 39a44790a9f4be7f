"""How people name what stands in source code: languages by their short names, symbols by their ends."""

from __future__ import annotations

import re
from functools import lru_cache

from kebab.domain.ids import nfc

_LANGUAGES = {
    "py": "python", "js": "javascript", "jsx": "javascript", "ts": "typescript", "tsx": "typescript",
    "golang": "go", "rs": "rust", "kt": "kotlin", "c++": "cpp", "cxx": "cpp", "c#": "csharp", "cs": "csharp",
    "rb": "ruby", "sh": "shell", "bash": "shell", "zsh": "shell",
}  # fmt: skip


def code_lang(name: str) -> str:
    """A programming language as documents name it: ``C++`` and ``cpp`` are ``cpp``."""
    return _LANGUAGES.get(name.lower(), name.lower())


_DOCSTRING = re.compile(r'("""|\'\'\')(.*?)\1', re.DOTALL)
_DIRECTIVES = r"[\[!]|include|define|undef|pragma|if|el|endif"
_COMMENT = re.compile(
    rf"^[ \t]*(?://[/!]?|/\*+!?|\*+/?|--|#(?!{_DIRECTIVES}))[ \t]?(.*?)(?:\*/)?$", re.MULTILINE
)
_NAME = re.compile(r"[^\W\d]\w+")
# Words of the languages themselves: they stand in every unit and say nothing about one.
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "and as assert async await bool break case catch char class const continue def default del do "
        "double dyn elif else end enum export extends extern False final finally float fn for from "
        "func function fun go if impl implements import in int interface is lambda let long loop "
        "match mod module move mut namespace new nil None not null object or override package pass "
        "private protected pub public raise ref rescue return self Self static str string struct "
        "super switch template this throw throws trait True true false try type typename union unsafe "
        "usize use using val var virtual void when where while with yield",
    )
)
_DESCRIBED_CHARS = 500
_HEAD_CHARS = 200
_HEAD_NAMES = 12
_BODY_CHARS = 600


def described(text: str) -> str:
    """What a person reads of a unit to learn what it is for: its comments, and the names at its head.

    A unit without comments is told by the names in its body.
    """
    said = " ".join(
        " ".join([*(found[1] for found in _DOCSTRING.findall(text)), *_COMMENT.findall(text)]).split()
    )
    names = (
        _names(text[:_HEAD_CHARS])[:_HEAD_NAMES] if len(said) > _HEAD_CHARS else _names(text[:_BODY_CHARS])
    )
    return "\n".join([said[:_DESCRIBED_CHARS], " ".join(names)])


def _names(text: str) -> list[str]:
    return [name for name in dict.fromkeys(_NAME.findall(text)) if name not in _KEYWORDS]


_NUMBERED = re.compile(r"[^\W\d_][^\W_]{0,60}")
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d_]+")
_MOST_PARTS = 200


def number_parts(text: str) -> str:
    """The letters and the digits of names that join them, each once: ``sha256`` is found by ``sha`` too.

    The other parts of names, ``snake_case`` and ``camelCase``, the analyzer finds in every text.
    """
    names = (name for name in dict.fromkeys(_NUMBERED.findall(text)) if not name.isalpha())
    parts = (part for name in names for part in _LETTERS_OR_DIGITS.findall(name))
    return " ".join(list(dict.fromkeys(part for part in parts if len(part) > 1))[:_MOST_PARTS])


# What stands above many files and says nothing about them.
_FORMAL = re.compile(
    r"copyright|licen[cs]e|spdx|all rights reserved|author|coding[:=]|^!|vim:|eslint|pylint|noqa|created on",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\n[ \t]*(?://+!?|#+|\*+)?[ \t]*(?=\n)")
_MOST_SAID = 160
_SENTENCE = re.compile(r"(.{10,160}?[.!?])(?:\s|$)")


def purpose_of(head: str) -> str:
    """The first sentence that the head of a file says about it; empty where it says none."""
    found = _DOCSTRING.search(head)
    said = [found[2]] if found else []
    said.extend(" ".join(_COMMENT.findall(paragraph)) for paragraph in _BETWEEN.split(head))
    for text in (" ".join(one.split()) for one in said):
        if len(text) >= 10 and not _FORMAL.search(text):
            sentence = _SENTENCE.match(text)
            return sentence[1] if sentence else _cut(text)
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SAID else text[:_MOST_SAID].rsplit(" ", 1)[0]


def names_symbol(pattern: str, symbol: str) -> bool:
    """Whether a pattern names a symbol: the whole or its end after a dot, in any case; ``*`` is any text."""
    parts = _parts(pattern)
    low = symbol.casefold()
    starts = [0, *(at + 1 for at, sign in enumerate(low) if sign == ".")]
    return any(_fits(parts, low[start:]) for start in starts)


@lru_cache(maxsize=256)
def _parts(pattern: str) -> tuple[str, ...]:
    """What stands between the stars; ``::`` and ``#`` are dots to whoever comes from C++ or Ruby."""
    return tuple(nfc(pattern).replace("::", ".").replace("#", ".").casefold().split("*"))


def _fits(parts: tuple[str, ...], text: str) -> bool:
    """Each part is taken where it first stands, so that any number of stars takes linear time."""
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return text == first
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in parts[1:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
