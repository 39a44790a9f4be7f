"""A question in one language about pages in another: the words that those pages would use."""

from __future__ import annotations

from kebab.answer.alike import translations
from kebab.answer.loanwords import beginnings, may_sound, sounds
from kebab.answer.question import Question
from kebab.ports import LexicalIndex

_MOST = 3
"""Words of the corpus that are tried for one that sounds like them, the commonest."""
_SHORT = 3
"""How many letters a word may have for each of its consonants."""


def abroad(question: Question, index: LexicalIndex) -> str:
    """The question in the words of the other language; empty where one of its nouns is not known there.

    A word is translated by the dictionary, else a Korean loan word by what the corpus writes that sounds so.
    Latin words of a Korean question are names and stay.
    """
    found: dict[str, None] = {}
    for keyword in question.keywords:
        there = [other for word in keyword.spellings for other in _there(word, question.lang, index)]
        if not there and keyword.share == 1.0:
            return ""
        found.update(dict.fromkeys(there))
    return " ".join(found)


def _there(word: str, lang: str, index: LexicalIndex) -> tuple[str, ...]:
    if word.isascii():
        return (word,) if lang == "ko" else translations(word)
    return translations(word) or tuple(_borrowed(word, index))


def _borrowed(word: str, index: LexicalIndex) -> list[str]:
    """The commonest words of the corpus that sound like a Korean one."""
    spoken = sounds(word)
    counted: dict[str, int] = {}
    for letter in beginnings(word) if spoken else ():
        counted.update(index.words_from(letter))
    alike = (
        other
        for other in counted
        if other.isascii()
        and any(len(other) <= _SHORT * len(each) for each in spoken)
        and may_sound(other, spoken)
        and spoken & sounds(other)
    )
    return sorted(alike, key=lambda other: (-counted[other], other))[:_MOST]
