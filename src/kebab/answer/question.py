"""What a question is about: its language and the words that carry it.

The index looks for everything a question holds. The gate and the extractor need less: the words that an
answer would have to contain, without "what", "how do I" or "어떻게 하나요".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from kebab.answer.phrases import joined
from kebab.answer.words import read_words
from kebab.domain.hits import Correction
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
    r"(?=[인이입까부나를을은는가로씩에의만쯤정마]|\s|\?|$)[가-힣]*"
)
_HANGUL_TAIL = re.compile(r"(?<![\uac00-\ud7a3])[\uac00-\ud7a3]++$")

_ENGLISH_GLUE = frozenset(read_words("glue.en.txt"))
_ASKED_GLUE = frozenset(read_words("glue.asked.en.txt"))
_KOREAN_GLUE = frozenset(read_words("glue.ko.txt"))
_ENDINGS = tuple(sorted(read_words("endings.ko.txt"), key=len, reverse=True))
_BY_LAST: dict[str, list[str]] = {}
for _ending in _ENDINGS:
    _BY_LAST.setdefault(_ending[-1], []).append(_ending)
_OBJECT = frozenset("을를은")
_NOUNS = tuple(read_words("nouns.ko.txt"))
# 쓰면, 써야, 되나: a verb of one syllable that says nothing by itself, with its ending; 1년에 only counts.
_EMPTY = re.compile(
    r"^(?:(?:말하|말할|뜻하|쓰|써|쓸|쓴|하|해|되|돼|된|보|봐|주|줘|있|없|싶|두|둬|들|나오|부르|불리|일어나|열리)"
    r"(?:면|야|나|는|고|지|까|려면|으면|어야|아야|나요|니|는지|은지|을까|냐|도|서|는가|은가|던|던가){1,3}"
    r"|(?:\d+|일|한|두|하루)?(?:년|달|주일|주|하루)에)$"
)
# 뭐야, 뭐였지, 어디에요: what asks says nothing by itself, in any form.
_ASKS = re.compile(
    r"^(?:뭐|뭘|뭔|무엇|무슨|어디|언제|누구|누가|얼마|어떻|어떤|어느|몇|왜(?=$|냐|죠|지|요|야|인))[가-힣]{0,6}$"
)
# 찾으려면, 구하려면, 바꾸면: what is to be done is told in many words, what it is done to in few.
_VERBAL = re.compile(
    r"(?<=[가-힣]{2})(?:려면|려고|으면|하면|되면|키면|리면|우면|꾸면|들면|나요|는지|을까|ㄹ까|어야|아야|해야|습니까"
    r"|었나|았나|했나|는가|는가요|되는|되나|하나|되나요|하나요|[가-힣]나|할까|될까|하는|된|리는|였나)$"
    r"|(?<=[가-힣])(?:려면|려고|했나|했지|했어|했나요|었나|았나|었지|았지|어야|아야|나요|습니까|는가)$"
)
# 보려는, 쓰면서: what goes on behind such an ending is another verb.
_LINKED = re.compile(
    r"(?<=[가-힣])(?:(?<!이)면|려|려는|면서|거나|는데|도록|자마자|아서|어서|여서|려서|워서|러서|아도|어도|려야|워야|다는|라는|던|(?<!에)게)$"
    r"|(?<=[가-힣]{2})고$"
)
# The last word of a question asks what is done: 닦나, 받니, 되냐, 좋을까, 먹지.
_PREDICATE = re.compile(r"(?<=[가-힣])(?:나|니|냐|까|지|죠|야|나요|까요|지요|가요|니까|는가|은가|던가)$")
# 바뀔 때, 쓸 수: what goes before is a verb.
_WHEN = re.compile(r"^(?:때|수(?:가|는|도)?$)")
_FUTURE = 8
"""The number of the final ㄹ among the finals of Hangul."""
_PAST = 20
"""The number of the final ㅆ among the finals of Hangul: 깨졌을, 뱉었나."""
_SYLLABLE, _FINALS = 0xAC00, 28
_TYPO = 6
"""Columns from which a word is taken for a typo."""
VERB = 0.5
"""What a Korean verb counts beside a noun of the same rarity."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word an answer should contain, with the terms under which the index knows it."""

    text: str
    terms: tuple[str, ...]
    gloss: Keyword | None = None
    """The same word in brackets behind it, often in the other language: 보관소(vault)."""
    share: float = 1.0
    """What it counts beside another word of the same rarity."""

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
    words = joined(_WORD.findall(_COUNTED.sub(" ", _NEGATED.sub(r" \1", text))))
    for word, after in zip_longest(words, words[1:], fillvalue=""):
        stem = content_of(word) if word.lower() not in _ASKED_GLUE else ""
        terms = tuple(analyzer.query_terms(stem)) if stem else ()
        if terms:
            share = VERB if _does(word, after) else 1.0
            found.setdefault(stem.lower(), Keyword(stem, terms, share=share))
    for before, inside in glosses.items():
        _join(found, content_of(before).lower(), content_of(inside).lower())
    return Question(text, "ko" if _HANGUL.search(text) else "en", tuple(found.values()))


def spelled(question: Question, corrections: Sequence[Correction], analyzer: Analyzer) -> Question:
    """The question with its typos corrected as the search did; itself where it has none.

    A short word that no document holds may as well be the name of something else: egui is no gui.
    """
    text = question.text
    for one in corrections:
        if len(one.word) + len(_HANGUL.findall(one.word)) >= _TYPO:
            text = text.replace(one.word, one.instead)
    return question if text == question.text else read_question(text, analyzer)


def _does(word: str, after: str) -> bool:
    """True for a Korean verb or adjective, as far as its ending tells: 닦나, 깨졌을 때, 바뀔 때, 늦어지면."""
    if word.endswith(_NOUNS) or not _HANGUL.search(word[-1]):
        return False
    past = any((ord(letter) - _SYLLABLE) % _FINALS == _PAST for letter in _HANGUL.findall(word))
    asks = not after and _PREDICATE.search(word)
    when = _WHEN.match(after) and (ord(word[-1]) - _SYLLABLE) % _FINALS == _FUTURE
    return bool(past or asks or when or _VERBAL.search(word) or _LINKED.search(word))


def _join(found: dict[str, Keyword], word: str, gloss: str) -> None:
    """Make the gloss a part of its word, where both are keywords."""
    if word in found and gloss in found and word != gloss:
        found[word] = replace(found[word], gloss=found.pop(gloss))


def content_of(word: str) -> str:
    """The word without what only the sentence needs of it; empty for a word that says nothing by itself."""
    word = word.replace("’", "'")
    word = re.sub(r"'s$", "", word)
    tail = _HANGUL_TAIL.search(word)
    if tail and (_EMPTY.match(word) or _ASKS.match(word)):
        return ""
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
        if ending is None or word in _KOREAN_GLUE or word.endswith(_NOUNS):
            return word
        word = word[: -len(ending)]
    return word


def _too_short(word: str) -> bool:
    return len(word) < 2 and not word.isdigit() and not word.isupper()
