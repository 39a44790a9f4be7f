"""TextBundle in an archive: ``.textpack``, and what Bear writes (``.bearnote``, ``.bear2bk``).

A bundle is a folder with ``text.md`` and ``info.json``; a backup of Bear holds many, and each is a part.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Sequence
from typing import NamedTuple

from kebab.domain.documents import Media, Metadata
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Archive, Archived, Refused
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.decode import Undecodable, decode
from kebab.ingest.parse.embedded import add_parsed, with_links
from kebab.ingest.parse.html import paragraphs
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.markdown import parse_markdown
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable

VERSION = "textbundle-v1"

_TEXT = re.compile(r"(?:[^/]+/){0,3}text\.(?:md|markdown|txt|text)", re.IGNORECASE)
_BEAR = "net.shinyfrog.bear"
# Bear ends a tag of several words with another #.
_WIDE_TAG = re.compile(r"(?<!\S)#([^\s#][^#\n]{0,60}[^\s#])#(?!\w)")


class _Note(NamedTuple):
    parsed: Parsed
    created: str | None
    updated: str | None
    trashed: bool


def parse_textbundle(archive: Archive, defaults: Defaults) -> Parsed | Unreadable:
    """The note of a bundle, or those of a backup without what lies in the bin."""
    names = sorted(name for name in archive.names if _TEXT.fullmatch(name))
    if not names:
        return Unreadable("no text in it: a text bundle holds a file text.md")
    limit = archive.limits.pages
    cut = f"only the first {limit} of {len(names)} notes are read (ingest.max_pages)"
    notes = [_read(archive, name, defaults) for name in names[:limit]]
    kept = [note for note in notes if not note.trashed] if len(names) > 1 else notes
    composer = Composer()
    for number, note in enumerate(kept, 1):
        _add(composer, note.parsed, number if len(names) > 1 else 0)
    return with_links(
        composer.parsed(
            kept[0].parsed.title if len(names) == 1 else defaults.stem,
            defaults,
            metadata=_metadata(kept, defaults),
            warnings=[cut] if len(names) > limit else [],
        )
    )


FORMAT = Format(Media.NOTES, VERSION, Archived(parse_textbundle), by_place.CHUNKER, isolated=True)


def _add(composer: Composer, note: Parsed, part: int) -> None:
    """Part 0 is the only one. Among others, a note without a heading is told apart by its name."""
    placing = paragraphs(part)
    composer.close_sections()
    if part and not (note.blocks and note.blocks[0].level):
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
        about.get("trashed") in (1, True),
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


def _metadata(notes: Sequence[_Note], defaults: Defaults) -> Metadata:
    tags = [
        tag
        for note in notes
        for tag in (*note.parsed.metadata.tags, *_WIDE_TAG.findall(note.parsed.lines.text))
    ]
    alone = notes[0] if len(notes) == 1 else None
    return Metadata(
        tuple(dict.fromkeys(tags)),
        source_type=defaults.source_type,
        trust_level=defaults.trust_level,
        created_at=alone.created if alone else None,
        updated_at=alone.updated if alone else None,
    )
