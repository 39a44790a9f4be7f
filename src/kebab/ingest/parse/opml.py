"""OPML outlines: an item for each entry, with its note."""

from __future__ import annotations

import re
from html import unescape
from xml.etree.ElementTree import Element

from kebab.domain.documents import BlockKind, Media
from kebab.domain.places import Items
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Refused, read_xml
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.reading import ReadLimits

VERSION = "opml-v3"

_DEEPEST = 12
_LONGEST_ENTRY = 20_000
_ATTRIBUTE = re.compile(r'\b(text|title|description|xmlUrl|url|_note)="([^"<>]{0,5000})"')
_BARE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)")


def parse_opml(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    try:
        root, warnings = _read(content, defaults.reading.limits)
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
    named = (title.text or "") if title is not None else ""
    return composer.parsed(named, defaults, warnings=warnings)


def _read(content: bytes, limits: ReadLimits) -> tuple[Element, list[str]]:
    """The tree, and what is to be said of it.

    Many lists of feeds are written by templates that escape nothing: a bare ``&`` is read as it is meant, and
    where quotes in quotes leave no XML at all, the entries are read one by one.
    """
    try:
        return read_xml(content, limits), []
    except Refused as error:
        if "damaged" not in str(error) or b"<outline" not in content:
            raise
    try:
        return read_xml(_BARE.sub(b"&amp;", content), limits), []
    except Refused as error:
        return _salvaged(content.decode("utf-8", "replace")), [
            f"{error}; its entries are read without levels"
        ]


def _salvaged(text: str) -> Element:
    body = Element("body")
    for entry in text.split("<outline")[1:]:
        named = {found[1]: unescape(found[2]) for found in _ATTRIBUTE.finditer(entry[:_LONGEST_ENTRY])}
        body.append(Element("outline", named))
    root = Element("opml")
    root.append(body)
    return root


FORMAT = Format(Media.OUTLINE, VERSION, parse_opml, by_place.CHUNKER)


def _add(composer: Composer, entry: Element, depth: int, place: Items) -> None:
    text = entry.get("text") or entry.get("title") or ""
    note = (entry.get("_note") or _description(entry, text)).strip()
    if not depth:
        composer.close_sections()
    address = entry.get("xmlUrl") or entry.get("url") or ""
    if not depth and (len(entry) or (note and not address)):
        composer.heading(2, text, place)
        composer.block(BlockKind.PARAGRAPH, note, place)
        return
    indent = "  " * min(max(depth - 1, 0), _DEEPEST)
    line = f"{indent}- {text}" + (f" ({address})" if address else "")
    written = "\n".join([line, *(f"{indent}  {part}" for part in note.split("\n") if part.strip())])
    if text or note:
        composer.block(BlockKind.LIST, written, place, tight=depth > 1)


def _description(entry: Element, text: str) -> str:
    """What a list of feeds says of one, unless it only says its name again."""
    said = entry.get("description", "")
    return "" if said.strip() == text.strip() else said
