"""What is stored: points, the filters that choose those of a release, and words as sparse vectors.

Every point says from which state of its publisher on it is seen, and until which. A release names a state for
each publisher, so that what is written for the next one is seen by nobody before that one is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kebab.domain.chunks import called, searchable_text
from kebab.domain.ids import DocId, content_hash
from kebab.domain.names import plain_words
from kebab.domain.publications import Release
from kebab.ports import LexicalQuery, PublishedChunk

ALIVE = 1 << 50
"""``until`` of what nothing has taken the place of."""

_K1, _B = 1.2, 0.75
# BM25's mean lengths. They are fixed, unlike those of an index that sees all texts at once: a stored weight
# cannot follow the mean of a growing collection.
_MEAN = {"body": 120.0, "name": 6.0, "about": 6.0, "exact": 100.0}

INDEXED: Mapping[str, Any] = {
    "publisher": "keyword", "doc_id": "keyword", "since": "integer", "until": "integer",
}  # fmt: skip
WORDS_INDEXED: Mapping[str, Any] = {
    **INDEXED,
    "called": "keyword",
    "words": "keyword",
    # As the analyzer cut them: whole terms, in the order of the text, so that phrases can be asked for.
    "terms": {"type": "text", "tokenizer": "whitespace", "lowercase": False, "phrase_matching": True},
    "starts": {
        "type": "text", "tokenizer": "prefix", "lowercase": False, "min_token_len": 1, "max_token_len": 8,
    },
}  # fmt: skip
LONGEST_START = 8

Point = dict[str, Any]
Where = dict[str, Any]


def point_id(*parts: object) -> str:
    """A UUID of these parts, always the same."""
    text = content_hash("\0".join(map(str, parts)).encode())[:32]
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def match(key: str, value: object) -> Where:
    return {"key": key, "match": {"value": value}}


def any_of(key: str, values: Iterable[str]) -> Where:
    return {"key": key, "match": {"any": sorted(values)}}


def seen_at(publisher: str, state: int) -> Where:
    """What readers see of a publisher at one of its states."""
    return {
        "must": [
            match("publisher", publisher),
            {"key": "since", "range": {"lte": state}},
            {"key": "until", "range": {"gt": state}},
        ]
    }


def seen_in(release: Release, docs: frozenset[DocId] | None = None) -> Where:
    """What readers see of a release, or of some of its documents."""
    parts = [seen_at(part.publisher, int(part.state)) for part in release.parts]
    where: Where = {"min_should": {"conditions": parts, "min_count": 1}}
    return where if docs is None else {**where, "must": [any_of("doc_id", docs)]}


def words_point(chunk: PublishedChunk, payload: Mapping[str, Any]) -> Point:
    stored = chunk.stored
    written = list(dict.fromkeys(plain_words(searchable_text(stored))))
    fields = {
        "body": chunk.terms.split(),
        "name": chunk.name.split(),
        "about": chunk.about.split(),
        "exact": written,
    }
    told = {
        "chunk_id": stored.chunk.chunk_id,
        "text": stored.chunk.text,
        "path": stored.path,
        "terms": chunk.terms,
        "words": written,
        "starts": " ".join(written),
        "called": list(called(stored)),
    }
    return {"payload": {**payload, **told}, "vector": {"words": _sparse(_weights(fields))}}


def _weights(fields: Mapping[str, Sequence[str]]) -> Iterable[tuple[str, float]]:
    """BM25's part of each term in each field; the rest, how rare it is, the server counts itself."""
    for field, terms in fields.items():
        norm = _K1 * (1 - _B + _B * len(terms) / _MEAN[field])
        for term, count in Counter(terms).items():
            yield f"{field} {term}", count * (_K1 + 1) / (count + norm)


def query_vector(query: LexicalQuery) -> Point:
    """The query's terms in each field, weighed; empty where it has none."""
    phrases = [phrase for phrase in query.phrases if phrase]
    terms = query.terms or tuple(term for phrase in phrases for term in phrase)
    fields = (("body", 1.0), ("name", query.fields.name), ("about", query.fields.about))
    weighed = [
        (f"{field} {term}", query.weights.get(term, 1.0) * weight)
        for term in dict.fromkeys(terms)
        for field, weight in fields
        if weight
    ]
    if terms and query.fields.exact:
        weighed += [(f"exact {word}", query.fields.exact) for word in query.words]
    return _sparse(weighed)


def _sparse(weights: Iterable[tuple[str, float]]) -> Point:
    """Terms by number: two that share one count as the same, which a few in a million do."""
    numbered: dict[int, float] = {}
    for term, weight in weights:
        number = int(content_hash(term.encode("utf-8", "surrogatepass"))[:8], 16)
        numbered[number] = numbered.get(number, 0.0) + weight
    return {"indices": list(numbered), "values": list(numbered.values())}


def must_hold(query: LexicalQuery) -> tuple[list[Where], list[Where]]:
    """What every hit must meet beside the terms, and what none may."""
    musts = [_in_a_row(phrase) for phrase in query.phrases if phrase]
    musts += [match("words", word) for word in query.required]
    return musts, [_in_a_row(row) for row in query.excluded if row]


def _in_a_row(terms: Sequence[str]) -> Where:
    return {"key": "terms", "match": {"phrase": " ".join(terms)}}
