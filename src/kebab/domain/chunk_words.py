"""A chunk cut into words: what a words index stores of it, field by field."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from kebab.domain.chunks import StoredChunk, about, called, searchable_text
from kebab.domain.names import indexed_words, name_text


# A tuple: worker processes send one for every chunk, and a tuple is read back without running any Python.
class ChunkWords(NamedTuple):
    """The fields of a chunk. Each holds its words joined by single spaces, and is empty where it has none."""

    body: str
    """The analyzer's terms of the text, its title and its headings."""
    exact: str
    """The words of the same text as they are written, each once; see ``indexed_words``."""
    name: str
    """The terms of what its note is called."""
    about: str
    """The terms of what is said of the note as a whole; only of the chunk that opens it."""
    called: str
    """The names that lead to the chunk; only of the one that opens its note."""


class ChunkCutter:
    """Cuts chunks with one analyzer, given by its ``index_text``: the same chunk always gives the same words.

    Safe to share between threads where the analyzer is.
    """

    def __init__(self, index_text: Callable[[str], str]) -> None:
        self._index_text = index_text
        # The chunks of a document come together, and share its name.
        self._name = lru_cache(maxsize=16)(
            lambda path, title, aliases: index_text(name_text(path=path, title=title, aliases=aliases))
        )

    def __call__(self, stored: StoredChunk) -> ChunkWords:
        text = searchable_text(stored)
        return ChunkWords(
            body=self._index_text(text),
            exact=indexed_words(text),
            name=self._name(stored.path, stored.title, stored.aliases),
            about=self._index_text(about(stored)),
            called=" ".join(called(stored)),
        )
