"""Notes whose names Korean borrowed: 리덕스 is the note Redux, where no text has the word in Korean.

Consonants must sound alike, and vowels nearly; only whole names of notes are compared, so that a word which
sounds like something else by chance finds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kebab.domain.documents import DocumentSummary
from kebab.domain.loanwords import may_sound, sounds
from kebab.domain.names import folded

COMPARED = 20_000
"""No more notes are compared: a miss must not cost more than a find."""
# One syllable may belong to the word, longer ones hardly ever do.
_PARTICLE = re.compile(
    r"(?P<long>들?(?:에서는?|에는|에도|으로|이랑)|들[은이을의에])$|[은는이가을를의에도와과로]$"
)
_VERB = re.compile(r"(?:하[는기고여며던]|해서|되는)$")
_LEAST = 3
"""Syllables of a word that is told by its sound."""
_NAME = re.compile(r"[a-z]{3,40}")
_FIRST, _VOWELS, _FINALS = 0xAC00, 21, 28
# ㅏ to ㅣ in the order of Unicode: what each is written with in English. ㅡ only carries a consonant.
_SPOKEN = (
    *("a", "ea", "a", "ea", "uo", "ea", "u", "ea", "oua", "a", "ea"),
    *("oe", "o", "uo", "uo", "e", "iy", "u", "", "i", "iey"),
)
_DULL = 4
"""Where ㅓ stands among them: an unstressed vowel, however it is written."""
# At the beginning of a word these are told apart; without one, nothing is known of it.
_OPENING = {"ㅍ": "pf", "ㅂ": "bvw", "ㅌ": "t", "ㄷ": "dt", "ㅋ": "ckqx", "ㄱ": "gck"}
_ONSETS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_CLOSING = frozenset({0, 1, 4, 8, 16, 17, 19, 21})
"""None, ㄱ ㄴ ㄹ ㅁ ㅂ ㅅ ㅇ: how the spelling of foreign words lets a syllable end."""
_WRITTEN = re.compile("i(?=[ao])|[aeiouy]+")
_SILENT = re.compile("(?<=[^aeiouy])e$")
_ENDING = re.compile("(?<=[ts])io(?=n)")
_LONG = 5
"""From so many consonants on, a vowel may be missing."""


def borrowed(word: str, documents: Iterable[DocumentSummary]) -> list[str]:
    """The names of notes that a Korean word may be, also with a particle; the likest first."""
    likely: dict[str, float] = {}
    forms = [form for form in _without_particle(word) if _may_be_foreign(form)]
    names = set(_names(documents)) if forms else set()
    for spoken in forms:
        consonants, vowels = sounds(spoken), _korean_vowels(spoken)
        most = 0.8 if any(len(row) >= _LONG for row in consonants) else 0.3
        for name in names if consonants else ():
            if _opens_alike(spoken, name) and may_sound(name, consonants) and consonants & sounds(name):
                apart = _apart(vowels, _english_vowels(name))
                if apart <= most:
                    likely.setdefault(name, apart)
    return sorted(likely, key=lambda name: (likely[name], name))


def _without_particle(word: str) -> list[str]:
    """The word without what is attached, and as it is where that may belong to it; nothing of a verb."""
    if _VERB.search(word):
        return []
    attached = _PARTICLE.search(word)
    bare = word[: attached.start()] if attached else word
    return [bare] if attached and attached["long"] else list(dict.fromkeys((word, bare)))


def _may_be_foreign(word: str) -> bool:
    """Whether it is spelled as foreign words are: no tense consonant, few kinds of ends of a syllable."""
    if len(word) < _LEAST:
        return False
    parts = [divmod(ord(letter) - _FIRST, _VOWELS * _FINALS) for letter in word]
    return all(_ONSETS[onset] not in "ㄲㄸㅃㅆㅉ" and rest % _FINALS in _CLOSING for onset, rest in parts)


def _names(documents: Iterable[DocumentSummary]) -> Iterator[str]:
    for document in documents:
        stem = document.path.rpartition("/")[2].partition(".")[0]
        yield from (name for name in (folded(document.title), folded(stem)) if _NAME.fullmatch(name))


def _opens_alike(word: str, name: str) -> bool:
    onset = _ONSETS[(ord(word[0]) - _FIRST) // (_VOWELS * _FINALS)]
    if onset == "ㅇ" or name[0] in "aeiou":
        return onset == "ㅇ" and name[0] in "aeiouyw"
    return name[0] in _OPENING.get(onset, name[0])


def _korean_vowels(word: str) -> list[str]:
    """What each vowel may be in English letters; an ㅏ that glides into an i is one with it: 타입, type."""
    found: list[str] = []
    for letter in word:
        onset, rest = divmod(ord(letter) - _FIRST, _VOWELS * _FINALS)
        spoken = _SPOKEN[rest // _FINALS]
        if _ONSETS[onset] == "ㅇ" and spoken == "iey" and found and found[-1] == "a":
            found[-1] = "aiy"
        elif spoken:
            found.append(spoken)
    return found


def _english_vowels(name: str) -> list[str]:
    return _WRITTEN.findall(_SILENT.sub("", _ENDING.sub("o", name)))


def _apart(spoken: Sequence[str], written: Sequence[str]) -> float:
    """How far two rows of vowels are apart: 1 for each that differs, a half for each that one lacks.

    A tenth where a dull vowel is written otherwise than it mostly is.
    """
    row = [at / 2 for at in range(len(written) + 1)]
    for at, vowel in enumerate(spoken, start=1):
        above, row = row, [at / 2]
        for to, letters in enumerate(written, start=1):
            dull = 0.1 if vowel == _SPOKEN[_DULL] else 1.0
            differs = 0.0 if set(vowel) & set(letters) else dull
            row.append(min(above[to] + 0.5, row[to - 1] + 0.5, above[to - 1] + differs))
    return row[-1]
