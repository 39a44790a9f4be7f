"""How text becomes terms: one analyzer for what is indexed and for what is asked, so that they meet.

A text is cut into raw tokens by one regular expression; each distinct token is expanded once and remembered,
so the second sight of it costs a dict lookup. Why these terms and not others is measured in
docs/decisions/0002-text-analysis.md.

- Words: folded (case, compatibility forms, Latin accents) and stemmed (Snowball English). `don't` is `dont`,
  `Einstein's` is `einstein`, `1,000` is `1000`.
- Identifiers: `find_similar`, `path/name`, `c-3po`, `v1.2.3` give their parts, and the whole without its
  signs (`c3po`; between digits they stay as `_`: `v1_2_3`). `HybridRetriever` gives the whole, and its humps.
- Names that end in signs: `C++` is `c`, and `cpp` as one word; `F#` is `f` and `fsharp`.
- Links: the words of the address, and no other form of them: what stands in a link is half chance.
- Korean, Japanese, Chinese: every character and every pair of neighbours of a run, so that no particle,
  ending or compound hides a word of one, two or more syllables.

The terms of a text stand in two streams. The main stream follows the text. The second comes after it and
holds the other forms of identifiers (`c3po`, `hybrid retriev`), which would otherwise stand between
neighbours: "on github pages" is a phrase of "on GitHub Pages", "two dimensional" one of "two-dimensional".
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, chain

from kebab.domain.ids import nfc
from kebab.search.terms import (
    ASKED,
    HELD,
    LINK,
    Piece,
    TermMemory,
    address,
    held_places,
    is_paired,
    is_run,
    pieces_of,
)

# A raw token: a link; or word characters, joined by single signs that identifiers, paths, numbers and
# contractions use, and by what ends the names of languages (C++, C#).
# Possessive, since nothing that was taken is ever given back: half the time.
_TOKEN_PATTERN = (
    r"https?://[!#-&*+\-./0-9:;=?@A-Z_a-z~]++"
    r"|[^\W_]\w*+(?:[-./'’]\w++|,\d{3}(?!\d))*+(?:\+\+(?<=[A-Za-z]\+\+)|#(?<=[A-Za-z]#)(?![0-9A-Za-z_]))?+"
)
_TOKEN = re.compile(_TOKEN_PATTERN)
_AROUND_TOKENS = re.compile(f"({_TOKEN_PATTERN})")
# Words that ask or join. They are indexed, for phrases; a query with other words does not look for them.
_GLUE = frozenset(
    re.findall(
        r"\w+",
        "a an the and or of to in on at by for from with as is are was were be been do does did how what when"
        " where which who why i my me we our you your it its this that these those there can could should"
        " would will if about into than then have has had not"
        " 무엇 뭐 뭔가요 무엇인가요 어떻게 왜 언제 어디 어디서 누가 어떤 무슨 것 수 때 및 또는 그리고"
        " 하는 있는 있나요 하나요 되나요 인가요 건가요 할 한 해 위한 위해 대한 대해",
    )
)
# Tokens remembered before the memory starts afresh: some 25 MB, the vocabulary of a large vault.
_MAX_TOKENS = 131_072


class Analyzer:
    """Cuts text and queries into terms. Safe to share between threads.

    Every string is accepted; canonically equivalent strings (NFC, NFD) give equal terms. A term is never
    empty and has only letters, digits and `_`, so every engine can store and query it as it is.

    A phrase holds where its `phrase_terms` stand next to each other in `index_text`. The terms of a Korean
    run are ordered by where they start, a character before its pair (규칙을: 규 규칙 칙 칙을 을), so the
    terms of any part of a run are a contiguous part of the terms of the run: "소유권 규칙" is found in
    "소유권 규칙을", whatever is attached to its last word or stands before its first.
    """

    version = "words-bigrams-v3"

    def __init__(self) -> None:
        # Taken once a text: the stemmer's buffers serve one call at a time.
        self._lock = threading.Lock()
        self._memory: TermMemory | None = None
        self._asked: _Asked | None = None
        self._weighed_lately: tuple[str, dict[str, float]] | None = None
        """Of the text that was asked last: a search asks six times."""

    def terms(self, text: str) -> list[str]:
        """The terms of a text as the index holds them: main stream in text order, then other forms."""
        return self.index_text(text).split()

    def index_text(self, text: str) -> str:
        """The terms joined by one space: what an index stores with a whitespace tokenizer."""
        tokens = _TOKEN.findall(nfc(text))
        if LINK in text:
            # A link rarely comes twice, but its words do: those are looked up among all the others.
            tokens = " ".join([address(token) if LINK in token else token for token in tokens]).split()
        with self._lock:
            memory = self._recall()
            # In this order: looking a token up in the memory also fills its forms.
            main = " ".join(map(memory.__getitem__, tokens))
            others = memory.forms
            forms = " ".join(map(others.__getitem__, filter(others.__contains__, tokens)))
        if "  " in main:  # a token of signs that fold to nothing has no term
            main = " ".join(main.split())
        return f"{main} {forms}".strip() if forms else main.strip()

    def phrase_terms(self, text: str) -> list[str]:
        """The terms that stand next to each other, in this order, wherever a text contains the phrase.

        Also what to exclude for `-word`: excluding every query term would take its neighbours with it.
        """
        tokens = _TOKEN.findall(nfc(text))
        with self._lock:
            return " ".join(map(self._recall().__getitem__, tokens)).split()

    def query_terms(self, text: str) -> list[str]:
        """The distinct terms to look for, in order.

        Of a Korean run the pairs; its first character where that is a word by itself (값, 값을); not the
        particle behind a word of another script (API를); not words that only ask or join (what, of, 어떻게),
        unless there are no others. Never empty where `phrase_terms` is not.
        """
        return list(self.query_weights(text))

    def query_weights(self, text: str) -> dict[str, float]:
        """The same terms, in the same order, each with what it counts: a word 1, a pair at most that.

        The pairs of one Korean word overlap and mostly stand together in a text, so they say less than as
        many words: each of n counts 1/√n. The last of several mostly reaches into a particle or an ending
        and counts half of that. A word that stands in the query several times, in whatever form, counts as
        often: what a long question repeats is what it is about. Pairs count so only where the same word does.
        """
        known = self._weighed_lately
        if known is None or known[0] != text:
            known = self._weighed_lately = (text, self._weights(text))
        return dict(known[1])

    def _weights(self, text: str) -> dict[str, float]:
        tokens = _TOKEN.findall(nfc(text))
        # In a few hundred notes "when" and "does" are rare, and rarity would make them weigh like names.
        telling = [token for token in tokens if token.lower() not in _GLUE]
        with self._lock:
            stem = self._recall().stem
            asked = [(pieces_of(token, stem), n) for token, n in Counter(telling or tokens).items()]
        return _weighed(asked)

    def matches(self, text: str, terms: Collection[str]) -> list[tuple[int, int]]:
        """Character ranges of the text, as given, that mean one of these terms: sorted, never touching.

        Only what matched is covered: the word without its particle, the hump of an identifier.
        """
        composed = nfc(text)
        # What is between tokens, a token, what is between, …: their lengths say where each one stands.
        parts = _AROUND_TOKENS.split(composed)
        with self._lock:
            found = self._asking(frozenset(terms)).among(parts[1::2])
        ranges = _merged(_placed(parts, found)) if found else []
        if not ranges or composed == text:
            return ranges
        origins = _origins(text)
        return _merged((origins[start][0], origins[end - 1][1]) for start, end in ranges)

    def held(self, text: str, terms: Collection[str]) -> set[str]:
        """Which of these terms are among the terms of the text."""
        tokens = _TOKEN.findall(nfc(text))
        with self._lock:
            found = self._asking(frozenset(terms)).among(tokens)
            memory = self._recall()
            own = [f"{memory[token]} {memory.forms.get(token, '')}".split() for token in found]
        return set(chain.from_iterable(own)).intersection(terms)

    def _asking(self, wanted: frozenset[str]) -> _Asked:
        # One page of hits asks for the same terms a dozen times, and its texts share most tokens.
        if self._asked is None or self._asked.terms != wanted:
            self._asked = _Asked(wanted, self._recall())
        return self._asked

    def _recall(self) -> TermMemory:
        if self._memory is None or len(self._memory) > _MAX_TOKENS:
            self._memory = TermMemory()
        return self._memory


class _Asked:
    """Which raw tokens mean one of the terms, and which part of them does."""

    def __init__(self, terms: frozenset[str], memory: TermMemory) -> None:
        self.terms = terms
        self._memory = memory
        self._seen: set[str] = set()
        self._found: dict[str, tuple[tuple[int, int], ...]] = {}

    def among(self, tokens: Iterable[str]) -> dict[str, tuple[tuple[int, int], ...]]:
        """Those of the tokens that mean a term, each with the ranges in it that do."""
        distinct = set(tokens)
        unseen = list(distinct - self._seen)
        self._seen.update(unseen)
        # Looked up once: a link is not remembered, and making its terms anew is most of the work.
        terms = list(map(self._memory.__getitem__, unseen))
        # Most texts bring no new token that matches, which one look at all their terms tells.
        if self._holds(" ".join(terms)):
            self._keep(token for token, own in zip(unseen, terms, strict=True) if self._holds(own))
        forms = self._memory.forms
        self._keep(token for token in forms.keys() & unseen if self._holds(forms[token]))
        return {token: self._found[token] for token in distinct & self._found.keys()}

    def _keep(self, tokens: Iterable[str]) -> None:
        for token in tokens:
            self._found[token] = self._ranges(token)

    def _ranges(self, token: str) -> tuple[tuple[int, int], ...]:
        if token.isascii() and token.isalnum() and token not in self._memory.forms:
            return ((0, len(token)),)  # one word, and no part of it is another
        if is_run(token):
            return tuple(held_places(token, self.terms))
        pieces = pieces_of(token, self._memory.stem)
        return tuple((piece.start, piece.end) for piece in pieces if piece.term in self.terms)

    def _holds(self, terms: str) -> bool:
        return terms in self.terms or (" " in terms and not self.terms.isdisjoint(terms.split()))


def _weighed(asked: Iterable[tuple[list[Piece], int]]) -> dict[str, float]:
    """What the terms of tokens count, each of which stands in the query so many times."""
    weights: dict[str, float] = {}
    words: dict[str, float] = {}
    for pieces, times in asked:
        telling = [piece for piece in pieces if piece.kind != HELD]
        for term in {piece.term for piece in telling if piece.kind == ASKED and not is_paired(piece.term)}:
            words[term] = words.get(term, 0.0) + times
        for piece in telling:
            term = piece.term
            weights[term] = max(times * piece.weight, words.get(term, 0.0), weights.get(term, 0.0))
    return weights


def _placed(parts: list[str], found: dict[str, tuple[tuple[int, int], ...]]) -> Iterator[tuple[int, int]]:
    """The ranges in the text that these parts make up, in which every second one is a token."""
    ends = list(accumulate(map(len, parts)))
    for place in [place for place, part in enumerate(parts) if part in found]:
        at = ends[place - 1]
        for start, end in found[parts[place]]:
            yield at + start, at + end


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _origins(text: str) -> list[tuple[int, int]]:
    """For every character of the NFC form of a text, the range of the text that it was composed from."""
    joining = _joining()
    origins: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or not (unicodedata.combining(text[end]) or text[end] in joining):
            origins.extend([(start, end)] * len(nfc(text[start:end])))
            start = end
    return origins


@lru_cache(maxsize=1)
def _joining() -> frozenset[str]:
    """Characters without a combining class that may still melt into the one before them."""
    jamo = map(chr, chain(range(0x1161, 0x1176), range(0x11A8, 0x11C3)))
    parts = (unicodedata.decomposition(chr(code)).split() for code in range(0x20000))
    seconds = (chr(int(pair[1], 16)) for pair in parts if len(pair) == 2 and not pair[0].startswith("<"))
    return frozenset(chain(jamo, seconds))
