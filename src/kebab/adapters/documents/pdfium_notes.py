"""What people wrote on a page of a PDF: the values of its form, and their notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from kebab.ports import PdfLine

_MOST = 2000
"""Fields and notes of a page."""
_LONGEST = 100_000
_SIZE = 10.0
"""Of letters whose size nobody states; never that of a heading."""
_FILLED_IN = (
    pdfium.FPDF_FORMFIELD_TEXTFIELD,
    pdfium.FPDF_FORMFIELD_COMBOBOX,
    pdfium.FPDF_FORMFIELD_LISTBOX,
)
_NOTES = (
    pdfium.FPDF_ANNOT_TEXT,
    pdfium.FPDF_ANNOT_FREETEXT,
    pdfium.FPDF_ANNOT_HIGHLIGHT,
    pdfium.FPDF_ANNOT_UNDERLINE,
    pdfium.FPDF_ANNOT_SQUIGGLY,
    pdfium.FPDF_ANNOT_STRIKEOUT,
    pdfium.FPDF_ANNOT_CARET,
    pdfium.FPDF_ANNOT_SQUARE,
    pdfium.FPDF_ANNOT_CIRCLE,
    pdfium.FPDF_ANNOT_INK,
    pdfium.FPDF_ANNOT_STAMP,
)
_UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN


def written_on(page: pypdfium2.PdfPage) -> Iterator[PdfLine]:
    """A line for each that is filled in or written, in the order of the file; none for what is hidden."""
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST)):
        with _annotation(page, index) as found:
            if found and not pdfium.FPDFAnnot_GetFlags(found) & _UNSEEN:
                yield from _lines(page, found, _said(page, found))


@contextmanager
def _annotation(page: pypdfium2.PdfPage, index: int) -> Iterator[Any]:
    found = pdfium.FPDFPage_GetAnnot(page, index)
    try:
        yield found
    finally:
        if found:
            pdfium.FPDFPage_CloseAnnot(found)


def _said(page: pypdfium2.PdfPage, annotation: Any) -> str:
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if kind in _NOTES:
        return _string(lambda *room: pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", *room))
    form = page.formenv
    if kind != pdfium.FPDF_ANNOT_WIDGET or form is None:
        return ""
    if pdfium.FPDFAnnot_GetFormFieldType(form, annotation) not in _FILLED_IN:
        return ""
    return _string(lambda *room: pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, *room))


def _string(ask: Callable[..., int]) -> str:
    """What an interface gives that is asked for the length first, in bytes with a closing zero."""
    length = ask(None, 0)
    if not 2 < length <= _LONGEST:
        return ""
    room = (pdfium.FPDF_WCHAR * (length // 2))()
    ask(room, length)
    return bytes(room).decode("utf-16-le", errors="replace").rstrip("\0")


def _lines(page: pypdfium2.PdfPage, annotation: Any, said: str) -> Iterator[PdfLine]:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    place = pdfium.FS_RECTF()
    if not lines or not pdfium.FPDFAnnot_GetRect(annotation, place):
        return
    left, _, _, top = page.get_cropbox()
    above = top - place.top
    for number, line in enumerate(lines):
        begins = above + number * _SIZE
        yield PdfLine(
            line, place.left - left, begins, place.right - left, begins + _SIZE, size=_SIZE, bold=False
        )
