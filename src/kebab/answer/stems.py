"""Stems of Korean verbs and adjectives: 알려야, 알린다 and 알리면 are one word, and so are 오르려면 and 오를.

A guess by letters, not morphology. Hangul is taken apart into its letters, since an ending may be half a
syllable; what is left after the ending is compared. Nouns come out unchanged but for a last ㄹ, ㄴ or ㅁ.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from kebab.answer.words import read_words

_WORD = re.compile(r"^[가-힣]{2,20}$")
_PAST, _DROPPED = "ᆻ", "ᆯᆫᆷ"
_CONTRACTED = {"ᅧ": "ᅵ", "ᅯ": "ᅮ", "ᅪ": "ᅩ"}
"""알려 is 알리어, 바꿔 is 바꾸어, 봐 is 보아."""
_FINALS = {"ㅂ": "ᆸ", "ㄴ": "ᆫ", "ㅆ": "ᆻ"}
_LEAST_LEFT = 3
_LEAST = 4
"""Letters below which stems of unrelated words are the same too often."""


def _letters(text: str) -> str:
    return unicodedata.normalize("NFD", text)


_ENDINGS = sorted(
    (_FINALS.get(word[0], "") + _letters(word[word[0] in _FINALS :]) for word in read_words("verbs.ko.txt")),
    key=len,
    reverse=True,
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The letters that forms of one verb share; empty for what is no Korean word, or too short to tell."""
    if not _WORD.match(word):
        return ""
    whole = _letters(word)
    ending = next((e for e in _ENDINGS if whole.endswith(e) and len(whole) - len(e) >= _LEAST_LEFT), "")
    left = whole.removesuffix(ending)
    inflected = bool(ending) or left.endswith(_PAST)
    left = left.removesuffix(_PAST)
    if left[-1] in _DROPPED:
        left = left[:-1]
    if inflected:
        left = left[:-1] + _CONTRACTED.get(left[-1], left[-1])
    return left if len(left) >= _LEAST else ""
