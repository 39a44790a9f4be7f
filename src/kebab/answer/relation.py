"""Questions for what somebody is to somebody: a wife, a birthplace, a salary.

A page about a man holds nearly every word of "Who is his wife?", and answers it only where it speaks of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from kebab.answer.measured import FEATURES, words_above
from kebab.answer.meeting import WordSpace, meter, words_of
from kebab.answer.question import Keyword
from kebab.answer.rank import Scored
from kebab.answer.words import read_words

_NEAR = FEATURES.index("near")
_MET = 0.5
"""How far a passage must meet the question, and the word by itself or by one of its meaning."""


def told(weighed: Mapping[Keyword, float], best: Sequence[Scored], space: WordSpace) -> bool:
    """Whether one of these passages that are about the question, with what stands above it, speaks of each
    relation that is asked for.
    """
    asked = {keyword: 1.0 for keyword in weighed if not _listed().isdisjoint(keyword.spellings)}
    if not asked:
        return True
    best = [one for one in best if one.features[_NEAR] >= _MET]
    words = [words_of(f"{one.passage.text} {one.passage.below} {words_above(one.chunk)}") for one in best]
    measure = meter(asked, words, space)
    met = [measure.met(one.terms, each) for one, each in zip(best, words, strict=True)]
    return any(bool((one >= _MET).all()) for one in met)


@lru_cache(maxsize=1)
def _listed() -> frozenset[str]:
    return frozenset(read_words("relations.txt"))
