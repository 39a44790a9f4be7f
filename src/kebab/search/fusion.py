"""Fusion policies: how the legs' lists become one, with a note that says how and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple, Protocol

from kebab.domain.fusion import RRF_K, Fused, Rankings, Shares, convex, convex_shares, ordered, rrf
from kebab.domain.hits import FusionNote, Leg, ScoreKind
from kebab.domain.values import dataclass

NEARLY_ALL = 0.8
"""The share of the query from which on its best hits hold so much of it that little is left for meaning."""
LOOKED_AT = 15
"""How many of the best by words are looked at closer, by a policy that wants it."""


class Look(NamedTuple):
    """What a chunk holds of the query by rarity of its words, each between 0 and 1; see ``search.looks``."""

    name: float
    """In its title and headings."""
    coverage: float
    """Anywhere in it."""
    nearness: float
    """Of the query's neighbours, those that are neighbours in it too."""
    typed: float = 0.0
    """1 where the query is one word of two scripts, such as react와, and stands in it as it was typed."""


@dataclass(frozen=True, slots=True)
class QueryEvidence:
    """What a policy may look at besides the lists."""

    coverage: float = 0.0
    """Share of the query's idf mass that the best lexical hits hold; 0 when no word is known."""
    terms: int = 0
    languages_meet: float = 1.0
    """0 when the query is in one language and every one of the best lexical hits in another.

    One half when the query is a single Latin word and they are in another script: there it may be a name,
    which is a word of that language too, or an English word in passing.
    """
    foreign: frozenset[str] = frozenset()
    """Chunks found by meaning whose text is in another language than the query."""
    known: bool = True
    """Whether a word of the query stands in some text, or is one that the vocabulary knows."""
    written: bool = False
    """Whether one of the best lexical hits holds the query's one word, or what it quotes, as it was typed."""
    named: frozenset[str] = frozenset()
    """Chunks that open a note which is called what was asked."""
    looks: Mapping[str, Look] = field(default_factory=dict)
    """What a closer look at some of the chunks found by words says of them."""


class FusionPolicy(Protocol):
    """Turns rankings into one order. The order is total and depends on nothing but the input."""

    @property
    def kind(self) -> ScoreKind: ...

    @property
    def looks(self) -> int:
        """How many of the best by words it wants to be looked at closer."""
        ...

    def fuse(self, rankings: Rankings, evidence: QueryEvidence) -> tuple[list[Fused], FusionNote]: ...


@dataclass(frozen=True, slots=True)
class Rrf:
    """Reciprocal rank fusion, every leg alike."""

    k: int = RRF_K
    kind: ScoreKind = field(default=ScoreKind.RRF, init=False)
    looks: int = field(default=0, init=False)

    def fuse(self, rankings: Rankings, evidence: QueryEvidence) -> tuple[list[Fused], FusionNote]:
        weights = dict.fromkeys(rankings, 1.0)
        return rrf(rankings, k=self.k), FusionNote("rrf", weights, f"ranks count alike, k = {self.k}")


@dataclass(frozen=True, slots=True)
class WeightedRrf:
    """Reciprocal rank fusion with a weight for each leg."""

    weights: Mapping[str, float]
    k: int = RRF_K
    kind: ScoreKind = field(default=ScoreKind.WEIGHTED_RRF, init=False)
    looks: int = field(default=0, init=False)

    def fuse(self, rankings: Rankings, evidence: QueryEvidence) -> tuple[list[Fused], FusionNote]:
        note = FusionNote("weighted_rrf", dict(self.weights), f"ranks count by fixed weights, k = {self.k}")
        return rrf(rankings, k=self.k, weights=self.weights), note


@dataclass(frozen=True, slots=True)
class Convex:
    """Weighted sum of scores, each divided by the best of its list."""

    weights: Mapping[str, float]
    kind: ScoreKind = field(default=ScoreKind.CONVEX, init=False)
    looks: int = field(default=0, init=False)

    def fuse(self, rankings: Rankings, evidence: QueryEvidence) -> tuple[list[Fused], FusionNote]:
        note = FusionNote("convex", dict(self.weights), "scores relative to each leg's best, fixed weights")
        return convex(rankings, weights=self.weights), note


@dataclass(frozen=True, slots=True)
class Adaptive:
    """A convex combination whose weights follow the evidence for this query.

    The more of the query the best lexical hits hold, the more words count. Where query and texts are in
    different languages, words meet only by accident (names, code), and meaning decides almost alone. In a
    corpus of two languages a chunk in the other one cannot earn the words' part, so its standing among the
    nearest earns it a good deal of that part instead.
    """

    held: float = 0.3
    """Weight of meaning when the best hits hold enough of the query."""
    unheld: float = 0.9
    """Weight of meaning when they hold nothing of it, or when the languages do not meet."""
    enough: float = 0.4
    """The share of the query that is enough; below it the weight moves along a line."""
    bridge: float = 0.9
    """How much of the words' part the nearest chunk in another language earns; the others fall off fast."""
    kind: ScoreKind = field(default=ScoreKind.ADAPTIVE, init=False)
    looks: int = field(default=0, init=False)

    def fuse(self, rankings: Rankings, evidence: QueryEvidence) -> tuple[list[Fused], FusionNote]:
        shares, note = self.shared(rankings, evidence)
        if put_first(shares, rankings, evidence.named):
            reason = f"a note is called what was asked and comes first; otherwise {note.reason}"
            note = FusionNote(note.policy, note.weights, reason)
        return ordered(shares, rankings), note

    def shared(
        self, rankings: Rankings, evidence: QueryEvidence, *, whole: float = 1.0
    ) -> tuple[Shares, FusionNote]:
        """What each leg adds to each chunk, but for the notes of the name that was asked; and why.

        Where the best hits hold all of several words, meaning counts no more than ``whole``.
        """
        vector, reason = self._vector_weight(evidence, whole)
        weights = {Leg.LEXICAL.value: round(1 - vector, 4), Leg.VECTOR.value: round(vector, 4)}
        unnamed = _without(rankings, evidence.named)
        shares = convex_shares(unnamed, weights=weights)
        self._bridge(shares, unnamed, evidence.foreign, weights[Leg.LEXICAL.value])
        return shares, FusionNote("adaptive", weights, reason)

    def trust(self, evidence: QueryEvidence) -> float:
        """How far words can be gone by: 1 where the best hits hold enough, 0 where the languages differ."""
        return min(1.0, evidence.coverage / self.enough, evidence.languages_meet)

    def _bridge(
        self, shares: Shares, rankings: Rankings, foreign: frozenset[str], lexical_weight: float
    ) -> None:
        """Raise foreign chunks by what they lack of the words' part, in proportion to their standing."""
        nearest = rankings.get(Leg.VECTOR.value, ())
        if not foreign or not nearest or not rankings.get(Leg.LEXICAL.value):
            return
        top, last = nearest[0].score, nearest[-1].score
        words, meaning = shares[Leg.LEXICAL.value], shares[Leg.VECTOR.value]
        for item in nearest:
            if item.id in foreign and top > last:
                standing = (item.score - last) / (top - last)
                earned = lexical_weight * self.bridge * standing**2
                lacking = earned - words.get(item.id, 0.0)
                meaning[item.id] = meaning.get(item.id, 0.0) + max(0.0, lacking)

    def _vector_weight(self, evidence: QueryEvidence, whole: float) -> tuple[float, str]:
        lacking = max(0.0, 1 - evidence.coverage / self.enough)
        apart = 1 - evidence.languages_meet
        weight = self.held + (self.unheld - self.held) * max(lacking, apart)
        if evidence.terms > 1 and not apart:
            # One word alone says too little for that: half of a text may hold it.
            sure = max(0.0, (evidence.coverage - NEARLY_ALL) / (1 - NEARLY_ALL))
            weight += (min(whole, weight) - weight) * sure
        if apart == 1:
            return weight, "query and texts are in different languages: meaning decides"
        if apart > lacking:
            return weight, "one Latin word and texts in another script: meaning decides more"
        return weight, f"the best hits hold {evidence.coverage:.0%} of the query's words by rarity"


def _without(rankings: Rankings, named: frozenset[str]) -> Rankings:
    """The rankings as they are for the others: the words' list without the notes of that name.

    Their score says that they come first, not how much better than the next one they are.
    """
    if not named or Leg.LEXICAL.value not in rankings:
        return rankings
    others = [item for item in rankings[Leg.LEXICAL.value] if item.id not in named]
    return {**rankings, Leg.LEXICAL.value: others}


def put_first(shares: Shares, rankings: Rankings, named: frozenset[str]) -> bool:
    """Give the notes of that name all that there is to have; whether there are any."""
    present = [item.id for item in rankings.get(Leg.LEXICAL.value, ()) if item.id in named]
    if not present:
        return False
    for leg in shares.values():
        leg.update({key: share * _BELOW_NAMED for key, share in leg.items()})
    words = shares.setdefault(Leg.LEXICAL.value, {})
    for key in present:
        words[key] = 1.0 - sum(part.get(key, 0.0) for part in shares.values() if part is not words)
    return True


_BELOW_NAMED = 0.99
"""What is left of a score beside a note of that name: first in both legs is still below it."""
