"""What a question loses with the word of it that is met least.

Rarity alone cannot tell: "stay" is rare in a cookbook and says little, "wine" is the question itself. So each
word counts by what the question means without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kebab.answer.measured import words_above
from kebab.answer.meeting import WordSpace, meter, words_of
from kebab.answer.question import Keyword, Question
from kebab.answer.rank import Scored
from kebab.ports import Analyzer, EmbeddingKind


def kept(
    question: Question,
    weighed: Mapping[Keyword, float],
    best: Sequence[Scored],
    analyzer: Analyzer,
    space: WordSpace,
) -> float | None:
    """How much of the question is left where its least met word is taken away: the most that one of these
    passages leaves, with what stands around it. None without a model, or without words.
    """
    shares = _told(question, space)
    if not shares or not best:
        return None
    texts = [f"{o.passage.text} {words_above(o.chunk)} {o.passage.below} {o.passage.around}" for o in best]
    words = [words_of(text) for text in texts]
    measure = meter(weighed, words, space)
    met = [
        measure.met(frozenset(analyzer.terms(text)), each) for text, each in zip(texts, words, strict=True)
    ]
    missed = [max(s * (1.0 - float(m)) for s, m in zip(shares, one, strict=True)) for one in met]
    return 1.0 - min(missed)


def _told(question: Question, space: WordSpace) -> list[float]:
    """The share of the question's meaning that hangs on each keyword; together 1."""
    keywords = question.keywords
    if space.embedder is None or not keywords:
        return []
    tokens = question.text.rstrip("?？ ").split()
    without = [" ".join(t for t in tokens if key.text.lower() not in t.lower()) for key in keywords]
    whole, *rest = space.embedder.embed([" ".join(tokens), *without], EmbeddingKind.QUERY)
    lost = [key.share * max(1e-6, 1.0 - float(row @ whole)) for key, row in zip(keywords, rest, strict=True)]
    return [each / sum(lost) for each in lost]
