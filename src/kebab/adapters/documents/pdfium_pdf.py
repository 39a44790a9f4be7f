"""PDF through PDFium, the engine of Chromium: the text layer, line by line, and the outline."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from ctypes import c_int, create_string_buffer
from itertools import islice
from math import hypot
from statistics import median_low

import pypdfium2
import pypdfium2.raw as pdfium

from kebab.adapters.documents.pdfium_notes import written_on
from kebab.ports import PdfEntry, PdfFile, PdfLine, PdfPage, Picture, Unopened

_ENTRIES = 5000
_MOST_PIXELS = 40_000_000
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")
_LINE = re.compile(r"[^\r\n]+")
_BOLD_WEIGHT = 600
_BOLD_NAME = re.compile(rb"bold|black|heavy|demi|-medi$|cmbx|cmssbx", re.IGNORECASE)
# PDFium's signs for the hyphen of a word that it put together again.
_HYPHENS = str.maketrans({"\ufffe": None, "\x02": None})
_HYPHEN = re.compile(r"(?<=\S)[\ufffe\x02](?=\S)")
_ONE_WORD = 1.1
"""How much larger than the rest of its word a part of it may be."""


# What it warns of, such as an outline that is nested too deep, helps nobody on a terminal.
logging.getLogger("pypdfium2").setLevel(logging.ERROR)


class PdfiumReader:
    @contextmanager
    def open(self, content: bytes, *, pages: int) -> Iterator[PdfFile | Unopened]:
        try:
            document = pypdfium2.PdfDocument(content)
        except pypdfium2.PdfiumError as error:
            yield Unopened(_reason(str(error)))
            return
        with closing(document):
            if document.get_formtype() != pdfium.FORMTYPE_NONE:
                document.init_forms()
            about = document.get_metadata_dict()
            yield PdfFile(
                title=about.get("Title", ""),
                created=_date(about.get("CreationDate", "")),
                page_count=len(document),
                outline=tuple(_outline(document)),
                pages=_pages(document, min(pages, len(document))),
            )

    def picture(self, content: bytes, number: int, *, dpi: int) -> Picture | Unopened:
        try:
            with (
                closing(pypdfium2.PdfDocument(content)) as document,
                closing(document.get_page(number - 1)) as page,
            ):
                return _drawn(page, dpi / 72)
        except pypdfium2.PdfiumError as error:
            return Unopened(_reason(str(error)))


def _drawn(page: pypdfium2.PdfPage, scale: float) -> Picture | Unopened:
    width, height = page.get_size()
    if width * height * scale * scale > _MOST_PIXELS:
        return Unopened("the page is too large to be drawn")
    bitmap = page.render(scale=scale, grayscale=True)
    with closing(bitmap):
        rows, wide = bytes(bitmap.buffer), bitmap.width
        lines = (rows[at * bitmap.stride : at * bitmap.stride + wide] for at in range(bitmap.height))
        return Picture(wide, bitmap.height, b"".join(lines))


def _reason(error: str) -> str:
    if "assword" in error:
        return "encrypted: it opens with a password only; save a copy without one"
    return "damaged, or no PDF"


def _date(written: str) -> str:
    found = _DATE.match(written)
    if not found:
        return ""
    return f"{found[1]}-{found[2] or '01'}-{found[3] or '01'}"


def _outline(document: pypdfium2.PdfDocument) -> Iterator[PdfEntry]:
    try:
        for entry in islice(document.get_toc(max_depth=8), _ENTRIES):
            target = entry.get_dest()
            page = target.get_index() if target is not None else None
            if page is not None and page >= 0:
                yield PdfEntry(entry.level + 1, entry.get_title(), page + 1)
    except (pypdfium2.PdfiumError, ValueError, UnicodeDecodeError):
        return  # an outline is a help, no more


def _pages(document: pypdfium2.PdfDocument, count: int) -> Iterator[PdfPage]:
    for index in range(count):
        try:
            with closing(document.get_page(index)) as page, closing(page.get_textpage()) as text:
                width, height = page.get_size()
                yield PdfPage(index + 1, width, height, (*_lines(page, text, height), *written_on(page)))
        except pypdfium2.PdfiumError:
            yield PdfPage(index + 1, 0, 0, ())


def _lines(page: pypdfium2.PdfPage, text: pypdfium2.PdfTextPage, height: float) -> Iterator[PdfLine]:
    left, bottom, _, _ = page.get_cropbox()
    for start, drawn in _drawn_lines(text):
        lead = len(drawn) - len(drawn.lstrip())
        first, last = start + lead, start + len(drawn.rstrip()) - 1
        one, other = _box(text, first), _box(text, last)
        letters = [_letter(text, at) for at in {first, (first + last) // 2, last}]
        yield PdfLine(
            text=drawn[lead:].translate(_HYPHENS),
            left=min(one[0], other[0]) - left,
            top=height - (max(one[3], other[3]) - bottom),
            right=max(one[1], other[1]) - left,
            bottom=height - (min(one[2], other[2]) - bottom),
            # Of three letters: the first alone may be a number above the line, or a bold word that opens it.
            size=median_low(size for size, _ in letters) or round(one[3] - one[2], 1),
            bold=all(bold for _, bold in letters),
        )


def _drawn_lines(text: pypdfium2.PdfTextPage) -> Iterator[tuple[int, str]]:
    """Where each line that is not blank begins, and its letters."""
    whole = text.get_text_range(errors="replace")
    for found in _LINE.finditer(whole):
        start = found.start()
        for hyphen in _HYPHEN.finditer(whole, *found.span()):
            if not _is_one_word(_letter(text, hyphen.start() - 1)[0], _letter(text, hyphen.end())[0]):
                yield start, whole[start : hyphen.start()] + "-"
                start = hyphen.end()
        if whole[start : found.end()].strip():
            yield start, whole[start : found.end()]


def _is_one_word(size: float, following: float) -> bool:
    """PDFium joins a word that a hyphen cuts with whatever is drawn next, such as the foot of a page."""
    return not size or not following or max(size, following) < _ONE_WORD * min(size, following)


def _box(text: pypdfium2.PdfTextPage, index: int) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of the room of a letter, which has the height of its font."""
    at = pdfium.FPDFText_GetCharIndexFromTextIndex(text, index)
    room = pdfium.FS_RECTF()
    if at < 0 or not pdfium.FPDFText_GetLooseCharBox(text, at, room):
        return 0.0, 0.0, 0.0, 0.0
    return room.left, room.right, room.bottom, room.top


def _letter(text: pypdfium2.PdfTextPage, index: int) -> tuple[float, bool]:
    """Its size as it is drawn, 0 if unknown, and whether it is bold."""
    at = pdfium.FPDFText_GetCharIndexFromTextIndex(text, index)
    return (0.0, False) if at < 0 else (_size(text, at), _is_bold(text, at))


def _size(text: pypdfium2.PdfTextPage, at: int) -> float:
    """The size of the font as it is drawn; 0 if unknown. The height of the room differs from font to font."""
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(text, at, matrix):
        return 0.0
    size: float = pdfium.FPDFText_GetFontSize(text, at) * hypot(matrix.c, matrix.d)
    return round(2 * size) / 2


def _is_bold(text: pypdfium2.PdfTextPage, at: int) -> bool:
    name, flags = create_string_buffer(200), c_int()
    length = pdfium.FPDFText_GetFontInfo(text, at, name, 200, flags)
    if 1 < length <= 200:
        # Where a font is not in the file, its weight is a guess, and often wrong.
        return _BOLD_NAME.search(name.value) is not None
    return bool(pdfium.FPDFText_GetFontWeight(text, at) >= _BOLD_WEIGHT)
