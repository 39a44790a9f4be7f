"""Which language a text is in, by its script and by the small words of English."""

from __future__ import annotations

import re

SAMPLE_CHARS = 2048
UNDETERMINED = "und"

_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
# Addresses and code are Latin in every language; in a short note they would outvote its words.
_NOT_PROSE = re.compile(r"https?://\S+|\]\([^)\n]*\)|```.*?```", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
# Bytes to bytes: letters to small ones, everything else to a space.
_ASCII_LETTERS = bytes(
    ord(chr(code).lower()) if chr(code).isalpha() else ord(" ") for code in range(128)
).ljust(256)
_ENGLISH = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do for from has have how i if in is it its of on or that the this to"
        " use was we what when which will with you your",
    )
)
# A syllable block says as much as two or three Latin letters, and Korean notes are full of Latin names.
_HANGUL_SHARE = 0.12
_CJK_SHARE = 0.2
_ENGLISH_SHARE = 0.08


def detect(text: str) -> str:
    """``ko``, ``ja``, ``zh``, ``en`` or ``und``, judged by the first few thousand characters."""
    sample = _NOT_PROSE.sub(" ", text[: 2 * SAMPLE_CHARS])[:SAMPLE_CHARS]
    words = _words(sample)
    letters = sum(map(len, words))
    if not letters:
        return UNDETERMINED
    if not sample.isascii():
        if len(_HANGUL.findall(sample)) >= _HANGUL_SHARE * letters:
            return "ko"
        kana, han = len(_KANA.findall(sample)), len(_HAN.findall(sample))
        if kana + han >= _CJK_SHARE * letters:
            return "ja" if kana > han / 20 else "zh"
    small = sum(map(_ENGLISH.__contains__, words))
    return "en" if small >= _ENGLISH_SHARE * len(words) else UNDETERMINED


def _words(text: str) -> list[str]:
    """The words in lower case."""
    if (
        text.isascii()
    ):  # as most of English, and found without the regular expression in a fraction of its time
        return text.encode().translate(_ASCII_LETTERS).decode().split()
    return _WORD.findall(text.lower())


def asked_in(query: str) -> str:
    """The language of a query: one syllable of Hangul makes it Korean, Latin words make it English.

    A single Latin word may be a name or a command in any language, so it is undetermined.
    """
    if _HANGUL.search(query):
        return "ko"
    found = detect(query)
    if found != UNDETERMINED:
        return found
    words = _WORD.findall(query)
    return "en" if len(words) > 1 and all(word.isascii() for word in words) else UNDETERMINED
