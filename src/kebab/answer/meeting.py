"""How much of a question a passage meets, word by word: by the word itself, or by one that means the same.

A word of the question is met in full by its own terms. Where the words differ (another word, another
language) the embedding model says how near the nearest word of the passage comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from kebab.answer.alike import groups_of, translations_of
from kebab.answer.phrases import phrases
from kebab.answer.question import Keyword, content_of
from kebab.answer.stems import stem
from kebab.domain.loanwords import may_sound, sounds
from kebab.ports import Embedder, EmbeddingKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"[^\W_]+(?:['’.+#-][^\W_]+)*")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_UNRELATED, _SAME = 0.25, 0.75
"""Cosines of two words: below the first nothing in common, from the second on the same meaning."""
_FOREIGN, _TRANSLATED = 0.2, 0.5
"""The same for words of two scripts, which share no letters by chance: translations lie lower."""
_COMPOUND = 4
"""Syllables from which a Korean word may be two of another language: 의료보험료, medical insurance."""
_HALF = 3
"""Letters of each of the two words that one may be written as."""
_LISTED = 0.75
"""What a word counts that is only listed as meaning nearly the same: the lists are wide."""
_TRUST = 0.9
"""What a word of the same meaning counts beside the word itself."""
_REMEMBERED = 20_000
_TEXTS = 4096
"""Texts whose words are remembered: what stands around one passage is often another, and pages recur."""
_ALONE = 1 << 18
"""Multiplications of a matrix product that OpenBLAS does on one thread."""


Spelled = tuple[tuple[str, ...], ...]
"""The spellings of each word of a question."""


@dataclass
class WordSpace:
    """The vectors of words, each made once. ``embedder`` may be None: then no two words mean the same."""

    embedder: Embedder | None
    _rows: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    _latest: tuple[Spelled, dict[str, NDArray[np.float32]]] = ((), {})

    def met(self, asked: Spelled) -> dict[str, NDArray[np.float32]]:
        """How far words meet these keywords, as far as that was measured: ranking and gate ask the same."""
        if self._latest[0] != asked:
            self._latest = (asked, {})
        return self._latest[1]

    def nearness(self, asked: Sequence[str], words: Sequence[str]) -> NDArray[np.float32]:
        """For each word asked (rows) and each word given (columns) how nearly they mean the same, 0 to 1."""
        import numpy as np

        if self.embedder is None or not asked or not words:
            return np.zeros((len(asked), len(words)), dtype=np.float32)
        cosines = _products(self._vectors(asked), self._vectors(words))
        near = (cosines - _UNRELATED) / (_SAME - _UNRELATED)
        korean = np.fromiter(map(_korean, words), dtype=bool, count=len(words))
        for row, each in enumerate(asked):
            foreign = korean != _korean(each)
            near[row, foreign] = (cosines[row, foreign] - _FOREIGN) / (_TRANSLATED - _FOREIGN)
        clipped: NDArray[np.float32] = np.clip(near, 0.0, 1.0) * np.float32(_TRUST)
        return clipped

    def _vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        assert self.embedder is not None
        if len(self._rows) > _REMEMBERED:
            self._rows.clear()
        new = [word for word in dict.fromkeys(words) if word not in self._rows]
        if new:
            self._rows.update(zip(new, self.embedder.embed(new, EmbeddingKind.DOCUMENT), strict=True))
        return np.stack([self._rows[word] for word in words])


def _products(few: NDArray[np.float32], many: NDArray[np.float32]) -> NDArray[np.float32]:
    """Every row of ``few`` times every row of ``many``, in pieces too small for BLAS to start threads for:
    those wait for each other by spinning, which takes several times the work itself.
    """
    import numpy as np

    step = max(1, _ALONE // few.size)
    pieces = [few @ many[begin : begin + step].T for begin in range(0, len(many), step)]
    return np.concatenate(pieces, axis=1)


def _korean(word: str) -> bool:
    return "\uac00" <= word[:1] <= "\ud7a3"


@lru_cache(maxsize=_REMEMBERED)
def _content(word: str) -> str:
    return content_of(word).lower()


@lru_cache(maxsize=_TEXTS)
def words_of(text: str, *, parts: bool = True) -> frozenset[str]:
    """The words of a text that carry meaning, in lower case, Korean ones without particles.

    오를 may be 오 with a particle or a form of 오르다: both count. With ``parts`` the name of a setting also
    counts as what it is made of.
    """
    raw = _WORD.findall(text)
    verbs = (word for word in raw if len(word) == 2 and word[1] in "를을")
    names = raw if parts else ()
    within = (part for word in names if not word.islower() or "." in word for part in _parts(word))
    return frozenset((*(word for each in raw if (word := _content(each))), *verbs, *within, *phrases(raw)))


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
    shares: NDArray[np.float64]
    """What each word of the question counts; together 1, or all 0 for a question without words."""
    asked: Mapping[str, float]
    """How far each known word is one that the question asks for."""
    compound: NDArray[np.bool_]
    """Which words of the question two words of a text may meet together."""
    halves: Mapping[int, Sequence[tuple[str, str]]]
    """By the place of a word of the question, the two words that it may be written as: sun screen."""

    def met(self, terms: frozenset[str], words: frozenset[str]) -> NDArray[np.float64]:
        """How far each word of the question is met, 0 to 1, in the order of ``weights``."""
        import numpy as np

        exact = np.array([keyword.met_by(terms) for keyword in self.weights] if terms else self.shares * 0)
        places = [self.columns[word] for word in words if word in self.columns]
        if not places or not self.near.size:
            return exact
        near = self.near[:, places]
        best = near.max(axis=1)
        if len(places) > 1 and self.compound.any():
            two = np.minimum(np.partition(near, -2, axis=1)[:, -2:].sum(axis=1), _TRUST)
            best = np.where(self.compound, np.maximum(best, two), best)
        met: NDArray[np.float64] = np.maximum(exact, best)
        for place, pairs in self.halves.items():
            if any(one in words and other in words for one, other in pairs):
                met[place] = max(met[place], _TRUST)
        return met

    def precision(self, words: frozenset[str]) -> float:
        """The share of these words that the question asks for; 0 for none."""
        return sum(self.asked.get(word, 0.0) for word in words) / len(words) if words else 0.0

    def others(self, words: frozenset[str]) -> float:
        """How many of these words the question does not hold, also not by meaning."""
        return len(words) * (1.0 - self.precision(words))

    def share(self, met: NDArray[np.float64]) -> float:
        """The share of the question's weight that is met; 0 for a question without words."""
        return float(self.shares @ met)


def _asked(
    weights: Mapping[Keyword, float], known: Sequence[str], near: NDArray[np.float32]
) -> dict[str, float]:
    """How far each of these words is one that is asked for: itself, what it begins with, or by meaning."""
    spelled = {spelling for keyword in weights for spelling in keyword.spellings}
    korean = tuple(word for word in spelled if len(word) > 1 and "\uac00" <= word[0] <= "\ud7a3")
    best = near.max(axis=0).tolist() if near.size else [0.0] * len(known)
    found = dict(zip(known, best, strict=True))
    # 기본값 where 기본 is asked for: what Korean puts behind a noun makes no other thing of it.
    found.update((word, 1.0) for word in known if word in spelled or word.startswith(korean))
    return found


def _nearest(weights: Mapping[Keyword, float], known: Sequence[str], space: WordSpace) -> NDArray[np.float32]:
    """One row a keyword, one column a word; columns that were made for this question are used again."""
    import numpy as np

    seen = space.met(tuple(keyword.spellings for keyword in weights))
    new = [word for word in known if word not in seen]
    if new:
        seen.update(zip(new, _measured(weights, new, space).T, strict=True))
    columns = [seen[word] for word in known]
    return np.stack(columns, axis=1) if columns else np.zeros((len(weights), 0), dtype=np.float32)


def _measured(
    weights: Mapping[Keyword, float], known: Sequence[str], space: WordSpace
) -> NDArray[np.float32]:
    """The nearest spelling of a keyword counts, and another form of its verb like a synonym."""
    import numpy as np

    spelled = [spelling for keyword in weights for spelling in keyword.spellings]
    by_spelling = space.nearness(spelled, known)
    ends = np.cumsum([len(keyword.spellings) for keyword in weights], dtype=int).tolist()
    rows = [by_spelling[begin:end].max(axis=0) for begin, end in pairwise((0, *ends))]
    near = np.stack(rows) if rows else np.zeros((0, len(known)), dtype=np.float32)
    stems = np.array([stem(word) for word in known])
    listed = [(place, groups) for place, word in enumerate(known) if (groups := groups_of(word))]
    foreign = [(place, lines) for place, word in enumerate(known) if (lines := translations_of(word))]
    for row, keyword in zip(near, weights, strict=True):
        for own in filter(None, map(stem, keyword.spellings)):
            row[stems == own] = _TRUST
        for place in _sounding(keyword, known):
            row[place] = _TRUST
        for place in _alike(keyword, listed):
            row[place] = max(row[place], _LISTED)
        for place in _translated(keyword, known, foreign):
            row[place] = _TRUST
    names = [keyword.text.lower() for keyword in weights]
    wholes = {one + other: (at, at + 1) for at, (one, other) in enumerate(pairwise(names))}
    for place, word in enumerate(known):
        for at in wholes.get(word, ()):
            near[at, place] = _TRUST
    return near


def _alike(keyword: Keyword, listed: Sequence[tuple[int, frozenset[int]]]) -> list[int]:
    """Where words stand that are listed as meaning nearly the same."""
    groups = frozenset[int]().union(*(groups_of(spelling) for spelling in keyword.spellings))
    return [place for place, others in listed if not groups.isdisjoint(others)] if groups else []


def _translated(
    keyword: Keyword, known: Sequence[str], foreign: Sequence[tuple[int, frozenset[int]]]
) -> list[int]:
    """Where words of the other script stand that the dictionary gives for the keyword."""
    own = [(_korean(spelling), translations_of(spelling)) for spelling in keyword.spellings]
    return [
        place
        for place, lines in foreign
        for korean, given in own
        if korean != _korean(known[place]) and not given.isdisjoint(lines)
    ]


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
    import numpy as np

    known = sorted(frozenset[str]().union(*texts))
    near = _nearest(weights, known, space)
    counts = np.array(list(weights.values()), dtype=np.float64)
    shares = counts / counts.sum() if counts.sum() > 0 else counts * 0.0
    columns = {word: place for place, word in enumerate(known)}
    foreign = sum(map(_korean, known)) * 2 < len(known)
    compound = np.array([foreign and _compound(keyword.text) for keyword in weights], dtype=bool)
    asked, halves = _asked(weights, known, near), _halves(weights, columns)
    return Meter(weights, columns, near, shares, asked, compound, halves)


def _halves(weights: Mapping[Keyword, float], known: Mapping[str, int]) -> dict[int, list[tuple[str, str]]]:
    """The pairs of known words that make a word of the question: jelly fish for jellyfish."""
    found = {place: list(_parted(keyword.text.lower(), known)) for place, keyword in enumerate(weights)}
    return {place: pairs for place, pairs in found.items() if pairs}


def _parted(word: str, known: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """The two known words that a long English word is made of, also in its singular."""
    for whole in dict.fromkeys((word, word.removesuffix("s"))) if word.isascii() and word.isalpha() else ():
        for cut in range(_HALF, len(whole) - _HALF + 1):
            if whole[:cut] in known and whole[cut:] in known:
                yield whole[:cut], whole[cut:]


def _compound(word: str) -> bool:
    return _korean(word) and len(word) >= _COMPOUND
