"""Forgiving typos: a word that the corpus does not know is replaced by the nearest one that it does.

What a vocabulary knows is a word, also where the corpus lacks it: who looks for a shop does not mean a show.
Words are compared letter by letter, Korean ones by their jamo, against the words of the corpus itself. Where
one wrong letter is all that keeps the query from being the name of a note, that name was meant, also where
other words share the stem of what was typed. Korean words that are typed in one and written apart are put
apart: the pair of syllables where they meet stands in few texts, which would come before all others. A Korean
word that is near to none is searched for as the note whose name it borrows: 리덕스 as Redux.

What was replaced is always told, and can be forbidden; what stands in quotes is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise

from kebab.domain.documents import DocumentSummary
from kebab.domain.hits import Correction
from kebab.domain.ids import DocId
from kebab.domain.names import folded, letters, name_key, written
from kebab.domain.queries import SearchQuery
from kebab.ports import Analyzer, LexicalIndex, LexicalQuery, Vocabulary
from kebab.search.borrowed import COMPARED, borrowed

# A word of letters alone: not a part of an identifier, a path or a version.
_WORD = re.compile(r"(?<![\w./@-])(?:[가-힣]{2,20}|[^\W\d_가-힣]{4,40})(?![\w/@]|\.\w)")
_INNER_CAPITAL = re.compile(r"(?<=.)[A-Z]")
# A part of a name may be short, and joined to others by signs: gRP, RSIC-V.
_PART = re.compile(r"[가-힣]{2,20}|[^\W_가-힣]{3,40}")
# At the end of a word these are particles and endings more often than typos.
_ENDINGS = "은는을를이가에의도와과로만들인한할함된될됨해하다요서면고기지게며나니네까던라자죠"
_MOST_WORDS = 12
"""Longer queries have other words to go by."""
_TRIED = 5
"""How many of the nearest words are looked for among the documents that a search may see."""
_NAMES_TRIED = 40
"""How many of the nearest words are tried in a name."""
_LONGEST_NAME = 60
_MOST_PARTS = 6
"""Longer queries are no names."""
_MOST_KOREAN_PARTS = 2
"""Most Korean words of a question are forms that nobody wrote so: looking for their like takes too long."""
_SHORTEST_COMPOUND = 4
_MOST_COMPOUNDS = 4
"""Of a long question, how many words are looked at for a space that they lack."""
_APART = 3
"""How many times as often as in one the corpus writes two words that are typed as one."""
_COUNTED = 50
_LONG = 8
"""From so many letters on, two of them may be wrong."""


@dataclass(frozen=True, slots=True)
class Speller:
    """Knows the words of a corpus."""

    index: LexicalIndex
    analyzer: Analyzer
    vocabulary: Vocabulary | None = None
    documents: Callable[[], Sequence[DocumentSummary]] = tuple
    """Those whose names may be borrowed."""

    def corrected(
        self, query: SearchQuery, *, docs: frozenset[DocId] | None
    ) -> tuple[SearchQuery, tuple[Correction, ...]]:
        """The query with unknown words replaced and Korean ones put apart, and which; else as it was."""
        if query.exact or self._is_name(query.text, docs):
            return query, ()
        if (called := self._called(query, docs)) is not None:
            return called
        quoted = {
            word
            for phrase in (*query.phrases, *chain.from_iterable(query.either))
            for word in _WORD.findall(phrase)
        }
        kept = quoted.union(query.prefixes)
        shouted = query.text.isupper() and len(query.text.split()) > 1
        found = [
            match
            for match in _WORD.finditer(query.text)
            # Who writes capitals inside a word writes a name or a sign of a trade: mRNA, TCOLL.
            if match[0] not in kept and (shouted or not _INNER_CAPITAL.search(match[0]))
        ]
        words = [match[0] for match in found[:_MOST_WORDS]]
        instead = self._apart(words, docs)
        unknown = self._unknown(word for word in words if word not in instead)
        instead |= {word: near for word in unknown if (near := self._nearest(word, docs)) is not None}
        instead |= self._named_abroad([word for word in unknown if word not in instead], docs)
        if not instead:
            return query, ()
        text = _WORD.sub(lambda match: instead.get(match[0], match[0]), query.text)
        return replace(query, text=text, corrected=True), tuple(Correction(*pair) for pair in instead.items())

    def _is_name(self, text: str, docs: frozenset[DocId] | None) -> bool:
        return bool(self.index.named(name_key(text), docs=docs))

    def _called(
        self, query: SearchQuery, docs: frozenset[DocId] | None
    ) -> tuple[SearchQuery, tuple[Correction, ...]] | None:
        """The query as the name of a note that one of its words keeps it from being; None where none is.

        Only a word that nobody wrote so is taken for a typo: a known one may be meant.
        """
        text, others = query.text, (query.phrases, query.excluded, query.either, query.prefixes)
        if any(others) or len(text) > _LONGEST_NAME:
            return None
        parts = list(_PART.finditer(text))
        most = _MOST_KOREAN_PARTS if any(_is_korean(part[0]) for part in parts) else _MOST_PARTS
        for part in parts if len(parts) <= most else ():
            word = letters(folded(part[0]))
            # Asked in this order: the vocabulary answers in no time.
            if self._is_word(part[0]) or word in self.index.words_from(word):
                continue
            for near in self._others_near(part[0]):
                name = text[: part.start()] + near + text[part.end() :]
                if self._is_name(name, docs):
                    return replace(query, text=name), (Correction(part[0], near),)
        return None

    def _others_near(self, word: str) -> Iterator[str]:
        """The nearest words that are no other form of this one, nearest first."""
        own = self.analyzer.query_terms(word)
        found = dict.fromkeys(candidate.word for candidate in sorted(self._near(folded(word))))
        yield from islice((near for near in found if self.analyzer.query_terms(near) != own), _NAMES_TRIED)

    def _apart(self, words: Iterable[str], docs: frozenset[DocId] | None) -> dict[str, str]:
        """Those of the words that the corpus writes as two, each with a space where it has one."""
        compounds = [word for word in words if _is_korean(word) and len(word) >= _SHORTEST_COMPOUND]
        parted = ((word, self._parted(word, docs)) for word in compounds[:_MOST_COMPOUNDS])
        return {word: apart for word, apart in parted if apart != word}

    def _parted(self, word: str, docs: frozenset[DocId] | None) -> str:
        """The word with a space where its rarest pair is, if texts write it so rather than in one."""
        pairs = list(map("".join, pairwise(word)))
        counts = self.index.document_frequencies(list(dict.fromkeys(pairs)))
        seam = min(range(1, len(pairs) - 1), key=lambda at: counts[pairs[at]])
        others = (counts[pair] for at, pair in enumerate(pairs) if at != seam)
        if counts[pairs[seam]] >= min(others) or self._is_word(word):
            return word
        apart = f"{word[: seam + 1]} {word[seam + 1 :]}"
        found = self._holding(apart, docs)
        return apart if found and found >= _APART * self._holding(word, docs) else word

    def _named_abroad(self, words: Sequence[str], docs: frozenset[DocId] | None) -> dict[str, str]:
        """Those of the words that are Korean for the name of a note, each with that name."""
        korean = [word for word in words if _is_korean(word)]
        documents = self.documents() if korean else ()
        likely = ((word, borrowed(word, documents[:COMPARED])) for word in korean)
        return {word: name for word, names in likely for name in names[:1] if self._is_name(name, docs)}

    def _unknown(self, words: Iterable[str]) -> list[str]:
        """Those of the words that stand nowhere in the corpus, each once."""
        terms = {word: self._telling(word) for word in words}
        every = list(dict.fromkeys(term for own in terms.values() for term in own))
        counts = self.index.document_frequencies(every)
        strange = [word for word, own in terms.items() if own and min(counts[term] for term in own) == 0]
        return [word for word in strange if not self._is_word(word)]

    def _is_word(self, word: str) -> bool:
        """Whether the vocabulary knows the word, a Korean one also without the particle behind it."""
        if self.vocabulary is None:
            return False
        bare = word[:-1] if _is_korean(word) and len(word) > 2 and word[-1] in _ENDINGS else word
        return self.vocabulary.has(word) or self.vocabulary.has(bare)

    def _telling(self, word: str) -> list[str]:
        """The terms all of which a text with this word holds; none where it may be a form of a known word.

        The last pair of a Korean word may reach into an ending, which the corpus need not have.
        """
        terms = self.analyzer.query_terms(word)
        if not _is_korean(word):
            return terms[:1]
        if word[-1] not in _ENDINGS:
            return terms
        return [term for term in terms if len(term) == 2 and term != word[-2:]]

    def _nearest(self, word: str, docs: frozenset[DocId] | None) -> str | None:
        """The nearest word that a document in sight holds; None where no word is near enough."""
        for candidate in sorted(self._near(folded(word)))[:_TRIED]:
            if self._is_in_sight(candidate.word, docs):
                return candidate.word
        return None

    def _near(self, word: str) -> Iterator[_Candidate]:
        for known, count in self._alike(word):
            for form in _forms(written(known), word):
                if (distance := _distance(word, form)) is not None:
                    yield _Candidate(distance, form[0] != word[0], -count, form)

    def _alike(self, word: str) -> Iterator[tuple[str, int]]:
        """The words of the corpus that may be near, by their letters: comparing all takes too long."""
        own = letters(word)
        pieces, swaps = _pieces(own[1:], _most_wrong(word) + 1), tuple(_swapped(word))
        for known, count in self.index.words_from(own[0]).items():
            if any(piece in known for piece in pieces) or known.startswith(swaps):
                yield known, count
        # A typo rarely hits the first letter, but the first two are exchanged as often as any.
        for beginning in _other_beginnings(word):
            if not beginning.startswith(own[0]):
                yield from self.index.words_from(beginning).items()

    def _is_in_sight(self, word: str, docs: frozenset[DocId] | None) -> bool:
        return self._holding(word, docs, most=1) > 0

    def _holding(self, text: str, docs: frozenset[DocId] | None, *, most: int = _COUNTED) -> int:
        """How many chunks hold this row of words, at most so many."""
        terms = tuple(self.analyzer.phrase_terms(text))
        return len(self.index.search(LexicalQuery(terms, phrases=(terms,)), limit=most, docs=docs))


@dataclass(frozen=True, slots=True, order=True)
class _Candidate:
    """A word of the corpus; the least is the likeliest: near, of the same first letter, frequent."""

    distance: int
    other_start: bool
    rarity: int
    word: str


def _is_korean(word: str) -> bool:
    return "가" <= word[0] <= "힣"


def _forms(known: str, word: str) -> Iterator[str]:
    """A word of the corpus as it may have been meant: of a Korean one also without what is attached to it."""
    if not _is_korean(word):
        yield known
    elif _is_korean(known):
        sizes = (size for size in (len(word) - 1, len(word), len(word) + 1) if 2 <= size <= len(known))
        yield from (known[:size] for size in sizes)


def _distance(word: str, form: str) -> int | None:
    """How many letters are wrong, 1 or 2; None where too many are, or none.

    Of a Korean word two exchanged syllables are one mistake, whatever letters they are made of.
    """
    if word == form or abs(len(word) - len(form)) > 2:
        return None
    if _is_korean(word) and len(word) == len(form) and _is_swap(word, form):
        return 1
    most = _most_wrong(word)
    distance = edit_distance(letters(word), letters(form), most=most)
    return distance if distance <= most else None


def _most_wrong(word: str) -> int:
    """How many of its letters may be wrong."""
    return 2 if len(word) >= _LONG and not _is_korean(word) else 1


def _pieces(own: str, count: int) -> list[str]:
    """So many parts of a row of letters, a letter between two: one mistake leaves all of them but one whole.

    Fewer where the row is too short for them; then nothing can be told from the parts.
    """
    size = (len(own) - count + 1) // count
    if size < 1:
        return [""]
    starts = range(0, count * (size + 1), size + 1)
    return [own[start : start + size] for start in starts]


def _swapped(word: str) -> Iterator[str]:
    """The letters of a word with two neighbouring syllables exchanged: of a Korean one many letters move."""
    for at in range(len(word) - 1) if _is_korean(word) else ():
        yield letters(word[:at] + word[at + 1] + word[at] + word[at + 2 :])


def _other_beginnings(word: str) -> list[str]:
    """How a word begins whose first two letters were exchanged, or before which a letter was put."""
    return list(_swapped(word))[:1] if _is_korean(word) else [word[1] + word[0], word[1:3]]


def _is_swap(one: str, other: str) -> bool:
    wrong = [at for at in range(len(one)) if one[at] != other[at]]
    return (
        len(wrong) == 2
        and wrong[1] == wrong[0] + 1
        and one[wrong[0]] == other[wrong[1]]
        and one[wrong[1]] == other[wrong[0]]
    )


def edit_distance(one: str, other: str, *, most: int) -> int:
    """Letters added, dropped, replaced, or exchanged with their neighbour; ``most`` + 1 where it is more.

    Optimal string alignment, row by row; given up at the first row that is beyond ``most``.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        above, row, before = row, [at], row if at == 1 else before
        for to, wanted in enumerate(other, start=1):
            cost = min(above[to] + 1, row[to - 1] + 1, above[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted:
                cost = min(cost, before[to - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before = above
    return min(row[-1], most + 1)
