"""HWPX, the archive of XML that Hangul writes: headings, paragraphs, tables, boxes and notes, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from kebab.domain.documents import BlockKind, Media
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Archive, Archived, Refused
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.html import paragraphs
from kebab.ingest.parse.hwpx_numbers import Numbering
from kebab.ingest.parse.office import metadata_of
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable

VERSION = "hwpx-v2"

_KOREAN_DAY = re.compile(r"(\d{4})년 (\d{1,2})월 (\d{1,2})일")
_LEAST_LETTERS = 2
_SECTION = re.compile(r"Contents/section(\d{1,5})\.xml", re.IGNORECASE)
_HEADER = "Contents/header.xml"
_MANIFEST = "META-INF/manifest.xml"
_PACKAGE = "Contents/content.hpf"
_SIGNS = {"lineBreak": "\n", "tab": "\t", "nbSpace": " ", "fwSpace": " ", "hyphen": "-"}
_THROUGH = frozenset(
    {"switch", "case", "container", "rect", "ellipse", "arc", "polygon", "curve", "pic", "line"}
)
"""What holds texts further inside: shapes and their groups."""
_NOTES = {"footNote": "", "endNote": "e", "MEMO": "m"}
"""At the foot of a page, at the end, and what somebody remarked on a place of the text."""
_LONGEST_HEADING = 100
_DEEPEST_HEADING = 3
_WIDEST = 200


def parse_hwpx(archive: Archive, defaults: Defaults) -> Parsed | Unreadable:
    if _MANIFEST in archive.names and b"encryption-data" in archive.read(_MANIFEST):
        raise Refused("encrypted: it opens with a password only; save a copy without one")
    sections = sorted((int(found[1]), found[0]) for found in map(_SECTION.fullmatch, archive.names) if found)
    if not sections:
        raise Refused("damaged, or no document of Hangul")
    header = archive.xml(_HEADER) if _HEADER in archive.names else None
    reader = _HwpxReader(Numbering(header))
    for _, name in sections:
        reader.section(archive.xml(name))
    reader.notes()
    about = _about(archive)
    made = hangul_day(about.get("date", "")) or about.get("CreatedDate", "")
    metadata = metadata_of({"creator": about.get("creator", ""), "created": made}, defaults)
    return reader.composer.parsed(hangul_title(about.get("title", "")), defaults, metadata=metadata)


FORMAT = Format(Media.DOCUMENT, VERSION, Archived(parse_hwpx), by_place.CHUNKER, isolated=True)


def hangul_title(written: str) -> str:
    """The title, unless it is the number that many a document begins with: Hangul keeps its first words."""
    return written if sum(map(str.isalpha, written)) >= _LEAST_LETTERS else ""


def hangul_day(written: str) -> str:
    """``2021년 11월 8일 월요일 …``, as Hangul writes it, as a date."""
    found = _KOREAN_DAY.match(written)
    return f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}" if found else written


def _about(archive: Archive) -> dict[str, str]:
    if _PACKAGE not in archive.names:
        return {}
    try:
        package = archive.xml(_PACKAGE)
    except Refused:
        return {}
    named = {one.get("name", ""): (one.text or "").strip() for one in package.iter("meta")}
    title = package.find("metadata/title")
    return {**named, "title": (title.text or "").strip() if title is not None else ""}


class _HwpxReader:
    def __init__(self, numbering: Numbering) -> None:
        self.composer = Composer()
        self._numbering = numbering
        self._placing = paragraphs()
        self._noted: list[str] = []

    def section(self, root: Element) -> None:
        for outline in root.iter("secPr"):
            self._numbering.outline = outline.get("outlineShapeIDRef", "")
        self._paragraphs(root)

    def notes(self) -> None:
        for text in self._noted:
            self.composer.block(BlockKind.PARAGRAPH, text, self._placing())

    def _paragraphs(self, parent: Element) -> None:
        for found in parent:
            if found.tag == "p":
                self._paragraph(found)
            elif found.tag == "tbl":  # some programs leave out the paragraph around it
                self._table(found)

    def _paragraph(self, paragraph: Element) -> None:
        text, objects = self._taken_apart(paragraph)
        if text:
            self._write(text, paragraph.get("paraPrIDRef", ""))
        for found in objects:
            if found.tag == "tbl":
                self._table(found)
            else:
                self._paragraphs(found)

    def _write(self, text: str, form: str) -> None:
        level, number = self._numbering.next(form)
        numbered = f"{number} {text}" if number else text
        if level and level <= _DEEPEST_HEADING and len(text) <= _LONGEST_HEADING and "\n" not in text:
            self.composer.heading(level, numbered, self._placing())
        else:
            kind = BlockKind.LIST if number == "-" else BlockKind.PARAGRAPH
            self.composer.block(kind, numbered, self._placing())

    def _taken_apart(self, paragraph: Element) -> tuple[str, list[Element]]:
        """The words of a paragraph, and the tables and boxes that hang on it."""
        words: list[str] = []
        objects: list[Element] = []
        for run in paragraph.findall("run"):
            for part in run:
                if part.tag == "t":
                    words.append(_said(part))
                elif part.tag == "ctrl":
                    words += map(self._control, part)
                else:
                    words.append(_inline(part))
                    objects += _inside(part)
        lines = (line.strip() for line in "".join(words).split("\n"))
        return "\n".join(line for line in lines if line), objects

    def _control(self, control: Element) -> str:
        """What stands in the line for a note or a number; heads and feet of pages are left out."""
        if control.tag == "autoNum":
            return (
                control.get("num", "") if control.get("numType") in ("TABLE", "PICTURE", "EQUATION") else ""
            )
        kind = control.get("type", "") if control.tag == "fieldBegin" else control.tag
        if kind not in _NOTES:
            return ""
        mark = f"[^{_NOTES[kind]}{len(self._noted) + 1}]"
        at = len(self._noted)
        self._noted.append("")
        said = " ".join(filter(None, self._texts(control)))
        self._noted[at] = f"{mark}: {said}" if said else ""
        return mark if said else ""

    def _texts(self, container: Element) -> Iterator[str]:
        """All that is said inside, paragraph by paragraph, also in tables and boxes of its own."""
        for found in container.findall("subList") or [container]:
            for paragraph in found.findall("p"):
                text, objects = self._taken_apart(paragraph)
                _, number = self._numbering.next(paragraph.get("paraPrIDRef", ""))
                yield f"{number} {text}".strip() if text else ""
                for inner in objects:
                    # Its own cells: those of tables inside of it are read with the cells that hold them.
                    cells = inner.findall("tr/tc") if inner.tag == "tbl" else [inner]
                    for cell in cells:
                        yield from self._texts(cell)

    def _table(self, table: Element) -> None:
        for caption in table.findall("caption/subList"):
            self._paragraphs(caption)
        cells = list(_cells(table))
        if len({column for _, column, _ in cells}) <= 1:
            for _, _, cell in cells:  # a frame around text
                for held in cell.findall("subList") or [cell]:
                    self._paragraphs(held)
            return
        said: dict[tuple[int, int], list[str]] = {}
        for row, column, cell in cells:  # of a damaged table, several may claim one place
            said.setdefault((row, column), []).extend(filter(None, self._texts(cell)))
        self._rows({place: "\n".join(texts) for place, texts in said.items() if texts})

    def _rows(self, texts: dict[tuple[int, int], str]) -> None:
        """A table without the rows and columns that hold nothing; one column of it is a frame around text."""
        columns = sorted({column for _, column in texts})
        rows = sorted({row for row, _ in texts})
        if len(columns) == 1:
            for row in rows:
                self.composer.block(BlockKind.PARAGRAPH, texts[row, columns[0]], self._placing())
        elif rows:
            written = [[texts.get((row, column), "") for column in columns] for row in rows]
            self.composer.table(written, self._placing())


def _cells(table: Element) -> Iterator[tuple[int, int, Element]]:
    for row, held in enumerate(table.findall("tr")):
        for number, cell in enumerate(held.findall("tc")):
            address = cell.find("cellAddr")
            column = (address.get("colAddr", "") if address is not None else "")[:4]
            at = int(column) if column.isdecimal() else number
            yield row, min(at, _WIDEST), cell


def _inside(part: Element) -> list[Element]:
    """The tables, and the texts of boxes and captions, of an object; not those inside of them."""
    found: list[Element] = []
    pending = [part]
    while pending:
        one = pending.pop()
        if one.tag in ("tbl", "subList"):
            found.append(one)
        elif one.tag in _THROUGH or one.tag in ("drawText", "caption", "default", "equation", "ole"):
            pending.extend(reversed(one))
    return found


def _inline(part: Element) -> str:
    """What stands in the line itself: formulas as they were typed, and letters set above others."""
    if part.tag == "equation":
        script = part.find("script")
        return f" {(script.text or '').strip()} " if script is not None else ""
    if part.tag == "dutmal":
        return "".join(one.text or "" for one in part if one.tag in ("mainText", "subText"))
    return part.get("text", "") if part.tag == "textart" else ""


def _said(text: Element) -> str:
    """The words of a run, without those that a tracked change has deleted."""
    words, deleted = [text.text or ""], False
    for sign in text:
        if sign.tag in ("deleteBegin", "deleteEnd"):
            deleted = sign.tag == "deleteBegin"
        words.append(_SIGNS.get(sign.tag, ""))
        words.append("" if deleted else sign.tail or "")
    return "".join(words)
