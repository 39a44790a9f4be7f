"""How text becomes terms: one analyzer for what is indexed and for what is asked, so that they meet.

A text is cut into raw tokens by one regular expression, and each distinct token is expanded once into
pieces (a term and the characters it stands for) and remembered: the second sight of a token costs a dict
lookup. Why these terms and not others is measured in docs/decisions/0002-text-analysis.md.

- Words of scripts with spaces: folded (case, compatibility forms, Latin accents) and stemmed (Snowball
  English). `don't` is `dont`, `Einstein's` is `einstein`, `1,000` is `1000`.
- Identifiers: `find_similar_executions`, `c-3po`, `path/name`, `v1.2.3` give their parts, and the whole
  without its separators (`c3po`; a separator between digits stays as `_`: `v1_2_3`).
  `HybridRetriever` gives the whole, and its humps.
- Korean, Japanese, Chinese: every character and every pair of neighbours inside a run, so that a
  particle, an ending or a compound cannot hide a word of one, two or more syllables.

Terms stand in two streams. The main stream follows the text. The second stream comes after it and holds
the other forms of identifiers (`c3po`, `hybrid retriev`), so that these do not stand between neighbours:
"on GitHub pages" is a phrase of "on github pages", and "two dimensional flow" of "two-dimensional flow".
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from itertools import chain
from operator import add
from typing import NamedTuple

# Scripts written without spaces between words, or, in Korean, with particles glued to them.
_PAIRED = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# A raw token: word characters, joined by single signs that identifiers, numbers and contractions use.
_TOKEN = re.compile(r"[^\W_]\w*(?:[-.'’]\w+|,\d{3}(?!\d))*")
_RUN = re.compile(
    rf"(?P<paired>[{_PAIRED}]+)"
    rf"|\d{{1,3}}(?:,\d{{3}})+(?!\d)"
    rf"|[^\W_{_PAIRED}]+(?:['’](?i:s|t|re|ve|ll|d|m)(?!\w))?"
)
_ALL_PAIRED = re.compile(rf"[{_PAIRED}]+")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_HUMPED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_ACCENTED = re.compile("([a-z])[\u0300-\u036f]+")
# A sign inside an identifier is dropped (`c-3po` is `c3po`), but not between digits: 1.23 is not 12.3.
_DIGITS_APART = re.compile(r"\d[\W_]+\d")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9]+")
_BOUND = re.compile(r"[\W_]+")

# Longer than any word; a longer run (base64, a hash table dump) is known by its beginning.
_MAX_TERM = 64
# Longer joined tokens are links and slugs, which nobody types whole.
_MAX_WHOLE = 40
# Entries of the token memory before it starts afresh: some 30 MB, the vocabulary of a large vault.
_MAX_TOKENS = 131_072
_SINGLE, _PAIR, _WORD, _FORM = range(4)


class _Piece(NamedTuple):  # not a dataclass: a million are made per second
    """A term and the part of its raw token that it stands for."""

    term: str
    start: int
    end: int
    kind: int


class _Memory(dict[str, str]):
    """Raw token → its terms of the main stream; fills itself. `forms` has those of the second stream."""

    def __init__(self, stem: Callable[[str], str]) -> None:
        super().__init__()
        self.forms: dict[str, str] = {}
        self._stem = stem

    def __missing__(self, token: str) -> str:
        if token.isascii():
            terms, forms = self._plain(token) if "'" not in token and "," not in token else self._any(token)
        elif _ALL_PAIRED.fullmatch(token) and unicodedata.is_normalized("NFKC", token):
            terms, forms = _interleaved(token), ""
        else:
            terms, forms = self._any(token)
        if forms:  # before the terms: whoever finds those must find these
            self.forms[token] = forms
        self[token] = terms
        return terms

    def _any(self, token: str) -> tuple[str, str]:
        pieces = _pieces(token, self._stem)
        terms = " ".join([piece.term for piece in pieces if piece.kind != _FORM])
        return terms, " ".join([piece.term for piece in pieces if piece.kind == _FORM])

    def _plain(self, token: str) -> tuple[str, str]:
        """The same as _any, from the parts' own entries: links and paths repeat parts, not wholes."""
        if token.isalnum():
            humps = _humps(token) if _HUMPED.search(token) else ()
            forms = [_term(hump[0], self._stem) for hump in humps]
            return _term(token, self._stem), " ".join(forms)
        words = _PLAIN_WORD.findall(token)
        terms = [self[word] for word in words]
        forms = [self.forms[word] for word in words if word in self.forms]
        if len(words) > 1 and len(token) <= _MAX_WHOLE:
            forms.append(_whole(token, words, self._stem))
        return " ".join(terms), " ".join(forms)


class Analyzer:
    """Cuts text and queries into terms. Safe to share between threads.

    Every string is accepted; canonically equivalent strings (NFC, NFD) give equal terms. A term is never
    empty and has only letters, digits and `_`, so every engine can store and query it as it is.

    A phrase holds where its `phrase_terms` stand next to each other in `index_text`. The terms of a run of
    Korean are ordered by where they start, a character before its pair (규칙을: 규 규칙 칙 칙을 을), so the
    terms of any part of a run are a contiguous part of the terms of the run: "소유권 규칙" is found in
    "소유권 규칙을", whatever is attached to its last word or stands before its first one.
    """

    version = "words-pairs-v1"

    def __init__(self) -> None:
        self._stem = _Stemmer()
        self._memory = _Memory(self._stem)

    def terms(self, text: str) -> list[str]:
        """The terms of a text as the index holds them: main stream in text order, then other forms."""
        return self.index_text(text).split()

    def index_text(self, text: str) -> str:
        """The terms joined by one space: what an index stores with a whitespace tokenizer."""
        tokens = _TOKEN.findall(_nfc(text))
        memory = self._recall()
        main = map(memory.__getitem__, tokens)
        # Two passes in this order: looking a token up in the first also fills the second.
        joined = " ".join(filter(None, main))
        forms = " ".join(filter(None, map(memory.forms.get, tokens)))
        return f"{joined} {forms}" if joined and forms else joined or forms

    def phrase_terms(self, text: str) -> list[str]:
        """The terms that stand next to each other wherever an indexed text contains this phrase."""
        memory = self._recall()
        return " ".join(map(memory.__getitem__, _TOKEN.findall(_nfc(text)))).split()

    def query_terms(self, text: str) -> list[str]:
        """The distinct terms to look for, in order. Single characters only where a run has no pair."""
        found: dict[str, None] = {}
        for token in _TOKEN.findall(_nfc(text)):
            for piece in _asked(_pieces(token, self._stem)):
                found[piece.term] = None
        return list(found)

    def matches(self, text: str, terms: Collection[str]) -> list[tuple[int, int]]:
        """Character ranges of the text, as given, whose terms are among these: sorted, never touching.

        Only what matched is covered: the word without its particle, the hump of an identifier.
        """
        wanted = frozenset(terms)
        composed = _nfc(text)
        ranges = _merged(self._matches(composed, wanted))
        if composed == text:
            return ranges
        origin = _origins(text)
        return _merged((origin[start], origin[end]) for start, end in ranges)

    def _matches(self, text: str, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
        for match in _TOKEN.finditer(text):
            for piece in _pieces(match[0], self._stem):
                if piece.term in wanted:
                    yield match.start() + piece.start, match.start() + piece.end

    def _recall(self) -> _Memory:
        # A full memory is replaced, not cleared: another thread may be between its two passes.
        if len(self._memory) > _MAX_TOKENS:
            self._memory = _Memory(self._stem)
        return self._memory


class _Stemmer:
    """Snowball English behind a lock: its C state must not be shared by two calls at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stem: Callable[[str], str] | None = None

    def __call__(self, word: str) -> str:
        with self._lock:
            if self._stem is None:
                import Stemmer

                self._stem = Stemmer.Stemmer("english", 0).stemWord
            return self._stem(word)


def _nfc(text: str) -> str:
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def _interleaved(run: str) -> str:
    pairs = chain.from_iterable(zip(run, map(add, run, run[1:]), strict=False))
    return " ".join(chain(pairs, run[-1:]))


def _pieces(token: str, stem: Callable[[str], str]) -> list[_Piece]:
    """Everything a raw token means, in text order, the joined whole last."""
    plain = token if token.isascii() else unicodedata.normalize("NFKC", token)
    pieces: list[_Piece] = []
    words: list[str] = []
    for run in _RUN.finditer(plain):
        if run["paired"]:
            pieces.extend(_paired_pieces(run[0], run.start()))
            words.append("")
        else:
            pieces.extend(_word_pieces(run[0], run.start(), stem))
            words.append(_BOUND.sub("", run[0]))
    if len(words) > 1 and all(words) and len(plain) <= _MAX_WHOLE:
        pieces.append(_Piece(_whole(plain, words, stem), 0, len(plain), _FORM))
    if plain == token:
        return pieces
    # Compatibility forms (ﬁ, full width) change lengths: such a token is marked as one.
    return [_Piece(piece.term, 0, len(token), piece.kind) for piece in pieces]


def _paired_pieces(run: str, at: int) -> Iterator[_Piece]:
    for start in range(len(run)):
        yield _Piece(run[start], at + start, at + start + 1, _SINGLE)
        if start + 1 < len(run):
            yield _Piece(run[start : start + 2], at + start, at + start + 2, _PAIR)


def _word_pieces(word: str, at: int, stem: Callable[[str], str]) -> Iterator[_Piece]:
    term = _term(word, stem)
    if term:
        yield _Piece(term, at, at + len(word), _WORD)
    if _HUMPED.search(word):
        for hump in _humps(word):
            yield _Piece(_term(hump[0], stem), at + hump.start(), at + hump.end(), _FORM)


def _humps(word: str) -> list[re.Match[str]]:
    return [hump for hump in _HUMP.finditer(word[:_MAX_TERM]) if len(hump[0]) > 1]


def _whole(token: str, words: list[str], stem: Callable[[str], str]) -> str:
    if _DIGITS_APART.search(token):
        words = [
            word + "_" if word[-1:].isdigit() and next_word[:1].isdigit() else word
            for word, next_word in zip(words, [*words[1:], ""], strict=True)
        ]
        return _fold("".join(words))
    return _term("".join(words), stem)


def _term(word: str, stem: Callable[[str], str]) -> str:
    word = word[:_MAX_TERM]
    if word.isascii() and word.isalnum():
        return stem(word.lower()) if word.isalpha() else word.lower()
    # Stemmed before the apostrophe goes: Snowball knows the possessive.
    return _BOUND.sub("", stem(_fold(word)))


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFD", word.casefold().replace("’", "'"))
    return unicodedata.normalize("NFC", _ACCENTED.sub(r"\1", decomposed))


def _asked(pieces: list[_Piece]) -> Iterator[_Piece]:
    paired_until = -1
    for place, piece in enumerate(pieces):
        if piece.kind == _PAIR:
            paired_until = piece.end
        if piece.kind == _SINGLE:
            opens_pair = place + 1 < len(pieces) and pieces[place + 1].kind == _PAIR
            if opens_pair or piece.end <= paired_until:
                continue
        yield piece


def _merged(ranges: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


def _origins(text: str) -> list[int]:
    """For every offset into the NFC form of the text, the offset into the text itself."""
    joins = _joining()
    origins: list[int] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or not (unicodedata.combining(text[end]) or text[end] in joins):
            composed = unicodedata.normalize("NFC", text[start:end])
            origins.extend([start] * len(composed))
            start = end
    return [*origins, len(text)]


@lru_cache(maxsize=1)
def _joining() -> frozenset[str]:
    """Characters without a combining class that still may melt into the one before them."""
    jamo = map(chr, chain(range(0x1161, 0x1176), range(0x11A8, 0x11C3)))
    pairs = (unicodedata.decomposition(chr(code)).split() for code in range(0x20000))
    return frozenset(chain(jamo, (chr(int(pair[1], 16)) for pair in pairs if _is_pair(pair))))


def _is_pair(decomposition: list[str]) -> bool:
    return len(decomposition) == 2 and not decomposition[0].startswith("<")
