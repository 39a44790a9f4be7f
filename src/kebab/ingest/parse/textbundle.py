"""TextBundle in an archive: ``.textpack``, and what Bear writes (``.bearnote``, ``.bear2bk``).

A bundle is a folder with ``text.md`` and ``info.json``; a backup of Bear holds many, and each is a part.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from kebab.domain.documents import Media, Metadata
from kebab.domain.links import Link
from kebab.domain.plurals import count_of
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Archive, Archived, Refused
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.decode import Undecodable, decode
from kebab.ingest.parse.embedded import add_parsed, links_of
from kebab.ingest.parse.html import paragraphs
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.markdown import parse_markdown
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable

VERSION = "textbundle-v1"

_TEXT = re.compile(r"\A(?:[^/]+/){0,3}text\.(?:md|markdown|txt|text)", re.IGNORECASE)
_BEAR = "net.shinyfrog.bear"
# Bear ends a tag of several words with another #.
_WIDE_TAG = re.compile(r"(?<!\S)#([^\s#][^#\n]{0,60}[^\s#])#(?!\w)")


class _Note(NamedTuple):
    parsed: Parsed
    created: str | None
    updated: str | None
    trashed: bool
    encrypted: bool


def parse_textbundle(archive: Archive, defaults: Defaults) -> Parsed | Unreadable:
    """The note of a bundle, or those of a backup without what lies in the bin."""
    names = sorted(name for name in archive.names if _TEXT.fullmatch(name))
    if not names:
        return Unreadable("no text in it: a text bundle holds a file text.md")
    notes = [_read(archive, name, defaults) for name in names[: archive.limits.pages]]
    alone = len(names) == 1
    kept = [note for note in notes if not note.encrypted and (alone or not note.trashed)]
    composer = Composer()
    for number, note in enumerate(kept, 1):
        _add(composer, note.parsed, 0 if alone else number)
    parsed = composer.parsed(
        kept[0].parsed.title if alone and kept else defaults.stem,
        defaults,
        metadata=_metadata(kept, defaults),
        warnings=_warnings(names, notes),
    )
    return parsed if isinstance(parsed, Unreadable) else _linked(parsed, kept)


FORMAT = Format(Media.NOTES, VERSION, Archived(parse_textbundle), by_place.CHUNKER, isolated=True)


def _add(composer: Composer, note: Parsed, part: int) -> None:
    """Part 0 is the only one. Among others, a note without a heading is told apart by its name."""
    placing = paragraphs(part)
    composer.close_sections()
    if part and not (note.blocks and note.blocks[0].heading):
        composer.heading(1, note.title, placing())
    add_parsed(composer, note, placing)


def _read(archive: Archive, name: str, defaults: Defaults) -> _Note:
    """Raises Refused where the text cannot be read."""
    decoded = decode(archive.read(name))
    if isinstance(decoded, Undecodable):
        raise Refused(decoded.reason)
    folder = posixpath.dirname(name)
    stem = posixpath.splitext(posixpath.basename(folder))[0] or defaults.stem
    parsed = parse_markdown(Lines(decoded.text), Defaults(stem))
    about = _about(archive, posixpath.join(folder, "info.json"))
    return _Note(
        parsed,
        _moment(about.get("creationDate")) or parsed.metadata.created_at,
        _moment(about.get("modificationDate")) or parsed.metadata.updated_at,
        trashed=about.get("trashed") in (1, True),
        encrypted=about.get("encrypted") in (1, True),
    )


def _about(archive: Archive, name: str) -> dict[str, object]:
    """What Bear says of a note; empty where it says nothing that can be read."""
    if name not in archive.names:
        return {}
    try:
        about = json.loads(archive.read(name))
        found = about.get(_BEAR, about)
    except (ValueError, AttributeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _moment(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _warnings(names: Sequence[str], notes: Sequence[_Note]) -> list[str]:
    locked = sum(note.encrypted for note in notes)
    told = [f"{count_of(locked, 'note is', 'notes are')} encrypted, and left out"] if locked else []
    if len(names) > len(notes):
        told.append(f"only the first {len(notes)} of {len(names)} notes are read (ingest.max_pages)")
    return told


def _linked(parsed: Parsed, notes: Sequence[_Note]) -> Parsed:
    """With its links; those that name a note of the same backup lead to its heading.

    Bear writes ``[[Note/Heading]]``.
    """
    titles = {note.parsed.title for note in notes} if len(notes) > 1 else set()
    return replace(parsed, links=tuple(_inside(link, titles) for link in links_of(parsed.lines)))


def _inside(link: Link, titles: Collection[str]) -> Link:
    title, _, heading = link.target.partition("/")
    if link.target in titles:
        return replace(link, target=f"#{link.target}")
    return replace(link, target=f"#{heading or title}") if title in titles else link


def _metadata(notes: Sequence[_Note], defaults: Defaults) -> Metadata:
    tags = [tag for note in notes for tag in _tags(note.parsed)]
    alone = notes[0] if len(notes) == 1 else None
    return Metadata(
        tuple(dict.fromkeys(tags)),
        source_type=defaults.source_type,
        trust_level=defaults.trust_level,
        created_at=alone.created if alone else None,
        updated_at=alone.updated if alone else None,
    )


def _tags(note: Parsed) -> list[str]:
    """What is a tag of several words is none of its first word."""
    wide = _WIDE_TAG.findall(note.lines.text)
    begun = {tag.split()[0] for tag in wide}
    return [*(tag for tag in note.metadata.tags if tag not in begun), *wide]
