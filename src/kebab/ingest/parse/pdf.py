"""PDF: the text layer, page by page. What a page cites is its number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.places import Page
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.pdf_layout import look_at
from kebab.ports import PdfFile, PdfPage, Unopened

VERSION = "pdf-v1"

_NO_TEXT = "no text layer: its pages are images"
_UNMAPPED = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
_UNMAPPED_SHARE = 0.3
_MEANINGLESS = re.compile(
    r"untitled|microsoft word|powerpoint|document\d|제목 없음|\.(?:docx?|hwp|tex|dvi|qxd)$", re.IGNORECASE
)


def parse_pdf(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    limit = defaults.reading.limits.pages
    with defaults.reading.engines.pdf().open(content, pages=limit) as found:
        if isinstance(found, Unopened):
            return Unreadable(found.reason)
        pages = list(found.pages)
    return _parsed(found, pages, defaults)


FORMAT = Format(Media.PDF, VERSION, parse_pdf, by_place.CHUNKER, isolated=True)


def _parsed(found: PdfFile, pages: Sequence[PdfPage], defaults: Defaults) -> Parsed | Unreadable:
    warnings = []
    if found.page_count > len(pages):
        warnings.append(
            f"only the first {len(pages)} of {found.page_count} pages are read (ingest.max_pages)"
        )
    readable = [page for page in pages if not _is_unmapped(page)]
    if len(readable) < len(pages):
        warnings.append(f"{len(pages) - len(readable)} pages hide which letters they show, and are left out")
    composer = Composer()
    layout = look_at(readable, found.outline)
    for page in readable:
        for text, level in layout.paragraphs(page):
            if level:
                composer.heading(level, text, Page(page.number))
            else:
                composer.block(BlockKind.PARAGRAPH, text, Page(page.number))
    if not composer and not warnings:
        return Unreadable(_NO_TEXT)
    metadata = Metadata(
        source_type=defaults.source_type, trust_level=defaults.trust_level, created_at=found.created or None
    )
    title = "" if _MEANINGLESS.search(found.title) else found.title.strip()
    if not title and readable:
        title = layout.title(readable[0])
    return composer.parsed(title, defaults, metadata=metadata, warnings=warnings)


def _is_unmapped(page: PdfPage) -> bool:
    text = "".join(line.text for line in page.lines)
    return len(_UNMAPPED.findall(text)) > _UNMAPPED_SHARE * len(text)
