"""OpenDocument texts (ODT, by paragraph) and presentations (ODP, by slide)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from xml.etree.ElementTree import Element

from kebab.domain.documents import BlockKind, Media
from kebab.domain.places import Slide
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Archive, Archived, Refused
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.html import paragraphs
from kebab.ingest.parse.html_blocks import Placing
from kebab.ingest.parse.office import About, metadata_of
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable

VERSION = "odf-v5"

_MAIN = "content.xml"
_STYLES = "styles.xml"
_ABOUT = "meta.xml"
_TITLE = "Title"
_MANIFEST = "META-INF/manifest.xml"
_SKIPPED = frozenset({"tracked-changes", "annotation", "table-of-content", "note-citation", "forms"})
_MOST_REPEATED = 50


@dataclass(frozen=True)
class _Styles:
    numbered: Mapping[str, frozenset[str]]
    """Which levels of which styles of lists are numbered."""
    titles: frozenset[str]
    """The styles of paragraphs that are the title of the document."""


def parse_odt(archive: Archive, defaults: Defaults) -> Parsed | Unreadable:
    body, styles = _body(archive, "text")
    reader = _OdfReader(Composer(), paragraphs(), styles)
    reader.read(body)
    reader.finish()
    found = _about(archive, defaults)
    return reader.composer.parsed(found.title or reader.title, defaults, metadata=found.metadata)


def parse_odp(archive: Archive, defaults: Defaults) -> Parsed | Unreadable:
    composer = Composer()
    body, styles = _body(archive, "presentation")
    for number, page in enumerate(body.iter("page"), 1):
        if number > defaults.reading.limits.pages:
            break
        composer.close_sections()
        reader = _OdfReader(composer, partial(Slide, number), styles)
        reader.read_titles(page)
        reader.read(page)
        reader.finish()
    found = _about(archive, defaults)
    return composer.parsed(found.title, defaults, metadata=found.metadata)


def _parse(archive: Archive, defaults: Defaults) -> Parsed | Unreadable:
    return (parse_odp if defaults.extension == ".odp" else parse_odt)(archive, defaults)


FORMAT = Format(Media.DOCUMENT, VERSION, Archived(_parse), by_place.CHUNKER, isolated=True)


def _body(archive: Archive, kind: str) -> tuple[Element, _Styles]:
    if _MANIFEST in archive.names and archive.xml(_MANIFEST).find(".//encryption-data") is not None:
        raise Refused("encrypted: it opens with a password only; save a copy without one")
    root = archive.xml(_MAIN)
    found = root.find(f"body/{kind}")
    if found is None:
        raise Refused(f"damaged: {_MAIN} in it holds no {kind}")
    parts = [archive.xml(_STYLES)] if _STYLES in archive.names else []
    parts.append(root)
    numbered = {name: levels for part in parts for name, levels in _numbered(part)}
    return found, _Styles(numbered, frozenset(name for part in parts for name in _titles(part)))


def _numbered(part: Element) -> Iterator[tuple[str, frozenset[str]]]:
    for style in part.iter("list-style"):
        shown = (level for level in style.iter("list-level-style-number") if level.get("num-format"))
        yield style.get("name", ""), frozenset(level.get("level", "") for level in shown)


def _titles(part: Element) -> Iterator[str]:
    yield _TITLE
    for style in part.iter("style"):
        if style.get("parent-style-name") == _TITLE:
            yield style.get("name", "")


def _about(archive: Archive, defaults: Defaults) -> About:
    values: dict[str, str] = {}
    if _ABOUT in archive.names:
        meta = archive.xml(_ABOUT).find("meta")
        values = {found.tag: (found.text or "").strip() for found in meta} if meta is not None else {}
    return About(values.get("title", ""), metadata_of(values, defaults))


class _OdfReader:
    def __init__(self, composer: Composer, placing: Placing, styles: _Styles) -> None:
        self._styles = styles
        self._last: dict[tuple[str, int], int] = {}
        """The last number of a style of lists at a depth, for lists that go on."""
        self.composer = composer
        self.title = ""
        self._in_list = False
        self._placing = placing
        self._notes: list[str] = []

    def read_titles(self, page: Element) -> None:
        """The titles of a slide open it, wherever they stand in the file."""
        for frame in filter(_is_title, page.iter("frame")):
            words = " ".join(text for box in frame.iter("text-box") for text in self._text(box).split())
            self.composer.heading(2, words, self._placing())

    def read(self, container: Element, *, depth: int = 0, style: str = "", mark: str = "- ") -> None:
        """Depth is bounded, since that of the XML is; ``mark`` opens the item of a list."""
        first = True
        for child in container:
            if child.tag == "h":
                level = child.get("outline-level", "1")
                depth_of = int(level) if level.isdecimal() and len(level) < 3 else 1
                self.composer.heading(depth_of, self._text(child), self._placing())
            elif child.tag == "p":
                self._paragraph(child, depth, mark if first else " " * len(mark))
                first = False
            elif child.tag == "list":
                self._list(child, depth + 1, child.get("style-name") or style)
            elif child.tag == "table":
                self._table(child)
            elif child.tag not in _SKIPPED and not _is_title(child):
                self.read(child, depth=depth, style=style, mark=mark)

    def _list(self, found: Element, depth: int, style: str) -> None:
        goes_on = found.get("continue-numbering") == "true" or found.get("continue-list")
        number = self._last.get((style, depth), 0) if goes_on else 0
        shown = str(depth) in self._styles.numbered.get(style, ())
        for item in found:
            start = item.get("start-value", "")
            if item.tag == "list-item":
                number = int(start) if start.isdecimal() and len(start) < 9 else number + 1
            counted = shown and item.tag == "list-item"
            self.read(item, depth=depth, style=style, mark=f"{number}. " if counted else "- ")
        self._last[style, depth] = number

    def finish(self) -> None:
        """Notes stand at the end, as in a printed text."""
        for number, note in enumerate(self._notes, 1):
            self.composer.block(BlockKind.PARAGRAPH, f"[^{number}]: {note}", self._placing())

    def _paragraph(self, paragraph: Element, depth: int, mark: str) -> None:
        text = self._text(paragraph)
        if text and paragraph.get("style-name") in self._styles.titles:
            self.title = self.title or text
        bullet = "  " * (min(depth, 9) - 1) + mark if depth else ""
        kind = BlockKind.LIST if depth else BlockKind.PARAGRAPH
        if text:
            self.composer.block(kind, bullet + text, self._placing(), tight=bool(depth) and self._in_list)
            self._in_list = bool(depth)
        for box in _outermost(paragraph, "text-box"):
            self.read(box)

    def _table(self, table: Element) -> None:
        self._in_list = False
        rows = [
            [" ".join(self._text(cell).split()) for cell in _cells(row)]
            for row in _outermost(table, "table-row")
        ]
        if any(map(any, rows)):
            self.composer.table(rows, self._placing())

    def _text(self, root: Element) -> str:
        words: list[str] = []
        pending: list[Element | str] = [root]
        while pending:
            found = pending.pop()
            if isinstance(found, str):
                words.append(found)
                continue
            if found.tag == "note":
                words.append(self._note(found))
                continue
            if found.tag in _SKIPPED or (found.tag == "text-box" and found is not root):
                continue
            words.append(_sign(found))
            for child in reversed(found):
                pending += [child.tail or "", child]
            if found.tag == "p" and found is not root:
                words.append("\n")
        return "\n".join(line.strip() for line in "".join(words).split("\n") if line.strip())

    def _note(self, note: Element) -> str:
        body = note.find("note-body")
        if body is None:
            return ""
        self._notes.append(" ".join(self._text(body).split()))
        return f"[^{len(self._notes)}]"


def _outermost(root: Element, tag: str) -> Iterator[Element]:
    """Those inside that are not inside another one, in order: what holds others reads them itself."""
    pending = list(reversed(root))
    while pending:
        found = pending.pop()
        if found.tag == tag:
            yield found
        else:
            pending.extend(reversed(found))


def _is_title(found: Element) -> bool:
    return found.tag == "frame" and found.get("class") == "title"


def _sign(found: Element) -> str:
    if found.tag == "s":
        return " "
    return {"tab": "\t", "line-break": "\n"}.get(found.tag, found.text or "")


def _cells(row: Element) -> Iterator[Element]:
    for cell in row:
        if cell.tag in ("table-cell", "covered-table-cell"):
            repeated = cell.get("number-columns-repeated", "1")
            times = int(repeated) if repeated.isdecimal() and len(repeated) < 6 else 1
            yield from [cell] * min(times, _MOST_REPEATED if len(cell) else 1)
