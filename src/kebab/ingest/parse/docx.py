"""DOCX: headings, paragraphs, lists, tables and notes, counted in paragraphs. Macros are never looked at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from kebab.domain.documents import BlockKind, Media
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Archive, Archived
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.grids import span, without_empty
from kebab.ingest.parse.html import paragraphs
from kebab.ingest.parse.html_blocks import Placing
from kebab.ingest.parse.office import about
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable

VERSION = "docx-v2"

_MAIN = "word/document.xml"
_HEADING = re.compile(r"(?:heading|제목|개요)\s?([1-9])", re.IGNORECASE)
_SKIPPED = frozenset({"Fallback", "del", "moveFrom", "instrText", "delText", "pPr", "rPr", "tblPr", "tcPr"})
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_THROUGH = frozenset(
    {"sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag", "AlternateContent", "Choice"}
)


def parse_docx(archive: Archive, defaults: Defaults) -> Parsed | Unreadable:
    links = archive.links("")
    main = next((name for kind, name in links.values() if kind == "officeDocument"), _MAIN)
    reader = _DocxReader(archive, main)
    reader.body(archive.xml(main))
    reader.notes()
    found = about(archive, defaults)
    return reader.composer.parsed(found.title or reader.title, defaults, metadata=found.metadata)


FORMAT = Format(Media.DOCUMENT, VERSION, Archived(parse_docx), by_place.CHUNKER, isolated=True)


class _DocxReader:
    def __init__(self, archive: Archive, main: str) -> None:
        self.composer = Composer()
        self.title = ""
        self._archive = archive
        self._links = archive.links(main)
        self._levels = dict(_heading_styles(self._part("styles")))
        self._bullets = _bulleted(self._part("numbering"))
        self._numbers: Counter[tuple[str, int]] = Counter()
        self._placing: Placing = paragraphs()
        self._in_list = False

    def body(self, root: Element) -> None:
        body = root.find("body")
        for block in _blocks(body if body is not None else root):
            if block.tag == "p":
                self._paragraph(block)
            else:
                self._table(block)

    def notes(self) -> None:
        for kind, tag in (("footnotes", "footnote"), ("endnotes", "endnote")):
            part = self._part(kind)
            for note in part.iter(tag) if part is not None else ():
                if note.get("type") is None and (text := _text(note)):
                    self.composer.block(
                        BlockKind.PARAGRAPH, f"{_note_mark(tag, note)}: {text}", self._placing()
                    )

    def _part(self, kind: str) -> Element | None:
        name = next((name for found, name in self._links.values() if found == kind), None)
        return self._archive.xml(name) if name in self._archive.names and name else None

    def _paragraph(self, paragraph: Element) -> None:
        text = _text(paragraph)
        boxes = list(_boxes(paragraph))
        if text:
            self._write(text, paragraph.find("pPr"))
        for box in boxes:
            self.body(box)

    def _write(self, text: str, properties: Element | None) -> None:
        level = self._level(properties)
        if level == 0 or (level and len(text) > 300):
            self.title = self.title or text
        if level is not None and len(text) <= 300:
            self._in_list = False
            self.composer.heading(max(level, 1), text, self._placing())
            return
        bullet = self._bullet(properties)
        kind = BlockKind.LIST if bullet else BlockKind.PARAGRAPH
        tight = bool(bullet) and self._in_list
        self.composer.block(
            kind, bullet + text.replace("\n", "\n" + " " * len(bullet)), self._placing(), tight=tight
        )
        self._in_list = bool(bullet)

    def _level(self, properties: Element | None) -> int | None:
        """0 for a title, 1 to 9 for headings, None for anything else."""
        if properties is None:
            return None
        own = _number(properties.find("outlineLvl"))
        if own is not None:
            return own + 1 if own < 9 else None
        style = properties.find("pStyle")
        return self._levels.get(style.get("val", "")) if style is not None else None

    def _bullet(self, properties: Element | None) -> str:
        numbering = properties.find("numPr") if properties is not None else None
        if numbering is None:
            return ""
        level = min(_number(numbering.find("ilvl")) or 0, 8)
        found = numbering.find("numId")
        which = found.get("val", "") if found is not None else ""
        if which == "0":
            return ""
        if (which, level) in self._bullets:
            return "  " * level + "- "
        for deeper in range(level + 1, 9):
            self._numbers[which, deeper] = 0
        self._numbers[which, level] += 1
        return "  " * level + f"{self._numbers[which, level]}. "

    def _table(self, table: Element) -> None:
        self._in_list = False
        rows = list(_children(table, "tr"))
        cells = [cell for row in rows for cell in _cells(row)]
        if len(cells) == 1:
            self.body(cells[0])
        elif written := without_empty(list(_texts(row)) for row in rows):
            self.composer.table(written, self._placing())


def _texts(row: Element) -> Iterator[str]:
    """A text for each column: that of a cell that takes several stands in the first of them."""
    for cell in _cells(row):
        wide = cell.find("tcPr/gridSpan")
        yield _text(cell)
        yield from [""] * (span(wide.get("val") if wide is not None else None) - 1)


def _blocks(container: Element) -> Iterator[Element]:
    """Paragraphs and tables in order, also from inside content controls and insertions."""
    pending = list(reversed(container))
    while pending:
        found = pending.pop()
        if found.tag in ("p", "tbl"):
            yield found
        elif found.tag in _THROUGH:
            pending.extend(reversed(found))


def _children(parent: Element, tag: str) -> Iterator[Element]:
    pending = list(reversed(parent))
    while pending:
        found = pending.pop()
        if found.tag == tag:
            yield found
        elif found.tag in _THROUGH:
            pending.extend(reversed(found))


def _cells(row: Element) -> Iterator[Element]:
    return _children(row, "tc")


def _text(root: Element) -> str:
    """The words of a paragraph, or of the paragraphs of a cell or note; those of text boxes are left out."""
    words: list[str] = []
    pending: list[Element | str] = [root]
    while pending:
        found = pending.pop()
        if isinstance(found, str):
            words.append(found)
        elif found.tag == "t":
            words.append(found.text or "")
        elif found.tag in _SIGNS:
            words.append(_SIGNS[found.tag])
        elif found.tag in ("footnoteReference", "endnoteReference"):
            words.append(_note_mark(found.tag, found))
        elif found.tag not in _SKIPPED and not (found.tag == "txbxContent" and found is not root):
            if found.tag == "p" and found is not root:
                pending.append("\n")
            pending.extend(reversed(found))
    return "\n".join(line.strip() for line in "".join(words).split("\n") if line.strip())


def _note_mark(tag: str, note: Element) -> str:
    return f"[^{'e' if tag.startswith('end') else ''}{note.get('id')}]"


def _boxes(paragraph: Element) -> Iterator[Element]:
    """Text boxes of a paragraph. Each is written twice, for new and for old readers: the first is taken."""
    pending = list(reversed(paragraph))
    while pending:
        found = pending.pop()
        if found.tag == "txbxContent":
            yield found
        elif found.tag != "Fallback":
            pending.extend(reversed(found))


def _heading_styles(styles: Element | None) -> Iterator[tuple[str, int]]:
    """Levels by the id of the style: by what it says, by its name, or by the style that it is based on."""
    if styles is None:
        return
    found = {style.get("styleId", ""): style for style in styles.iter("style")}
    for name in found:
        level = _style_level(found, name)
        if level is not None:
            yield name, level


def _style_level(styles: dict[str, Element], name: str) -> int | None:
    seen: set[str] = set()
    while name in styles and name not in seen:
        seen.add(name)
        style = styles[name]
        outline = _number(style.find("pPr/outlineLvl"))
        if outline is not None:
            return outline + 1 if outline < 9 else None
        label = style.find("name")
        called = (label.get("val", "") if label is not None else "").strip()
        if called.lower() in ("title", "제목"):
            return 0
        if match := _HEADING.fullmatch(called):
            return int(match[1])
        base = style.find("basedOn")
        name = base.get("val", "") if base is not None else ""
    return None


def _bulleted(numbering: Element | None) -> frozenset[tuple[str, int]]:
    """The lists and levels whose items have a bullet, no number."""
    if numbering is None:
        return frozenset()
    forms: dict[tuple[str, int], str] = {}
    for abstract in numbering.iter("abstractNum"):
        for level in abstract.iter("lvl"):
            form = level.find("numFmt")
            depth = level.get("ilvl", "")
            if form is not None and depth.isdecimal():
                forms[abstract.get("abstractNumId", ""), int(depth)] = form.get("val", "")
    bullets = set()
    for number in numbering.iter("num"):
        base = number.find("abstractNumId")
        of = base.get("val", "") if base is not None else ""
        bullets |= {
            (number.get("numId", ""), level)
            for (abstract, level), form in forms.items()
            if abstract == of and form in ("bullet", "none")
        }
    return frozenset(bullets)


def _number(element: Element | None) -> int | None:
    value = element.get("val", "") if element is not None else ""
    return int(value) if value.isdecimal() and len(value) < 4 else None
