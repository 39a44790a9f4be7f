"""What finds the definitions in source code."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from kebab.domain.values import dataclass


class Definition(NamedTuple):
    """A function, a class or the like, with the comments and decorators that stand directly above it."""

    path: tuple[str, ...]
    """The names of what encloses it and its own, outermost first; never empty."""
    start: int
    end: int
    """Lines of the text, 1-based and inclusive."""
    groups: bool = False
    """It only groups others, as a namespace does: its head says nothing but its name."""


@dataclass(frozen=True, slots=True)
class Outline:
    """Definitions in the order in which they begin; each lies inside the one whose path begins its own."""

    definitions: tuple[Definition, ...]
    imports: tuple[str, ...] = ()
    """What the file imports, as written, each on one line."""
    unclear_line: int | None = None
    """The first line that the grammar does not understand; None where it understands all."""


class CodeReader(Protocol):
    """Reads source code by its grammar."""

    def outline(self, text: str, *, grammar: str) -> Outline:
        """The definitions of a text whose lines end with ``\\n``; broken code gives what can be made out."""
        ...
