"""What a question is about: its language and the words that carry it.

The index looks for everything a question holds. The gate and the extractor need less: the words that an
answer would have to contain, without "what", "how do I" or "어떻게 하나요".
"""

from __future__ import annotations

import re
from dataclasses import replace

from kebab.answer.words import read_words
from kebab.domain.ids import nfc
from kebab.domain.values import dataclass
from kebab.ports import Analyzer

_WORD = re.compile(r"[^\W_](?:[\w'’./+#-]*[\w+#])?")
_GLOSS = re.compile(r"(?<![^\W_])([^\W_]++)\(([^\W_]++)\)")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_NEGATED = re.compile(r"(?<=[\uac00-\ud7a3]{2})지(?:는|도|를)? ?(않|못|말)")
# 몇 초인가, 몇인가: the answer holds a number and perhaps another unit.
_COUNTED = re.compile(
    r"몇 ?(?:초|분|시간|시|일|주|달|개월|년|자|개|명|번|가지|회|원|도|살|층|곳|대|장|권|줄|배|퍼센트|%)?"
    r"(?=[인이입까부나를을은는가로씩]|\s|\?|$)[가-힣]*"
)
_HANGUL_TAIL = re.compile(r"(?<![\uac00-\ud7a3])[\uac00-\ud7a3]++$")

_ENGLISH_GLUE = frozenset(read_words("glue.en.txt"))
_KOREAN_GLUE = frozenset(read_words("glue.ko.txt"))
_ENDINGS = tuple(sorted(read_words("endings.ko.txt"), key=len, reverse=True))
_BY_LAST: dict[str, list[str]] = {}
for _ending in _ENDINGS:
    _BY_LAST.setdefault(_ending[-1], []).append(_ending)
_OBJECT = frozenset("을를은")


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word an answer should contain, with the terms under which the index knows it."""

    text: str
    terms: tuple[str, ...]
    gloss: Keyword | None = None
    """The same word in brackets behind it, often in the other language: 보관소(vault)."""

    def met_by(self, terms: frozenset[str]) -> float:
        """How much of the word stands among these terms, 0 to 1.

        A Korean word of several pairs may meet a part of a compound; less than half of it is chance.
        """
        share = sum(term in terms for term in self.terms) / len(self.terms)
        also = self.gloss.met_by(terms) if self.gloss else 0.0
        return max(share if share >= 0.5 else 0.0, also)

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.text.lower(), *(self.gloss.spellings if self.gloss else ()))


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    lang: str
    """``ko`` when it holds Hangul, else ``en``."""
    keywords: tuple[Keyword, ...]
    """In order, each once; maybe none."""


def read_question(text: str, analyzer: Analyzer) -> Question:
    text = " ".join(nfc(text).split())
    found: dict[str, Keyword] = {}
    glosses: dict[str, str] = dict(_GLOSS.findall(text))
    # 겹치지 않게: the ending belongs to the negation, while 페이지 and 패키지 keep theirs.
    for word in _WORD.findall(_COUNTED.sub(" ", _NEGATED.sub(r" \1", text))):
        stem = content_of(word)
        terms = tuple(analyzer.query_terms(stem)) if stem else ()
        if terms:
            found.setdefault(stem.lower(), Keyword(stem, terms))
    for before, inside in glosses.items():
        _join(found, content_of(before).lower(), content_of(inside).lower())
    return Question(text, "ko" if _HANGUL.search(text) else "en", tuple(found.values()))


def _join(found: dict[str, Keyword], word: str, gloss: str) -> None:
    """Make the gloss a part of its word, where both are keywords."""
    if word in found and gloss in found and word != gloss:
        found[word] = replace(found[word], gloss=found.pop(gloss))


def content_of(word: str) -> str:
    """The word without what only the sentence needs of it; empty for a word that says nothing by itself."""
    word = word.replace("’", "'")
    word = re.sub(r"'s$", "", word)
    tail = _HANGUL_TAIL.search(word)
    if not tail:
        return "" if word.lower() in _ENGLISH_GLUE or _too_short(word) else word
    stem = strip_endings(tail[0], keep_one=tail.start() == 0)
    whole = word[: tail.start()] + stem
    if whole in _KOREAN_GLUE or (tail[0] == word and word in _KOREAN_GLUE):
        return ""
    return "" if whole.lower() in _ENGLISH_GLUE else whole


def strip_endings(word: str, *, keep_one: bool = True) -> str:
    """A Korean word without particles and endings, up to two of them; at least two syllables remain.

    Except before the particles that follow nothing but a noun: 값을 → 값.

    A guess by suffix, not morphology: 라이프타임이란 → 라이프타임, 반복하려면 → 반복. With ``keep_one`` false
    nothing need remain (Rc를 → Rc).
    """
    least = 2 if keep_one else 0
    for _ in range(2):
        if keep_one and len(word) == 2 and word[1] in _OBJECT and word not in _KOREAN_GLUE:
            return word[0]
        endings = _BY_LAST.get(word[-1:], ())
        ending = next((e for e in endings if word.endswith(e) and len(word) - len(e) >= least), None)
        if ending is None or word in _KOREAN_GLUE:
            return word
        word = word[: -len(ending)]
    return word


def _too_short(word: str) -> bool:
    return len(word) < 2 and not word.isdigit() and not word.isupper()
