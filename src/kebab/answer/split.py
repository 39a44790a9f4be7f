"""Compound questions: where one sentence asks two things, each can be looked for by itself."""

from __future__ import annotations

import re

from kebab.answer.question import Question, read_question
from kebab.ports import Analyzer

MOST_PARTS = 4

_ASKING = (
    r"(?:how|what|why|when|where|which|who|whose|do|does|did|is|are|was|were|can|could|should|will|would)"
)
_SEPARATORS = re.compile(
    rf"""
    [?？;；]\s+                                    # two sentences
    | ,?\s+and\s+(?:also\s+)?(?={_ASKING}\b)      # … and how does …
    | ,\s+(?={_ASKING}\b)                         # …, what is …
    | ,?\s+(?:그리고|또한|아울러)\s+
    | (?<=[이하되있없가나렇르])고,?\s+             # 무엇이고 …, 어떻게 하고 …
    | (?<=[는은인])지(?:와|과|랑)\s+              # 무엇인지와 …
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LEANING = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those)\b|그것|그게|그걸", re.IGNORECASE)


def split(question: Question, analyzer: Analyzer) -> tuple[Question, ...]:
    """The questions inside a question, in order; empty when it asks one thing.

    Only cuts where every part has words of its own to look for and none leans on another: "between stack and
    heap" and "What is X and when did it appear?" stay whole.
    """
    pieces = [piece.strip(" ,") for piece in _SEPARATORS.split(question.text) if piece and piece.strip(" ,?")]
    parts = tuple(read_question(piece, analyzer) for piece in pieces[:MOST_PARTS])
    leaning = any(_LEANING.search(part.text) for part in parts[1:])
    if len(parts) < 2 or leaning or not all(part.keywords for part in parts):
        return ()
    return parts
