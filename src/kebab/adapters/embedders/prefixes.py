"""What a model family wants to read before a query and before a document."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kebab.ports import EmbeddingKind


@dataclass(frozen=True, slots=True)
class Prefixes:
    query: str = ""
    document: str = ""

    def apply(self, text: str, kind: EmbeddingKind) -> str:
        return (self.query if kind is EmbeddingKind.QUERY else self.document) + text


_INSTRUCTION = "Represent this sentence for searching relevant passages: "
_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "

# By family, from the models' own cards. Without them an e5 model loses most of its quality.
_FAMILIES = (
    (re.compile(r"(?<![a-z0-9])e5(?![a-z0-9]).{0,100}instruct|e5-mistral", re.IGNORECASE), Prefixes(_TASK)),
    (re.compile(r"(?<![a-z0-9])e5(?![a-z0-9])", re.IGNORECASE), Prefixes("query: ", "passage: ")),
    (re.compile(r"nomic-embed", re.IGNORECASE), Prefixes("search_query: ", "search_document: ")),
    (re.compile(r"arctic-embed.{0,100}v2", re.IGNORECASE), Prefixes("query: ")),
    (
        re.compile(r"arctic-embed|mxbai-embed|bge-(small|base|large)-en", re.IGNORECASE),
        Prefixes(_INSTRUCTION),
    ),
)


def prefixes_of(model: str) -> Prefixes:
    """The prefixes of a model by its name; none for a family that wants none or is unknown."""
    return next((prefixes for family, prefixes in _FAMILIES if family.search(model)), Prefixes())
