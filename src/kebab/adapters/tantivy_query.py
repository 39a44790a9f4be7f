"""How the words index lies in tantivy, and how a query is put to it: fields, and terms looked for in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kebab.ports import LexicalQuery


def make_schema() -> Any:
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    builder.add_text_field("doc_id", tokenizer_name="raw", index_option="basic")
    # Ids as numbers in columns: a stored text would be unpacked from its block for every hit.
    builder.add_unsigned_field("doc_key", fast=True)
    builder.add_unsigned_field("chunk_high", fast=True)
    builder.add_unsigned_field("chunk_low", fast=True)
    builder.add_text_field("body", tokenizer_name="terms", index_option="position")
    # Words as they are written, once each: only whether one stands there is asked.
    builder.add_text_field("exact", tokenizer_name="terms", index_option="basic")
    builder.add_text_field("name", tokenizer_name="terms", index_option="freq")
    builder.add_text_field("about", tokenizer_name="terms", index_option="freq")
    builder.add_text_field("called", tokenizer_name="terms", index_option="basic")
    return builder.build()


def register(index: Any) -> None:
    # Tokenizers are not part of the stored index: they are named there and registered at each opening.
    from tantivy import TextAnalyzerBuilder, Tokenizer

    index.register_tokenizer("terms", TextAnalyzerBuilder(Tokenizer.whitespace()).build())


def make_query(schema: Any, query: LexicalQuery, only: Any | None = None) -> Any | None:
    """Built from terms, never parsed: no string can be a syntax error. None when nothing can match.

    ``only`` is a query that every hit must meet.
    """
    from tantivy import Occur, Query

    phrases = [phrase for phrase in query.phrases if phrase]
    terms = query.terms or tuple(term for phrase in phrases for term in phrase)
    if not terms:
        return None
    ranked = Query.boolean_query([(Occur.Should, part) for part in _scoring(schema, query, terms)])
    # What only filters must not score.
    musts = [Query.const_score_query(_row(schema, phrase), 0.0) for phrase in phrases]
    musts += [Query.const_score_query(term_query(schema, word, "exact"), 0.0) for word in query.required]
    if only is not None:
        musts.append(only)
    nots = [_row(schema, row) for row in query.excluded if row]
    if not musts and not nots:
        return ranked
    parts = [(Occur.Must, ranked), *((Occur.Must, q) for q in musts), *((Occur.MustNot, q) for q in nots)]
    return Query.boolean_query(parts)


def _scoring(schema: Any, query: LexicalQuery, terms: Sequence[str]) -> Iterator[Any]:
    """Every term in every field where it may stand, weighed; one flat list, in which the engine can skip."""
    fields = (("body", 1.0), ("name", query.fields.name), ("about", query.fields.about))
    for term in dict.fromkeys(terms):
        own = query.weights.get(term, 1.0)
        yield from (_weighed(schema, term, own * weight, field) for field, weight in fields if weight)
    if query.fields.exact:
        yield from (_weighed(schema, word, query.fields.exact, "exact") for word in query.words)


def term_query(schema: Any, term: str, field: str = "body") -> Any:
    from tantivy import Query

    option = "basic" if field in ("exact", "called") else "freq"
    return Query.term_query(schema, field, term, index_option=option) if clean(term) else Query.empty_query()


def _weighed(schema: Any, term: str, weight: float, field: str) -> Any:
    from tantivy import Query

    found = term_query(schema, term, field)
    return found if weight == 1 else Query.boost_query(found, weight)


def _row(schema: Any, terms: Sequence[str]) -> Any:
    """The terms next to each other; the engine panics at a phrase of one term."""
    from tantivy import Query

    if len(terms) == 1:
        return term_query(schema, terms[0])
    return Query.phrase_query(schema, "body", list(terms)) if all(map(clean, terms)) else Query.empty_query()


def clean(term: str) -> bool:
    # Undecodable bytes of a terminal arrive as lone surrogates, which no indexed term contains.
    return term.isascii() or not any("\ud800" <= char <= "\udfff" for char in term)
