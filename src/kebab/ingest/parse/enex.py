"""Evernote exports (ENEX): each note is a part, counted in paragraphs. Attachments are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.etree.ElementTree import Element

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Refused, read_xml
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.html import paragraphs
from kebab.ingest.parse.html_blocks import add_html
from kebab.ingest.parse.html_main import readable_part
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ports import HtmlEvent, HtmlEventKind

VERSION = "enex-v4"

_TICKED = re.compile(r"--en-checked\s{0,4}:\s{0,4}(true|false)")


def parse_enex(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    try:
        root = read_xml(content, defaults.reading.limits)
    except Refused as error:
        return Unreadable(str(error))
    composer, warnings = Composer(), []
    notes = list(root.iter("note"))
    limit = defaults.reading.limits.pages
    if len(notes) > limit:
        warnings.append(f"only the first {limit} of {len(notes)} notes are read (ingest.max_pages)")
    for number, note in enumerate(notes[:limit], 1):
        _add(composer, note, number, defaults)
    tags = dict.fromkeys(tag.text.strip() for tag in root.iter("tag") if tag.text and tag.text.strip())
    alone = notes[0] if len(notes) == 1 else None
    metadata = Metadata(
        tuple(tags),
        source_type=defaults.source_type,
        trust_level=defaults.trust_level,
        created_at=_created(alone) if alone is not None else None,
    )
    title = _text(alone, "title") if alone is not None else defaults.stem
    return composer.parsed(title, defaults, metadata=metadata, warnings=warnings)


FORMAT = Format(Media.NOTES, VERSION, parse_enex, by_place.CHUNKER, isolated=True)


def _add(composer: Composer, note: Element, number: int, defaults: Defaults) -> None:
    placing = paragraphs(number)
    composer.close_sections()
    composer.heading(1, _text(note, "title") or "Untitled", placing())
    about = [f"Created: {_day(_text(note, 'created'))}"] if _text(note, "created") else []
    tags = [tag.text.strip() for tag in note.iter("tag") if tag.text]
    about += [f"Tags: {', '.join(tags)}"] if tags else []
    if about:
        composer.block(BlockKind.PARAGRAPH, "\n".join(about), placing())
    events = list(defaults.reading.engines.html().events(_text(note, "content")))
    add_html(composer, list(_with_boxes(_with_code(readable_part(events)))), placing)


def _with_code(events: Sequence[HtmlEvent]) -> Iterator[HtmlEvent]:
    """Evernote writes a listing as a box with a box for each line: here it is a listing again."""
    depth = 0
    for event in events:
        is_box = event.value == "div" and event.kind is not HtmlEventKind.TEXT
        if is_box and event.kind is HtmlEventKind.OPEN and not depth and _is_code(event):
            depth = 1
            yield event._replace(value="pre")
        elif is_box and depth and event.kind is HtmlEventKind.OPEN:
            depth += 1
        elif is_box and depth:
            depth -= 1
            yield HtmlEvent(HtmlEventKind.TEXT, "\n") if depth else event._replace(value="pre")
        else:
            yield event


def _with_boxes(events: Iterable[HtmlEvent]) -> Iterator[HtmlEvent]:
    """What is to be done begins with its box, empty or ticked, as Markdown writes it."""
    box = ""
    for event in events:
        if event.kind is HtmlEventKind.OPEN:
            box = _box(event) or box
        elif event.kind is HtmlEventKind.CLOSE and event.value == "li":
            box = ""
        if box and event.kind is HtmlEventKind.TEXT and event.value.strip():
            yield event._replace(value=f"{box} {event.value.lstrip()}")
            box = ""
        else:
            yield event


def _box(event: HtmlEvent) -> str:
    if event.value == "en-todo":
        return "[x]" if event.attributes.get("checked") == "true" else "[ ]"
    ticked = _TICKED.search(event.attributes.get("style", "")) if event.value == "li" else None
    return ("[x]" if ticked[1] == "true" else "[ ]") if ticked else ""


def _is_code(event: HtmlEvent) -> bool:
    return "en-codeblock:true" in event.attributes.get("style", "").replace(" ", "")


def _text(note: Element, name: str) -> str:
    found = note.find(name)
    return (found.text or "").strip() if found is not None else ""


def _created(note: Element) -> str | None:
    moment = _text(note, "created")
    return _day(moment) if moment[:8].isdecimal() else None


def _day(moment: str) -> str:
    """``20240501T010000Z`` as a person writes it."""
    return f"{moment[:4]}-{moment[4:6]}-{moment[6:8]}" if moment[:8].isdecimal() else moment
