"""Links between notes: what a link names, and which note is meant by it.

A link is stored as it was written; which note it means is decided when it is read, so that a note that comes,
goes or is renamed changes the meaning of every link at once, and nothing has to be written again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cached_property
from posixpath import dirname, normpath
from urllib.parse import unquote

from kebab.domain.ids import DocId, nfc
from kebab.domain.values import dataclass


class LinkKind(StrEnum):
    WIKILINK = "wikilink"
    MARKDOWN = "markdown"
    EMBED = "embed"


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it stands in a document."""

    kind: LinkKind
    target: str
    """As written, NFC, its anchor included: ``../a%20b.md#setup``, ``Note#Heading``."""
    line: int

    @property
    def path(self) -> str:
        """The path or name that is linked to, decoded; empty for a link into the document itself."""
        name = self.target.partition("#")[0]
        # Only an address has a query; a note may be called "Why?".
        plain = _decoded(name.partition("?")[0] if self.kind is LinkKind.MARKDOWN else name)
        return plain.removeprefix(_JOPLIN)

    @property
    def anchor(self) -> str:
        """The heading or ``^block`` that is meant, decoded; empty for the whole document."""
        return _decoded(self.target.partition("#")[2])

    def key(self, path: str) -> str:
        """What the link calls its note, for looking up; ``path`` is that of the document it stands in."""
        return name_key(_joined(path, self.path) if _is_relative(self.path) else self.path)


@dataclass(frozen=True, slots=True)
class PlacedLink:
    """A link and the document it stands in."""

    doc_id: DocId
    link: Link


@dataclass(frozen=True, slots=True)
class NoteNames:
    """What a document can be called in a link."""

    doc_id: DocId
    source_id: str
    path: str
    title: str
    aliases: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The path as links write it: with and without its ending, as a web page, as its folder."""
        stem = _without_ending(self.path)
        folder = dirname(self.path)
        index = (folder,) if folder and stem.rpartition("/")[2].lower() in _INDEX else ()
        return (self.path, stem, f"{stem}.html", *index)

    @property
    def keys(self) -> frozenset[str]:
        """Every key under which a link to this document can stand."""
        return frozenset(map(name_key, (*self.paths, *self.aliases, self.title))) - {""}


_INDEX = frozenset({"index", "readme", "_index"})
_JOPLIN = ":/"
"""Joplin writes the id of a note, which is its file name, behind this."""
_GAPS = re.compile(r"[\s_-]+")
_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,30}:|//)")
Fold = Callable[[str], str]


def _decoded(text: str) -> str:
    return nfc(unquote(text, errors="replace")).strip() if "%" in text else text.strip()


def is_external(target: str) -> bool:
    """Whether a target names something outside: ``https:…``, ``mailto:…``, ``//host/…``."""
    return _SCHEME.match(target) is not None


def folded(name: str) -> str:
    """A name as people mix it up: case, and spaces, hyphens and underscores for each other."""
    return _GAPS.sub("-", name.casefold())


def name_key(path: str) -> str:
    """The last part of a path or name, folded: links and notes that may mean each other share it."""
    return folded(nfc(path).rstrip("/").rpartition("/")[2].strip())


class Names:
    """All documents by what they are called, as of one moment."""

    def __init__(self, notes: Iterable[NoteNames]) -> None:
        self.notes = {note.doc_id: note for note in notes}

    @cached_property
    def _by_key(self) -> dict[str, list[NoteNames]]:
        found: dict[str, list[NoteNames]] = {}
        for note in self.notes.values():
            for key in note.keys:
                found.setdefault(key, []).append(note)
        return found

    def meant(self, link: Link, *, within: NoteNames) -> NoteNames | None:
        """The document that a link in ``within`` means; None where there is none.

        A path counts from the document's folder, then from the root of its source. A name means a file of
        that name, first one below the document's folder, then the one with the shortest path, as Obsidian
        resolves it; then an alias, then a title. Spelling as written beats other case, and that beats other
        gaps between words. Other sources are looked at when the document's own has none.
        """
        if not link.path:
            return within
        candidates = sorted(
            self._by_key.get(link.key(within.path), []), key=lambda note: _distance(note, within)
        )
        own = [note for note in candidates if note.source_id == within.source_id]
        others = [note for note in candidates if note.source_id != within.source_id]
        return next(_matches(link, own, within), None) or next(_by_name(link.path, others), None)


def _matches(link: Link, notes: list[NoteNames], within: NoteNames) -> Iterator[NoteNames]:
    path = link.path
    if link.kind is LinkKind.MARKDOWN or _is_relative(path):
        yield from _at(_joined(within.path, path), notes)
    if "/" in path and not _is_relative(path):
        yield from _at(normpath(path.lstrip("/")), notes)
    if not (_is_relative(path) or path.startswith("/")):
        yield from _by_name(path, notes)


def _at(path: str, notes: list[NoteNames]) -> Iterator[NoteNames]:
    yield from (note for note in notes if note.path == path)
    for fold in _FOLDS:
        wanted = fold(path)
        yield from (note for note in notes if any(fold(own) == wanted for own in note.paths))


def _by_name(path: str, nearest: list[NoteNames]) -> Iterator[NoteNames]:
    """By the end of the path, then by alias, then by title; each in the order given."""
    wanted = nfc(path).strip("/")
    for fold in _FOLDS:
        yield from (note for note in nearest if any(_ends(fold(own), fold(wanted)) for own in note.paths))
    for fold in _FOLDS:
        yield from (note for note in nearest if fold(wanted) in map(fold, note.aliases))
    for fold in _FOLDS:
        yield from (note for note in nearest if fold(note.title) == fold(wanted))


def _as_written(name: str) -> str:
    return name


_FOLDS: tuple[Fold, ...] = (_as_written, str.casefold, folded)


def _distance(note: NoteNames, within: NoteNames) -> tuple[bool, int, str, str]:
    folder = dirname(within.path)
    below = not folder or note.path.startswith(f"{folder}/")
    return not below, len(note.path), note.path, note.source_id


def _ends(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")


def _is_relative(path: str) -> bool:
    return path.startswith(("./", "../")) or path in (".", "..")


def _joined(path: str, target: str) -> str:
    """A target as seen from the document at ``path``; what climbs out of the source names nothing in it."""
    if target.startswith("/"):
        return normpath(target.lstrip("/") or ".")
    return normpath(f"{dirname(path)}/{target}" if dirname(path) else target)


def _without_ending(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    stem = name.rpartition(".")[0]
    return f"{folder}{slash}{stem or name}"
