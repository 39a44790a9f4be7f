"""Compound questions: where one sentence asks two things, each can be looked for by itself."""

from __future__ import annotations

import re

from kebab.answer.question import Question, read_question
from kebab.ports import Analyzer

MOST_PARTS = 4
_LONGEST = 1000
"""Characters above which a question is not split: cutting takes the square of its length."""

_ASKING = r"(?:how|what|why|when|where|which|who|whose)"
# One space is enough: those of a question are single (``read_question``).
_SEPARATORS = re.compile(
    rf"""
    [?？;；]\s                                    # two sentences
    | ,?\sand\s(?:also\s)?(?={_ASKING}\b)         # … and how does …
    | ,\s(?={_ASKING}\b)                          # …, what is …
    | ,?\s(?:그리고|또한|아울러)\s
    | (?<=[가-힣])(?<![라다냐자두])고,?\s(?!있|싶|나서|나면|말)   # 무엇이고 …; no 라고, no 하고 있는
    | (?<=[는은인])지(?:와|과|랑)\s               # 무엇인지와 …
    """,
    re.IGNORECASE | re.VERBOSE,
)
_VERB = r"(?:do|does|did|is|are|was|were|can|could|should|will|would|has|have|had|must|may)"
# "When the server starts, …" asks nothing; "When does the server start" does.
_ASKS = re.compile(
    rf"^(?:(?:and|also|but|so)\s+)?(?:(?:when|where|why)\s+{_VERB}|how|{_VERB}"
    r"|what|which|who|whose|explain|describe|tell|list|show|name|give)\b"
    r"|무엇|무슨|뭐|뭔|어떻게|어떤|어느|왜(?=\s|$)|언제|어디|누구|누가|몇|얼마",
    re.IGNORECASE,
)
_LEANING = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those)\b|그것|그게|그걸", re.IGNORECASE)


def split(question: Question, analyzer: Analyzer) -> tuple[Question, ...]:
    """The questions inside a question, in order; empty when it asks one thing.

    A part must ask by itself ("In X, how do I Y?" is one question, and so is 쓰고 있는 것은?), have words of
    its own to look for, and lean on no other: "between stack and heap" and "What is X and when did it
    appear?" stay whole.
    """
    if len(question.text) > _LONGEST:
        return ()
    parts = tuple(read_question(piece, analyzer) for piece in _asking_pieces(question.text)[:MOST_PARTS])
    leaning = any(_LEANING.search(part.text) for part in parts[1:])
    if len(parts) < 2 or leaning or not all(part.keywords for part in parts):
        return ()
    return parts


def _asking_pieces(text: str) -> list[str]:
    """The text cut where both sides ask; a piece that asks nothing belongs to the one after it."""
    pieces: list[str] = []
    begin = 0
    for found in _SEPARATORS.finditer(text):
        piece, rest = text[begin : found.start()].strip(" ,"), text[found.end() :]
        if _ASKS.search(piece) and _ASKS.search(rest):
            pieces.append(piece)
            begin = found.end()
    return [*pieces, text[begin:].strip(" ,")]
