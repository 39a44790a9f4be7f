"""What turns text into terms, and what finds patterns in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol


class Analyzer(Protocol):
    """Turns text and queries into the same terms, so that they meet."""

    @property
    def version(self) -> str: ...

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order. They hold no white space."""
        ...

    def index_text(self, text: str) -> str:
        """The terms joined by single spaces, as an index with a white-space tokenizer takes them."""
        ...

    def phrase_terms(self, text: str) -> list[str]:
        """The terms that stand in a row wherever the text stands as a phrase."""
        ...

    def query_terms(self, text: str) -> list[str]:
        """The distinct terms of a query, in order."""
        ...

    def query_weights(self, text: str) -> dict[str, float]:
        """The same terms in the same order, each with what it counts, above 0 and at most 1."""
        ...

    def held(self, text: str, terms: Collection[str]) -> set[str]:
        """Which of these terms are among the terms of the text."""
        ...

    def matches(self, text: str, terms: Collection[str]) -> list[tuple[int, int]]:
        """Character ranges of the original text whose analysis meets a term; sorted, not overlapping."""
        ...


class PatternMatcher(Protocol):
    """Regular expressions over texts, whatever the case; ^ and $ stand at the ends of lines.

    The time grows with the texts alone: no pattern, however nested, makes it grow faster. Raises InvalidInput
    for what is no pattern, or none that can be looked for so.
    """

    def holds(self, pattern: str, texts: Sequence[str]) -> list[bool]:
        """Of each text whether the pattern matches somewhere in it."""
        ...

    def spans(self, pattern: str, text: str) -> list[tuple[int, int]]:
        """Character ranges of the first matches that are not empty: sorted, not overlapping."""
        ...
