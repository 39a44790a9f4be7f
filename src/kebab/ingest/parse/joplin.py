"""Joplin exports (``.jex``): each note is a part, counted in paragraphs. Attachments are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import quote

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.plurals import count_of
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Refused
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.embedded import add_parsed, links_of
from kebab.ingest.parse.html import paragraphs
from kebab.ingest.parse.html_blocks import Placing, add_html
from kebab.ingest.parse.html_main import readable_part
from kebab.ingest.parse.joplin_records import Record, read_record
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.markdown import parse_markdown
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.tarred import tar_files

VERSION = "joplin-v3"

_REFERENCE = re.compile(r"(!?)\[([^\[\]\n]{0,1000})\]\(:/([0-9a-f]{32})[^()\n]{0,300}\)")
_DEEPEST = 20


def parse_jex(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    try:
        files = tar_files(content, defaults.reading.limits, ending=".md")
        records = {record.id: record for record in _records(files)}
    except Refused as error:
        return Unreadable(str(error))
    export = _Export(records)
    composer, warnings = Composer(), []
    notes = [record for record in records.values() if record.kind == "note"]
    readable = [note for note in notes if not note.is_encrypted]
    limit = defaults.reading.limits.pages
    if len(readable) < len(notes):
        locked = count_of(len(notes) - len(readable), "note is", "notes are")
        warnings.append(f"{locked} encrypted, and left out")
    if len(readable) > limit:
        warnings.append(f"only the first {limit} of {len(readable)} notes are read (ingest.max_pages)")
    for number, note in enumerate(readable[:limit], 1):
        _add(composer, note, paragraphs(number), export, defaults)
    metadata = Metadata(export.all_tags, source_type=defaults.source_type, trust_level=defaults.trust_level)
    title = readable[0].title if len(readable) == 1 else defaults.stem
    parsed = composer.parsed(title, defaults, metadata=metadata, warnings=warnings)
    return parsed if isinstance(parsed, Unreadable) else replace(parsed, links=links_of(parsed.lines))


FORMAT = Format(Media.NOTES, VERSION, parse_jex, by_place.CHUNKER, isolated=True)


def _records(files: Iterator[tuple[str, bytes]]) -> Iterator[Record]:
    for _, content in files:
        if record := read_record(content.decode("utf-8", "replace").replace("\r\n", "\n")):
            yield record


class _Export:
    """What the records of an export say of each other."""

    def __init__(self, records: Mapping[str, Record]) -> None:
        self._records = records
        self._tags: dict[str, list[str]] = {}
        for record in records.values():
            tag = records.get(record.known.get("tag_id", ""))
            if tag and tag.title:
                self._tags.setdefault(record.known.get("note_id", ""), []).append(tag.title)

    @property
    def all_tags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tag for tags in self._tags.values() for tag in tags))

    def tags(self, note: Record) -> list[str]:
        return self._tags.get(note.id, [])

    def notebook(self, note: Record) -> str:
        """The notebooks that a note lies in, outermost first."""
        names: list[str] = []
        above = self._records.get(note.known.get("parent_id", ""))
        while above and len(names) < _DEEPEST:
            names.insert(0, above.title)
            above = self._records.get(above.known.get("parent_id", ""))
        return " / ".join(names)

    def linked(self, body: str) -> str:
        """The body with links to notes of this export leading to their headings; attachments by name."""
        return _REFERENCE.sub(self._reference, body)

    def _reference(self, found: re.Match[str]) -> str:
        embeds, words, wanted = found.groups()
        record = self._records.get(wanted)
        if record and record.kind == "note":
            return f"{embeds}[{words}](#{quote(record.title)})"
        return words or (record.title if record else "")


def _add(composer: Composer, note: Record, placing: Placing, export: _Export, defaults: Defaults) -> None:
    composer.close_sections()
    composer.heading(1, note.title or "Untitled", placing())
    made, _ = note.days
    about = {
        "Notebook": export.notebook(note),
        "Created": (made or "")[:10],
        "Tags": ", ".join(export.tags(note)),
        "From": note.known.get("source_url", ""),
    }
    composer.block(BlockKind.PARAGRAPH, "\n".join(f"{k}: {v}" for k, v in about.items() if v), placing())
    body = export.linked(note.body)
    if note.is_html:
        add_html(composer, readable_part(list(defaults.reading.engines.html().events(body))), placing)
    else:
        add_parsed(composer, parse_markdown(Lines(body), Defaults("")), placing, deeper=1)
