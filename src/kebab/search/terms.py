"""One raw token and its terms: words, identifiers, links and runs of Korean, Japanese or Chinese.

What the terms are is told in ``analyze``, which cuts texts into raw tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from typing import NamedTuple

# Scripts written without spaces between words, or, in Korean, with particles glued to them.
_PAIRED = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
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
LINK = "://"
# Longer than any word; a longer run (base64, a key) is known by its beginning.
_MAX_TERM = 64
# Longer joined tokens, and those of more words, are slugs and links, which nobody types as one word.
_MAX_WHOLE = 40
_MAX_WHOLE_WORDS = 3
# Kinds of pieces: asked for in queries, held in the index only, or another form for the second stream.
ASKED, HELD, FORM = range(3)


class Piece(NamedTuple):
    """A term and the part of its raw token that it stands for."""

    term: str
    start: int
    end: int
    kind: int
    weight: float = 1.0


class TermMemory(dict[str, str]):
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
        if token.isascii() and LINK in token:
            # Not kept: a link rarely comes twice.
            return " ".join([self[word] for word in address(token).split()])
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
        if is_run(token):
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
        pieces = pieces_of(token, self.stem)
        terms = " ".join([piece.term for piece in pieces if piece.kind != FORM])
        return terms, " ".join([piece.term for piece in pieces if piece.kind == FORM])


def address(link: str) -> str:
    """The words of a link with spaces between them, in lower case, so that they have no other forms."""
    return link[link.index(LINK) :].encode().translate(_ADDRESS).decode()


def _interleaved(run: str) -> str:
    return "".join([f"{char} {char}{after} " for char, after in pairwise(run)]) + run[-1]


def is_run(token: str) -> bool:
    """Whether a raw token is nothing but a run of Korean, Japanese or Chinese, as most of such texts are."""
    return _ALL_PAIRED.fullmatch(token) is not None and unicodedata.is_normalized("NFKC", token)


def held_places(run: str, terms: Collection[str]) -> Iterator[tuple[int, int]]:
    """Where those terms of a run that are among these stand in it: the places of its pieces, in less time."""
    for start, char in enumerate(run):
        if char in terms:
            yield start, start + 1
        if run[start : start + 2] in terms and start + 1 < len(run):
            yield start, start + 2


def pieces_of(token: str, stem: Callable[[str], str]) -> list[Piece]:
    """Everything a raw token means, in text order, the joined whole last."""
    plain = token if token.isascii() else unicodedata.normalize("NFKC", token)
    pieces: list[Piece] = []
    words: list[str] = []
    for run in _RUN.finditer(plain, plain.index(LINK) if LINK in plain else 0):
        if run["paired"]:
            pieces.extend(_paired_pieces(run[0], run.start(), particle=bool(words and words[-1])))
            words.append("")
        else:
            pieces.extend(_word_pieces(run[0], run.start(), stem))
            words.append(_SIGNS.sub("", run[0]))
    if (sign := _SPOKEN.get(plain[-1])) and LINK not in plain:
        start = len(plain.rstrip("+#")) - len(words[-1])
        pieces.append(Piece(_term(words[-1] + sign, stem), start, len(plain), FORM))
    if all(words) and _is_whole(plain, words):
        pieces.append(Piece(_whole(plain, words, stem), 0, len(plain), FORM))
    if LINK in plain:
        pieces = [piece for piece in pieces if piece.kind != FORM]
    if plain == token:
        return pieces
    # Compatibility forms (ﬁ, full width) change lengths: such a token is marked as one.
    return [piece._replace(start=0, end=len(token)) for piece in pieces]


def _paired_pieces(run: str, at: int, *, particle: bool) -> Iterator[Piece]:
    """The terms of _interleaved, with their places; `particle` says that a run may be one."""
    pair = HELD if particle and _PARTICLE.fullmatch(run) else ASKED
    first = pair if len(run) == 1 or _is_syllable_with_particle(run) else HELD
    weights = _pair_weights(run)
    for start in range(len(run)):
        yield Piece(run[start], at + start, at + start + 1, HELD if start else first)
        if start + 1 < len(run):
            yield Piece(run[start : start + 2], at + start, at + start + 2, pair, weights[start])


def is_paired(term: str) -> bool:
    """Whether a term is a piece of a run of Korean, Japanese or Chinese, and not a word."""
    return _ALL_PAIRED.fullmatch(term) is not None


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


def _word_pieces(word: str, at: int, stem: Callable[[str], str]) -> Iterator[Piece]:
    yield Piece(_term(word, stem), at, at + len(word), ASKED)
    for hump in _humps(word):
        yield Piece(_term(hump[0], stem), at + hump.start(), at + hump.end(), FORM)


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
