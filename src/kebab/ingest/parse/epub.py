"""EPUB: the chapters in reading order; each is a part, counted in paragraphs."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from kebab.domain.documents import Media
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Archive, Archived, Refused
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.html import html_text, paragraphs
from kebab.ingest.parse.html_blocks import add_html
from kebab.ingest.parse.html_main import chapter_part
from kebab.ingest.parse.office import metadata_of
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable

VERSION = "epub-v3"

_CONTAINER = "META-INF/container.xml"
_RIGHTS = "META-INF/rights.xml"
_PAGES = ("application/xhtml+xml", "text/html")


def parse_epub(archive: Archive, defaults: Defaults) -> Parsed | Unreadable:
    if _RIGHTS in archive.names:
        return Unreadable("encrypted: the book is protected against copying")
    package = next((root.get("full-path", "") for root in archive.xml(_CONTAINER).iter("rootfile")), "")
    book = archive.xml(package)
    chapters = list(_chapters(book, posixpath.dirname(package), archive.names))
    composer, warnings = Composer(), []
    limit = defaults.reading.limits.pages
    if len(chapters) > limit:
        warnings.append(f"only the first {limit} of {len(chapters)} chapters are read (ingest.max_pages)")
    for number, name in enumerate(chapters[:limit], 1):
        if not _read_chapter(archive, name, number, composer, defaults):
            warnings.append(f"chapter {number} is damaged, and left out")
    values = _about(book)
    return composer.parsed(
        values.get("title", ""), defaults, metadata=metadata_of(values, defaults), warnings=warnings
    )


FORMAT = Format(Media.BOOK, VERSION, Archived(parse_epub), by_place.CHUNKER, isolated=True)


def _about(book: Element) -> dict[str, str]:
    """What the book says of itself: the first title and day, which are the main ones, and all authors."""
    about = book.find("metadata")
    values: dict[str, str] = {}
    for found in about if about is not None else ():
        said = (found.text or "").strip()
        if said and found.tag == "creator" and "creator" in values:
            values["creator"] += f", {said}"
        elif said:
            values.setdefault(found.tag, said)
    return values


def _chapters(book: Element, folder: str, names: frozenset[str]) -> Iterator[str]:
    items = {item.get("id", ""): item for item in book.iter("item")}
    for entry in book.iter("itemref"):
        item = items.get(entry.get("idref", ""))
        if (
            item is None
            or item.get("media-type") not in _PAGES
            or "nav" in item.get("properties", "").split()
        ):
            continue
        name = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        if name in names:
            yield name


def _read_chapter(archive: Archive, name: str, number: int, composer: Composer, defaults: Defaults) -> bool:
    try:
        text = html_text(archive.read(name))
    except Refused as error:
        if "damaged" not in str(error):
            raise
        return False
    if isinstance(text, Unreadable):
        return False
    composer.close_sections()
    events = list(defaults.reading.engines.html().events(text))
    add_html(composer, chapter_part(events), paragraphs(number))
    return True
