"""Names that are typed as they stand in a text: codes, identifiers, single words.

Who types `E15` asks for the line that holds `E15`. A line that is only near it in meaning is beside the
point, and where no text holds the code, there is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from kebab.answer.kinds import Kind, demanded, kind_of
from kebab.answer.measured import FEATURES
from kebab.answer.rank import Scored
from kebab.answer.shown import show
from kebab.answer.words import pattern

_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_PARTICLE = re.compile(r"(?<=[A-Za-z0-9_\])`'\"])[\uac00-\ud7a3]{1,4}$")
_BARE = "\"'`“”‘’?!.,;:()"
_NEAR, _ABOUT = FEATURES.index("near"), 0.5
"""How much of the question a passage meets, with what stands around it, that is about it."""
_BEFORE, _BEHIND = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"


def lone(question: str) -> str:
    """The word that is all of a question; empty where it has several, or asks something of it (EBS란?)."""
    words = question.split()
    return _name(words[0]) if len(words) == 1 and kind_of(question) is Kind.OTHER else ""


def codes(question: str) -> tuple[str, ...]:
    """The codes and identifiers in a question: E15, TP-20931, max_connections, tokio::select.

    Alone, also what may be a name where it stands in a sentence: charge.key, structuredClone.
    """
    words = [_name(each) for each in question.split()]
    sure = pattern("code" if len(words) == 1 else "coded")
    return tuple(word for word in words if sure.search(word))


def _name(word: str) -> str:
    """A word without signs around it and, behind Latin letters, without its Korean particle."""
    return _PARTICLE.sub("", word.strip(_BARE)).strip(_BARE)


def held_by(code: str, texts: Iterable[str]) -> bool:
    """Whether one of these texts holds the code; maxConnections and max connections are one name."""
    loose = _loosely(code)
    return any(loose.search(text) for text in texts)


def holding(question: str, ranked: Sequence[Scored]) -> list[Scored]:
    """The passages that hold the one name that was typed, or the price, the day, the name that is asked for,
    in their order; all of them where none does.

    One that says it itself comes before one that stands below a heading with it.
    """
    name = lone(question)
    if not name:
        return _telling(question, ranked)
    exact = re.compile(_BEFORE * name[0].isascii() + re.escape(name), re.IGNORECASE)
    whole = re.compile(exact.pattern + _BEHIND, re.IGNORECASE)
    loose = _loosely(name)
    shown = [(one, show(one.passage)) for one in ranked]
    found = next(
        filter(None, ([o for o, text in shown if each.search(text)] for each in (whole, exact, loose))), []
    )
    return found or [one for one in ranked if loose.search(_above(one))] or list(ranked)


def _telling(question: str, ranked: Sequence[Scored]) -> list[Scored]:
    """The passages about the question that have the form of what it asks for."""
    form = demanded(question)
    if form is None:
        return list(ranked)
    about = (one for one in ranked if one.features[_NEAR] >= _ABOUT)
    return [one for one in about if form.search(show(one.passage))] or list(ranked)


def _above(one: Scored) -> str:
    return " ".join((one.passage.below, *one.chunk.chunk.heading_path[-1:]))


@lru_cache(maxsize=64)
def _loosely(name: str) -> re.Pattern[str]:
    """The name however its parts are joined: TP-20931, TP 20931; the end of a number is no part of it."""
    parts = _PIECE.findall(name) or [name]
    return re.compile(_BEFORE + r"[\W_]{0,3}".join(map(re.escape, parts)) + _BEHIND, re.IGNORECASE)
