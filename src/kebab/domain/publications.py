"""What is published: the parts of several publishers, together one release."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kebab.errors import InvalidInput

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def publisher_name(name: str) -> str:
    """The name, as it is; raises InvalidInput for one that could not be a folder's."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot be the name of a publisher",
            hint="use 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first",
        )
    return name


@dataclass(frozen=True, slots=True)
class Contents:
    """What a publisher says of its part."""

    sources: tuple[str, ...]
    """The ids of its sources, sorted."""
    documents: int
    chunks: int
    lexical: str
    """Version of its words index."""
    model: tuple[str, str, int] | None
    """Id, version and dimensions of the model of its vectors; None where it has none."""
    missing: int
    """Texts that had no vector yet."""
    kebab: str
    """The version of the program that published it."""
    published_at: str
    revision: int = 0
    """Of its store; cursors are bound to it."""
    vector: str = ""
    """Version of its vector index; empty where it has none."""
    words: str = ""
    """Another one whenever the files of the words index are, which scores depend on."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one publisher has in a release."""

    publisher: str
    contents: Contents
    state: str
    """Where its data are; only the engine that wrote it reads it."""


@dataclass(frozen=True, slots=True)
class Release:
    """All parts, as readers see them at one moment. ``number`` grows with every release."""

    number: int
    parts: tuple[Part, ...]
    """By name of the publisher."""

    def part(self, publisher: str) -> Part | None:
        return next((part for part in self.parts if part.publisher == publisher), None)

    @property
    def publishers(self) -> tuple[str, ...]:
        return tuple(part.publisher for part in self.parts)


@dataclass(frozen=True, slots=True)
class PublishReport:
    """What a command that publishes did."""

    uri: str
    release: int
    publisher: str | None
    """Whose part changed; None where it was that of all."""
    changed: int
    removed: int
    documents: int
    chunks: int
    """All that readers find now, of every publisher."""
    publishers: tuple[str, ...]
    duration_ms: int
    collected: Collected | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Collected:
    """What garbage collection removed."""

    releases: int
    byte_len: int


def clash(release: Release | None, publisher: str, sources: tuple[str, ...]) -> InvalidInput | None:
    """Why these sources cannot be published under this name; None where they can."""
    for part in release.parts if release else ():
        shared = sorted(set(part.contents.sources) & set(sources))
        if part.publisher != publisher and shared:
            return InvalidInput(
                f"the source {shared[0]!r} is already published by {part.publisher!r}",
                hint="give your source another id in [[sources]] and run `kebab ingest`",
            )
    return None
