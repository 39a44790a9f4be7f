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
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

# Scripts written without spaces between words, or, in Korean, with particles glued to them.
_PAIRED = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
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
_RUN = re.compile(
    rf"(?P<paired>[{_PAIRED}]+)"
    r"|\d{1,3}(?:,\d{3})+(?!\d)"
    rf"|[^\W_{_PAIRED}]+(?:['’](?i:s|t|re|ve|ll|d|m)(?!\w))?"
)
_ALL_PAIRED = re.compile(rf"[{_PAIRED}]+")
_SIGNS_TO_SPACES = str.maketrans(dict.fromkeys("!#$%&*+-./:;=?@_~", " "))
# For the bytes of a link, which are translated three times as fast as its characters.
_ADDRESS = bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)).ljust(
    256
)
# How the signs that end a name are written where signs cannot stand.
_SPOKEN = {"+": "pp", "#": "sharp"}
_HUMPED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_ACCENTED = re.compile("([a-z])[\u0300-\u036f]+")
_SIGNS = re.compile(r"[\W_]+")
_DIGITS_APART = re.compile(r"\d[\W_]+\d")

# Glued to a word of another script (Rust의, API에서) these are indexed, but say nothing in a query.
_PARTICLE = re.compile(
    "[은는이가을를의에도만로와과나]|에서|에게|에[는도]|으로|까지|부터|처럼|보다|이나|이란|라[는고]"
    "|에서[는도]|으로는|이라[는고]?"
)
# One-syllable stems of verbs: with 은, 는, 을 or 이 behind them they are verbs still, not words of their own.
_VERBS = "가갖같과나내높되두많맡받보쓰않얻없오있좋주지크하"
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
_LINK = "://"
# Longer than any word; a longer run (base64, a key) is known by its beginning.
_MAX_TERM = 64
# Longer joined tokens, and those of more words, are slugs and links, which nobody types as one word.
_MAX_WHOLE = 40
_MAX_WHOLE_WORDS = 3
# Tokens remembered before the memory starts afresh: some 25 MB, the vocabulary of a large vault.
_MAX_TOKENS = 131_072

# Kinds of pieces: asked for in queries, held in the index only, or another form for the second stream.
_ASKED, _HELD, _FORM = range(3)


class _Piece(NamedTuple):
    """A term and the part of its raw token that it stands for."""

    term: str
    start: int
    end: int
    kind: int
    weight: float = 1.0


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
        self._memory: _Memory | None = None
        self._asked: _Asked | None = None

    def terms(self, text: str) -> list[str]:
        """The terms of a text as the index holds them: main stream in text order, then other forms."""
        return self.index_text(text).split()

    def index_text(self, text: str) -> str:
        """The terms joined by one space: what an index stores with a whitespace tokenizer."""
        tokens = _TOKEN.findall(_nfc(text))
        if _LINK in text:
            # A link rarely comes twice, but its words do: those are looked up among all the others.
            tokens = " ".join([_address(token) if _LINK in token else token for token in tokens]).split()
        with self._lock:
            memory = self._recall()
            # In this order: looking a token up in the memory also fills its forms.
            main = " ".join(map(memory.__getitem__, tokens))
            forms = " ".join(filter(None, map(memory.forms.get, tokens)))
        if "  " in main:  # a token of signs that fold to nothing has no term
            main = " ".join(main.split())
        return f"{main} {forms}".strip() if forms else main.strip()

    def phrase_terms(self, text: str) -> list[str]:
        """The terms that stand next to each other, in this order, wherever a text contains the phrase.

        Also what to exclude for `-word`: excluding every query term would take its neighbours with it.
        """
        tokens = _TOKEN.findall(_nfc(text))
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
        and counts half of that.
        """
        tokens = _TOKEN.findall(_nfc(text))
        # In a few hundred notes "when" and "does" are rare, and rarity would make them weigh like names.
        telling = [token for token in tokens if token.lower() not in _GLUE]
        with self._lock:
            stem = self._recall().stem
            pieces = chain.from_iterable(_pieces(token, stem) for token in telling or tokens)
            asked = [piece for piece in pieces if piece.kind != _HELD]
        weights: dict[str, float] = {}
        for piece in asked:
            weights[piece.term] = max(piece.weight, weights.get(piece.term, 0.0))
        return weights

    def matches(self, text: str, terms: Collection[str]) -> list[tuple[int, int]]:
        """Character ranges of the text, as given, that mean one of these terms: sorted, never touching.

        Only what matched is covered: the word without its particle, the hump of an identifier.
        """
        composed = _nfc(text)
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
        tokens = _TOKEN.findall(_nfc(text))
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

    def _recall(self) -> _Memory:
        if self._memory is None or len(self._memory) > _MAX_TOKENS:
            self._memory = _Memory()
        return self._memory


class _Asked:
    """Which raw tokens mean one of the terms, and which part of them does."""

    def __init__(self, terms: frozenset[str], memory: _Memory) -> None:
        self.terms = terms
        self._memory = memory
        self._seen: set[str] = set()
        self._found: dict[str, tuple[tuple[int, int], ...]] = {}

    def among(self, tokens: Iterable[str]) -> dict[str, tuple[tuple[int, int], ...]]:
        """Those of the tokens that mean a term, each with the ranges in it that do."""
        distinct = set(tokens)
        unseen = distinct - self._seen
        self._seen |= unseen
        # Most texts bring no new token that matches, which one look at all their terms tells.
        memory, forms = self._memory, self._memory.forms
        if self._holds(" ".join(map(memory.__getitem__, unseen))):
            self._keep(token for token in unseen if self._holds(memory[token]))
        self._keep(token for token in unseen & forms.keys() if self._holds(forms[token]))
        return {token: self._found[token] for token in distinct & self._found.keys()}

    def _keep(self, tokens: Iterable[str]) -> None:
        for token in tokens:
            pieces = _pieces(token, self._memory.stem)
            ranges = ((piece.start, piece.end) for piece in pieces if piece.term in self.terms)
            self._found[token] = tuple(ranges)

    def _holds(self, terms: str) -> bool:
        return not self.terms.isdisjoint(terms.split())


def _placed(parts: list[str], found: dict[str, tuple[tuple[int, int], ...]]) -> Iterator[tuple[int, int]]:
    """The ranges in the text that these parts make up, in which every second one is a token."""
    ends = list(accumulate(map(len, parts)))
    for place in [place for place, part in enumerate(parts) if part in found]:
        at = ends[place - 1]
        for start, end in found[parts[place]]:
            yield at + start, at + end


class _Memory(dict[str, str]):
    """Raw token → its terms of the main stream; fills itself. `forms` has those of the second stream."""

    def __init__(self) -> None:
        import Stemmer

        super().__init__()
        self.forms: dict[str, str] = {}
        self.stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord

    def __missing__(self, token: str) -> str:
        # A vault full of links has new words in every line: this is where half of an analysis goes.
        if token.isascii() and token.isalnum():
            terms = self[token] = self.stem(token[:_MAX_TERM].lower())
            if not token[1:].islower() and (humps := _humps(token)):
                self.forms[token] = " ".join([_term(hump[0], self.stem) for hump in humps])
            return terms
        if token.isascii() and _LINK in token:
            # Not kept: a link rarely comes twice.
            return " ".join([self[word] for word in _address(token).split()])
        terms, forms = self._others(token)
        if forms:
            self.forms[token] = forms
        self[token] = terms
        return terms

    def _others(self, token: str) -> tuple[str, str]:
        """Terms and forms of what is no single word in ASCII."""
        if token.isascii():
            plain = token[-1].isalnum() and "'" not in token and "," not in token
            return self._joined(token) if plain else self._any(token)
        if _ALL_PAIRED.fullmatch(token) and unicodedata.is_normalized("NFKC", token):
            return _interleaved(token), ""
        return self._any(token)

    def _joined(self, token: str) -> tuple[str, str]:
        """Words in ASCII joined by signs; they come from their own entries, since they repeat."""
        words = token.translate(_SIGNS_TO_SPACES).split()
        terms = " ".join([self[word] for word in words])
        forms = [self.forms[word] for word in words if word in self.forms]
        if _is_whole(token, words):
            forms.append(_whole(token, words, self.stem))
        return terms, " ".join(forms)

    def _any(self, token: str) -> tuple[str, str]:
        pieces = _pieces(token, self.stem)
        terms = " ".join([piece.term for piece in pieces if piece.kind != _FORM])
        return terms, " ".join([piece.term for piece in pieces if piece.kind == _FORM])


def _address(link: str) -> str:
    """The words of a link with spaces between them, in lower case, so that they have no other forms."""
    return link[link.index(_LINK) :].encode().translate(_ADDRESS).decode()


def _nfc(text: str) -> str:
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def _interleaved(run: str) -> str:
    return "".join([f"{char} {char}{after} " for char, after in pairwise(run)]) + run[-1]


def _pieces(token: str, stem: Callable[[str], str]) -> list[_Piece]:
    """Everything a raw token means, in text order, the joined whole last."""
    plain = token if token.isascii() else unicodedata.normalize("NFKC", token)
    pieces: list[_Piece] = []
    words: list[str] = []
    for run in _RUN.finditer(plain, plain.index(_LINK) if _LINK in plain else 0):
        if run["paired"]:
            pieces.extend(_paired_pieces(run[0], run.start(), particle=bool(words and words[-1])))
            words.append("")
        else:
            pieces.extend(_word_pieces(run[0], run.start(), stem))
            words.append(_SIGNS.sub("", run[0]))
    if (sign := _SPOKEN.get(plain[-1])) and _LINK not in plain:
        start = len(plain.rstrip("+#")) - len(words[-1])
        pieces.append(_Piece(_term(words[-1] + sign, stem), start, len(plain), _FORM))
    if all(words) and _is_whole(plain, words):
        pieces.append(_Piece(_whole(plain, words, stem), 0, len(plain), _FORM))
    if _LINK in plain:
        pieces = [piece for piece in pieces if piece.kind != _FORM]
    if plain == token:
        return pieces
    # Compatibility forms (ﬁ, full width) change lengths: such a token is marked as one.
    return [piece._replace(start=0, end=len(token)) for piece in pieces]


def _paired_pieces(run: str, at: int, *, particle: bool) -> Iterator[_Piece]:
    """The terms of _interleaved, with their places; `particle` says that a run may be one."""
    pair = _HELD if particle and _PARTICLE.fullmatch(run) else _ASKED
    first = pair if len(run) == 1 or _is_syllable_with_particle(run) else _HELD
    weights = _pair_weights(run)
    for start in range(len(run)):
        yield _Piece(run[start], at + start, at + start + 1, _HELD if start else first)
        if start + 1 < len(run):
            yield _Piece(run[start : start + 2], at + start, at + start + 2, pair, weights[start])


def _pair_weights(run: str) -> list[float]:
    """What each pair of a run counts in a query; only a Korean run is a word, of others each counts 1."""
    pairs = len(run) - 1
    if pairs < 2 or not "가" <= run[-1] <= "힣":
        return [1.0] * pairs
    each = pairs**-0.5
    return [each] * (pairs - 1) + [each / 2]


def _is_syllable_with_particle(run: str) -> bool:
    """Whether a run is likely a word of one syllable and its particle: 값을, 키를, 힙에; not 나이 or 하는.

    은, 을 and 이 follow a closed syllable, 는, 를 and 와 an open one. Particles that end many words of two
    syllables (의, 도, 로, 가, 과) are left alone: 회의 would ask for every 회.
    """
    if len(run) != 2 or run[0] in _VERBS or not "가" <= run[0] <= "힣":
        return False
    closed = (ord(run[0]) - ord("가")) % 28 != 0
    return run[1] in ("은을이에" if closed else "는를와에")


def _word_pieces(word: str, at: int, stem: Callable[[str], str]) -> Iterator[_Piece]:
    yield _Piece(_term(word, stem), at, at + len(word), _ASKED)
    for hump in _humps(word):
        yield _Piece(_term(hump[0], stem), at + hump.start(), at + hump.end(), _FORM)


def _humps(word: str) -> list[re.Match[str]]:
    if not _HUMPED.search(word):
        return []
    return [hump for hump in _HUMP.finditer(word[:_MAX_TERM]) if len(hump[0]) > 1]


def _is_whole(token: str, words: list[str]) -> bool:
    """Whether a joined token may be known as one word."""
    return 1 < len(words) <= _MAX_WHOLE_WORDS and len(token) <= _MAX_WHOLE


def _whole(token: str, words: list[str], stem: Callable[[str], str]) -> str:
    """A joined token as one term: 1.23 and 12.3 stay apart, e-mail and email do not."""
    if not _DIGITS_APART.search(token):
        return _term("".join(words), stem)
    numbers = [
        word[-1].isdigit() and after[:1].isdigit()
        for word, after in zip(words, [*words[1:], ""], strict=True)
    ]
    return "".join(_folded(word) + "_" * glued for word, glued in zip(words, numbers, strict=True))


def _term(word: str, stem: Callable[[str], str]) -> str:
    word = word[:_MAX_TERM]
    if word.isascii() and word.isalnum():
        return stem(word.lower())
    # Stemmed before the apostrophe goes: Snowball knows the possessive.
    return _SIGNS.sub("", stem(_folded(word).replace("’", "'")))


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    bare = _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", word.casefold()))
    return unicodedata.normalize("NFC", bare)


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
            origins.extend([(start, end)] * len(unicodedata.normalize("NFC", text[start:end])))
            start = end
    return origins


@lru_cache(maxsize=1)
def _joining() -> frozenset[str]:
    """Characters without a combining class that may still melt into the one before them."""
    jamo = map(chr, chain(range(0x1161, 0x1176), range(0x11A8, 0x11C3)))
    parts = (unicodedata.decomposition(chr(code)).split() for code in range(0x20000))
    seconds = (chr(int(pair[1], 16)) for pair in parts if len(pair) == 2 and not pair[0].startswith("<"))
    return frozenset(chain(jamo, seconds))
