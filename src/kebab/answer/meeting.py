"""How much of a question a passage meets, word by word: by the word itself, or by one that means the same.

A word of the question is met in full by its own terms. Where the words differ (another word, another
language) the embedding model says how near the nearest word of the passage comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from kebab.answer.alike import groups_of
from kebab.answer.loanwords import may_sound, sounds
from kebab.answer.question import Keyword, content_of
from kebab.answer.stems import stem
from kebab.ports import Embedder, EmbeddingKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"[^\W_]+(?:['’.+#-][^\W_]+)*")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_UNRELATED, _SAME = 0.25, 0.75
"""Cosines of two words: below the first nothing in common, from the second on the same meaning."""
_TRUST = 0.9
"""What a word of the same meaning counts beside the word itself."""
_REMEMBERED = 20_000


@dataclass
class WordSpace:
    """The vectors of words, each made once. ``embedder`` may be None: then no two words mean the same."""

    embedder: Embedder | None
    _rows: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def nearness(self, asked: Sequence[str], words: Sequence[str]) -> NDArray[np.float32]:
        """For each word asked (rows) and each word given (columns) how nearly they mean the same, 0 to 1."""
        import numpy as np

        if self.embedder is None or not asked or not words:
            return np.zeros((len(asked), len(words)), dtype=np.float32)
        cosines = self._vectors(asked) @ self._vectors(words).T
        near: NDArray[np.float32] = np.clip((cosines - _UNRELATED) / (_SAME - _UNRELATED), 0.0, 1.0) * _TRUST
        return near

    def _vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        assert self.embedder is not None
        if len(self._rows) > _REMEMBERED:
            self._rows.clear()
        new = [word for word in dict.fromkeys(words) if word not in self._rows]
        if new:
            self._rows.update(zip(new, self.embedder.embed(new, EmbeddingKind.DOCUMENT), strict=True))
        return np.stack([self._rows[word] for word in words])


@lru_cache(maxsize=_REMEMBERED)
def _content(word: str) -> str:
    return content_of(word).lower()


def words_of(text: str, *, parts: bool = True) -> frozenset[str]:
    """The words of a text that carry meaning, in lower case, Korean ones without particles.

    오를 may be 오 with a particle or a form of 오르다: both count. With ``parts`` the name of a setting also
    counts as what it is made of.
    """
    raw = _WORD.findall(text)
    verbs = (word for word in raw if len(word) == 2 and word[1] in "를을")
    names = raw if parts else ()
    within = (part for word in names if not word.islower() or "." in word for part in _parts(word))
    return frozenset((*(word for each in raw if (word := _content(each))), *verbs, *within))


@lru_cache(maxsize=_REMEMBERED)
def _parts(name: str) -> tuple[str, ...]:
    """What the name of a setting is made of: preview.port and previewPort are about a port."""
    parts = _PART.findall(name)
    if len(parts) < 2 or not all(len(part) > 1 for part in parts):
        return ()
    return tuple(part.lower() for part in parts if _content(part))


@dataclass(frozen=True, slots=True)
class Meter:
    """Measures texts against one question."""

    weights: Mapping[Keyword, float]
    """Each word of the question with its rarity."""
    columns: Mapping[str, int]
    """Where each known word of the texts stands in ``near``."""
    near: NDArray[np.float32]

    def met(self, terms: frozenset[str], words: frozenset[str]) -> NDArray[np.float64]:
        """How far each word of the question is met, 0 to 1, in the order of ``weights``."""
        import numpy as np

        exact = np.array([keyword.met_by(terms) for keyword in self.weights])
        places = [self.columns[word] for word in words if word in self.columns]
        if not places or not self.near.size:
            return exact
        met: NDArray[np.float64] = np.maximum(exact, self.near[:, places].max(axis=1))
        return met

    def precision(self, words: frozenset[str]) -> float:
        """The share of these words that the question asks for; 0 for none."""
        if not words:
            return 0.0
        asked = {spelling for keyword in self.weights for spelling in keyword.spellings}
        places = {word: self.columns.get(word) for word in words}
        near = [
            1.0
            if word in asked or _begins(word, asked)
            else float(self.near[:, at].max())
            if at is not None and self.near.size
            else 0.0
            for word, at in places.items()
        ]
        return sum(near) / len(near)

    def others(self, words: frozenset[str]) -> float:
        """How many of these words the question does not hold, also not by meaning."""
        return len(words) * (1.0 - self.precision(words))

    def share(self, met: NDArray[np.float64]) -> float:
        """The share of the question's weight that is met; 0 for a question without words."""
        import numpy as np

        weights = np.array(list(self.weights.values()))
        total = float(weights.sum())
        return float(weights @ met) / total if total > 0 else 0.0


def _begins(word: str, asked: Iterable[str]) -> bool:
    """True for 기본값 where 기본 is asked for: what Korean puts behind a noun makes no other thing of it."""
    return any(
        len(other) > 1 and "\uac00" <= other[0] <= "\ud7a3" and word.startswith(other) for other in asked
    )


def _nearest(weights: Mapping[Keyword, float], known: Sequence[str], space: WordSpace) -> NDArray[np.float32]:
    """One row a keyword: its nearest spelling counts, and another form of its verb like a synonym."""
    import numpy as np

    rows = [space.nearness(keyword.spellings, known).max(axis=0, initial=0.0) for keyword in weights]
    near = np.stack(rows) if rows else np.zeros((0, len(known)), dtype=np.float32)
    stems = np.array([stem(word) for word in known])
    for row, keyword in zip(near, weights, strict=True):
        for own in filter(None, map(stem, keyword.spellings)):
            row[stems == own] = _TRUST
        for place in (*_sounding(keyword, known), *_alike(keyword, known)):
            row[place] = _TRUST
    return near


def _alike(keyword: Keyword, known: Sequence[str]) -> list[int]:
    """Where words stand that are listed as meaning nearly the same."""
    groups = frozenset[int]().union(*(groups_of(spelling) for spelling in keyword.spellings))
    if not groups:
        return []
    return [place for place, word in enumerate(known) if not groups.isdisjoint(groups_of(word))]


def _sounding(keyword: Keyword, known: Sequence[str]) -> list[int]:
    """Where words of the other script stand that sound like the keyword; none when it stands there itself."""
    spoken = {spelling: sounds(spelling) for spelling in keyword.spellings}
    if not any(spoken.values()) or any(spelling in known for spelling in spoken):
        return []
    return [
        place
        for place, word in enumerate(known)
        for spelling, own in spoken.items()
        if spelling.isascii() != word.isascii() and may_sound(word, own) and own & sounds(word)
    ]


def meter(weights: Mapping[Keyword, float], texts: Sequence[frozenset[str]], space: WordSpace) -> Meter:
    """A meter for texts whose words are given."""
    known = sorted(frozenset[str]().union(*texts))
    near = _nearest(weights, known, space)
    return Meter(weights, {word: place for place, word in enumerate(known)}, near)
