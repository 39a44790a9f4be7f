"""Do people find the note that they know? Queries made of what notes are called, over any folder.

Every query comes from the documents themselves, so that no judgement is needed: who types a note's title, the
name of its file or its path wants that note. Which notes and which letters is drawn with a fixed seed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from random import Random
from typing import Protocol

from kebab.domain.chunks import StoredChunk
from kebab.domain.documents import DocumentSummary
from kebab.domain.evaluations import NameQuery, NameRow, NamesReport
from kebab.domain.ids import ChunkId, DocId

PAGE = 10
MANY_WORDS = 200
"""How many rare words are asked for."""


class Shown(Protocol):
    """What is looked at of a hit."""

    @property
    def doc_id(self) -> DocId: ...

    @property
    def chunk_id(self) -> ChunkId: ...

    @property
    def doc_path(self) -> str: ...


Search = Callable[[str], Sequence[Shown]]
"""The first page of results for what a person typed."""

# Not the sign of an emphasis: _word_ is that word.
_TOKEN = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPT = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_RARE = 3
"""A word that stands in at most so many documents is rare."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One query, and the documents, or the chunks, that answer it."""

    kind: str
    text: str
    documents: frozenset[DocId] = frozenset()
    chunks: frozenset[ChunkId] = frozenset()

    def place(self, hits: Sequence[Shown]) -> int | None:
        """The place among the documents shown of the first that answers, from 1; None where none does.

        Of a rare word it is the chunk shown first of a document that must hold it.
        """
        shown: dict[DocId, Shown] = {}
        for hit in hits:
            shown.setdefault(hit.doc_id, hit)
        for place, hit in enumerate(shown.values(), start=1):
            if hit.doc_id in self.documents or hit.chunk_id in self.chunks:
                return place
        return None


def name_queries(
    documents: Sequence[DocumentSummary], chunks: Sequence[StoredChunk], *, notes: int, seed: int
) -> list[Asked]:
    """The queries over some of the documents, by kind; the same ones for the same folder and seed."""
    drawn = Random(seed)
    some = _drawn(documents, notes, drawn)
    asked = [
        *_known("title", documents, some, lambda doc: doc.title),
        *_known("one-word title", documents, _drawn(_one_word(documents), notes, drawn), lambda d: d.title),
        *_known("file stem", documents, some, lambda doc: PurePosixPath(doc.path).stem),
        *_known("file name", documents, some, lambda doc: PurePosixPath(doc.path).name),
        *_known("path", documents, some, lambda doc: doc.path),
    ]
    titles = [query for query in asked if query.kind == "title"]
    asked += _mistyped("letter dropped", titles, drawn, _dropped)
    asked += _mistyped("letters swapped", titles, drawn, _swapped)
    return [*asked, *_rare_words(chunks, drawn)]


def measure(asked: Iterable[Asked], search: Search, *, name: str, documents: int) -> NamesReport:
    """Ask every query and say, by kind, how often the note came first; and what was missed."""
    seen = [(query, tuple(search(query.text))) for query in asked]
    kinds = list(dict.fromkeys(query.kind for query, _ in seen))
    queries = tuple(_observed(query, hits) for query, hits in seen)
    rows = tuple(_row(kind, [one for one in queries if one.kind == kind]) for kind in kinds)
    return NamesReport(name, documents, rows, queries)


def _observed(query: Asked, hits: Sequence[Shown]) -> NameQuery:
    shown = tuple(dict.fromkeys(hit.doc_path for hit in hits))
    return NameQuery(query.kind, query.text, query.place(hits), len(shown), len(hits), shown)


def _row(kind: str, queries: Sequence[NameQuery]) -> NameRow:
    def share(limit: int) -> float:
        return sum(one.place is not None and one.place <= limit for one in queries) / len(queries)

    distinct = sum(one.distinct for one in queries) / len(queries)
    return NameRow(kind, len(queries), share(1), share(3), share(PAGE), distinct)


def _drawn(documents: Sequence[DocumentSummary], count: int, drawn: Random) -> list[DocumentSummary]:
    ordered = sorted(documents, key=lambda doc: (doc.source_id, doc.path))
    return ordered if len(ordered) <= count else drawn.sample(ordered, count)


def _one_word(documents: Sequence[DocumentSummary]) -> list[DocumentSummary]:
    return [doc for doc in documents if len(doc.title.split()) == 1 and _WORD.search(doc.title)]


def _known(
    kind: str,
    documents: Sequence[DocumentSummary],
    some: Sequence[DocumentSummary],
    name: Callable[[DocumentSummary], str],
) -> Iterator[Asked]:
    """One query a note. Notes of the same name answer alike: nobody could tell which one is meant."""
    owners: dict[str, set[DocId]] = {}
    for doc in documents:
        owners.setdefault(name(doc).casefold(), set()).add(doc.doc_id)
    for doc in some:
        if _WORD.search(name(doc)) or any(char.isalnum() for char in name(doc)):
            yield Asked(kind, name(doc), frozenset(owners[name(doc).casefold()]))


def _mistyped(
    kind: str, titles: Sequence[Asked], drawn: Random, typo: Callable[[str, Random], str | None]
) -> Iterator[Asked]:
    """Each title with one of its longer words mistyped; titles without such a word are left out."""
    for title in titles:
        words = [word for word in _WORD.finditer(title.text) if len(word[0]) >= _shortest(word[0])]
        if not words:
            continue
        word = drawn.choice(words)
        wrong = typo(word[0], drawn)
        if wrong is not None:
            yield Asked(kind, title.text[: word.start()] + wrong + title.text[word.end() :], title.documents)


def _shortest(word: str) -> int:
    return 2 if _is_hangul(word[-1]) else 4


def _dropped(word: str, drawn: Random) -> str:
    """Without one letter, never the first; of a Korean syllable only the final consonant goes, if any."""
    at = drawn.randrange(1, len(word))
    parts = unicodedata.normalize("NFD", word[at])
    kept = unicodedata.normalize("NFC", parts[:-1]) if _is_hangul(word[at]) and len(parts) == 3 else ""
    return word[:at] + kept + word[at + 1 :]


def _swapped(word: str, drawn: Random) -> str | None:
    """Two neighbouring letters in each other's place; None for a word all of whose letters are alike."""
    places = [at for at in range(len(word) - 1) if word[at] != word[at + 1]]
    if not places:
        return None
    at = drawn.choice(places)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _is_hangul(char: str) -> bool:
    return "가" <= char <= "힣"


def _rare_words(chunks: Sequence[StoredChunk], drawn: Random) -> Iterator[Asked]:
    """Words that few documents hold, bare and in quotes: what comes first must hold the word itself."""
    texts = [(stored, _read(stored)) for stored in chunks]
    rare = sorted(word for word, count in _document_counts(texts).items() if count <= _RARE)
    some = rare if len(rare) <= MANY_WORDS else drawn.sample(rare, MANY_WORDS)
    holders = [(word, frozenset(_holders(word, texts))) for word in some]
    for kind, form in (("rare word", "{}"), ("quoted word", '"{}"')):
        for word, held in holders:
            yield Asked(kind, form.format(word), chunks=held)


Texts = Sequence[tuple[StoredChunk, str]]


def _read(stored: StoredChunk) -> str:
    return "\n".join([stored.title, *stored.chunk.heading_path, stored.chunk.text]).lower()


def _document_counts(texts: Texts) -> Counter[str]:
    """Longer words, each with how many documents hold it as a word of its own."""
    words: dict[DocId, set[str]] = {}
    for stored, text in texts:
        words.setdefault(stored.chunk.doc_id, set()).update(_TOKEN.findall(text))
    return Counter(
        word
        for held in words.values()
        for word in held
        if _WORD.fullmatch(word) and len(word) >= (3 if _is_hangul(word[-1]) else 5)
    )


def _holders(word: str, texts: Texts) -> Iterator[ChunkId]:
    """The chunks that hold the word, whatever Korean is attached to it: 규칙을, API를."""
    for stored, text in texts:
        words = (*_TOKEN.findall(text), *_SCRIPT.findall(text)) if word in text else ()
        if words and (_is_hangul(word[-1]) or word in words):
            yield stored.chunk.chunk_id
