"""How much of a question a text meets, in its own words and in those of another language."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kebab.answer.meeting import WordSpace, meter, words_of
from kebab.answer.question import read_question
from kebab.ports import EmbeddingKind
from tests.unit.answer.world import ANALYZER

# What a bilingual model says of words: translations lie lower than words of one language.
_KNOWN = {
    "퇴직금": (1.0, 0.0, 0.0, 0.0),
    "severance": (0.5, 0.0, 0.0, 0.866),
    "payout": (0.5, 0.866, 0.0, 0.0),
    "의료보험료": (0.4, 0.4, 0.825, 0.0),
    "medical": (1.0, 0.0, 0.0, 0.0),
    "insurance": (0.0, 1.0, 0.0, 0.0),
}


class TwoLanguages:
    """An embedder that knows six words."""

    model_id, version, dimensions = "two-languages", "1", 4

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> NDArray[np.float32]:
        return np.array([_KNOWN.get(text, (0.0, 0.0, 0.0, 1.0)) for text in texts], dtype=np.float32)


def met(question: str, text: str) -> float:
    asked = read_question(question, ANALYZER)
    words = words_of(text)
    measure = meter(dict.fromkeys(asked.keywords, 1.0), [words], WordSpace(TwoLanguages()))
    return measure.share(measure.met(frozenset(ANALYZER.terms(text)), words))


def test_a_translation_counts_at_a_cosine_at_which_a_word_of_the_same_language_does_not() -> None:
    assert met("퇴직금은?", "severance") > 0.85
    assert met("payout?", "severance of the 퇴직금") < 0.95
    assert met("payout?", "medical severance") < met("퇴직금은?", "severance")


def test_two_words_may_translate_one() -> None:
    alone, together = met("의료보험료는?", "insurance"), met("의료보험료는?", "medical insurance")
    assert alone < together
    assert together > 0.85
