"""Words that Korean borrowed: 스냅샷 is snapshot by its sound, whatever a model knows of it.

Both spellings are reduced to the classes of their consonants; vowels differ too much to compare. Three
classes in a row are rarely the same by chance.
"""

from __future__ import annotations

import re
from functools import lru_cache

LEAST = 3
"""Consonants that a word needs to be told by them."""
_FIRST, _SYLLABLES, _VOWELS, _FINALS = 0xAC00, 11172, 21, 28
_ONSETS = tuple(
    "kknttlmppss-sssktp-"
)  # ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ, of which 쓰 and 즈 sound like s
_CODAS = ("", *"kkknnntllllllllmppttnttktp", "")
_GLIDES = frozenset((2, 3, 6, 7, 12, 17))  # ㅑ ㅒ ㅕ ㅖ ㅛ ㅠ
_ROUNDED = frozenset((9, 10, 14, 15, 16))  # ㅘ ㅙ ㅝ ㅞ ㅟ
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[^a-z]", ""),
        (r"tion|sion", "sn"),
        (r"ture", "s"),
        (r"tch|sh|sch|ch(?=[aeiou]|$)", "s"),
        (r"ph", "p"),
        (r"gh(?=t|$)|^k(?=n)|(?<=[aeiou])w(?![aeiou])", ""),
        (r"th", "s"),
        (r"ck|qu?|ch", "k"),
        (r"x", "ks"),
        (r"c(?=[eiy])|dg(?=[ei])|j|z", "s"),
        (r"[cg]", "k"),
        (r"r(?![aeiouy])", ""),
        (r"r", "l"),
        (r"[bfv]", "p"),
        (r"d", "t"),
        (r"ng", "n"),
        (r"h", ""),
        (r"(?<!^)[aeiouyw]|^[aeiou]", "."),
        (r"([kntlmps])\1+", r"\1"),
        (r"\.", ""),
    )
)


_BEGINNINGS = {
    **dict.fromkeys("bpfv", "p"),
    **dict.fromkeys("d", "t"),
    **dict.fromkeys("tc", "tskp"),
    **dict.fromkeys("sjzx", "s"),
    **dict.fromkeys("lr", "l"),
    "m": "m",
    "n": "n",
    "y": "y",
    "w": "w",
    "q": "k",
    "k": "kn",
    "g": "ksn",
    "p": "psn",
}
_SOFT = re.compile(r"g(?=[eiy])")


@lru_cache(maxsize=20_000)
def sounds(word: str) -> frozenset[str]:
    """The classes of a word's consonants, as it may be spoken; none where they tell too little.

    A g may be soft, and a final s the sign of the plural.
    """
    if "\uac00" <= word[:1] <= "\ud7a3":
        spoken = {_korean(word)}
    elif word.isascii():
        forms = {word.lower(), word.lower().removesuffix("s")}
        spoken = {_english(form) for each in forms for form in (each, _SOFT.sub("j", each))}
    else:
        return frozenset()
    return frozenset(each for each in spoken if len(each) >= LEAST)


def may_sound(word: str, spoken: frozenset[str]) -> bool:
    """False where the beginning already tells that a word sounds otherwise: most need no closer look."""
    if not word[:1].isascii():
        return True
    first = _BEGINNINGS.get(word[:1].lower(), "")
    return any(len(word) >= len(each) and (not first or each[0] in first) for each in spoken)


def beginnings(word: str) -> tuple[str, ...]:
    """The letters that an English word may begin with which sounds like this Korean one."""
    first = _korean(word[:1])[:1]
    code = ord(word[0]) - _FIRST
    if not 0 <= code < _SYLLABLES:
        return ()
    if _ONSETS[code // (_VOWELS * _FINALS)] == "-" and first not in ("y", "w"):
        return tuple("aeiou")
    return tuple(letter for letter, classes in _BEGINNINGS.items() if first and first in classes)


def _english(word: str) -> str:
    for pattern, replacement in _RULES:
        word = pattern.sub(replacement, word)
    return word


def _korean(word: str) -> str:
    classes = ""
    for letter in word:
        code = ord(letter) - _FIRST
        if not 0 <= code < _SYLLABLES:
            return ""
        onset, rest = divmod(code, _VOWELS * _FINALS)
        vowel, coda = divmod(rest, _FINALS)
        glide = "y" if vowel in _GLIDES else "w" if vowel in _ROUNDED else ""
        first = _ONSETS[onset] if _ONSETS[onset] != "-" else "" if classes else glide
        classes += f"{first}.{_CODAS[coda]}"
    return re.sub(r"([kntlmps])\1+", r"\1", classes).replace(".", "")
