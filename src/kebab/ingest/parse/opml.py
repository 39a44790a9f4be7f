"""OPML outlines: an item for each entry, with its note."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from kebab.domain.documents import BlockKind, Media
from kebab.domain.places import Items
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Refused, read_xml
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable

VERSION = "opml-v1"

_DEEPEST = 12


def parse_opml(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    try:
        root = read_xml(content, defaults.reading.limits)
    except Refused as error:
        return Unreadable(str(error))
    composer = Composer()
    body = root.find("body")
    pending = [(0, one) for one in reversed(body)] if body is not None else []
    number = 0
    while pending:
        depth, entry = pending.pop()
        number += 1
        _add(composer, entry, depth, Items("item", number, number))
        pending.extend((depth + 1, one) for one in reversed(entry))
    title = root.find("head/title")
    return composer.parsed((title.text or "") if title is not None else "", defaults)


FORMAT = Format(Media.OUTLINE, VERSION, parse_opml, by_place.CHUNKER)


def _add(composer: Composer, entry: Element, depth: int, place: Items) -> None:
    text = entry.get("text") or entry.get("title") or ""
    note = entry.get("_note", "").strip()
    if not depth and len(entry):
        composer.heading(2, text, place)
        composer.block(BlockKind.PARAGRAPH, note, place)
        return
    indent = "  " * min(max(depth - 1, 0), _DEEPEST)
    address = entry.get("xmlUrl") or entry.get("url") or ""
    line = f"{indent}- {text}" + (f" ({address})" if address else "")
    written = "\n".join([line, *(f"{indent}  {part}" for part in note.split("\n") if part.strip())])
    if text or note:
        composer.block(BlockKind.LIST, written, place, tight=depth > 1)
