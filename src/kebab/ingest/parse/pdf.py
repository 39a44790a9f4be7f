"""PDF: the text layer, page by page. What a page cites is its number."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.places import Page, Region
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.image import add_recognised
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.pdf_layout import Layout, look_at
from kebab.ports import PdfFile, PdfPage, PdfReader, Recognised, TextRecogniser, Unopened

VERSION = "pdf-v5"

_NO_TEXT = "no text layer: its pages are images, and OCR is off (ingest.ocr)"
_DPI = 200
_UNMAPPED = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
_UNMAPPED_SHARE = 0.3
_MEANINGLESS = re.compile(
    r"untitled|microsoft word|powerpoint|document\d|제목 없음|\.(?:docx?|hwp|tex|dvi|qxd)$", re.IGNORECASE
)


def parse_pdf(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    limit = defaults.reading.limits.pages
    reader = defaults.reading.engines.pdf()
    with reader.open(content, pages=limit) as found:
        if isinstance(found, Unopened):
            return Unreadable(found.reason)
        pages = list(found.pages)
    scanned = [page for page in pages if not page.lines or _is_unmapped(page)]
    recogniser = defaults.reading.engines.ocr() if scanned else None
    seen = _Scans(reader, recogniser, content, defaults.reading.limits.ocr_seconds) if recogniser else None
    return _parsed(found, pages, defaults, seen)


FORMAT = Format(Media.PDF, VERSION, parse_pdf, by_place.CHUNKER, isolated=True)


class _Scans:
    """The text of pages that are images, as long as there is time."""

    def __init__(self, reader: PdfReader, recogniser: TextRecogniser, content: bytes, seconds: float) -> None:
        self._reader, self._recogniser, self._content = reader, recogniser, content
        self._until = time.monotonic() + seconds
        self.left_out = 0

    def add(self, composer: Composer, page: PdfPage) -> None:
        if time.monotonic() > self._until:
            self.left_out += 1
            return
        picture = self._reader.picture(self._content, page.number, dpi=_DPI)
        if isinstance(picture, Unopened):
            self.left_out += 1
            return
        composer.close_sections()
        found = self._recogniser.read_picture(picture)
        add_recognised(composer, found, lambda one: _on_page(one, page.number))


def _on_page(one: Recognised, number: int) -> Region:
    """From pixels to the units of the page."""
    left, top, width, height = (
        round(72 * value / _DPI) for value in (one.left, one.top, one.width, one.height)
    )
    return Region(left, top, width, height, page=number)


def _parsed(
    found: PdfFile, pages: Sequence[PdfPage], defaults: Defaults, scans: _Scans | None
) -> Parsed | Unreadable:
    warnings = []
    if found.page_count > len(pages):
        warnings.append(
            f"only the first {len(pages)} of {found.page_count} pages are read (ingest.max_pages)"
        )
    readable = [page for page in pages if not _is_unmapped(page)]
    if len(readable) < len(pages) and scans is None:
        warnings.append(f"{len(pages) - len(readable)} pages hide which letters they show, and are left out")
    composer = Composer()
    layout = look_at(readable, found.outline)
    for page in pages:
        if page.lines and not _is_unmapped(page):
            _add_page(composer, page, layout)
        elif scans is not None:
            scans.add(composer, page)
    if scans is not None and scans.left_out:
        warnings.append(f"{scans.left_out} scanned pages are not read, for want of time or size")
    if not composer and not warnings:
        return Unreadable(_NO_TEXT)
    metadata = Metadata(
        source_type=defaults.source_type, trust_level=defaults.trust_level, created_at=found.created or None
    )
    title = "" if _MEANINGLESS.search(found.title) else found.title.strip()
    if not title and readable:
        title = layout.title(readable[0])
    return composer.parsed(title, defaults, metadata=metadata, warnings=warnings)


def _add_page(composer: Composer, page: PdfPage, layout: Layout) -> None:
    for text, level in layout.paragraphs(page):
        if level:
            composer.heading(level, text, Page(page.number))
        else:
            composer.block(BlockKind.PARAGRAPH, text, Page(page.number))


def _is_unmapped(page: PdfPage) -> bool:
    text = "".join(line.text for line in page.lines)
    return len(_UNMAPPED.findall(text)) > _UNMAPPED_SHARE * len(text)
