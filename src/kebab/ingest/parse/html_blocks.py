"""From the tags and texts of a page to blocks: headings, paragraphs, lists, code, tables, quotes.

One pass, with a stack of its own. A table that holds headings, lists or tables lays out the page: its cells
are read as the page's own text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from kebab.domain.documents import BlockKind
from kebab.domain.places import Place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.grids import Grid
from kebab.ports import HtmlEvent, HtmlEventKind

_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "en-note", "fieldset", "figcaption", "figure", "footer", "form", "header",
    "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup", "option",
    "p", "plaintext", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
    "ul", "xmp",
})  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_VERBATIM = frozenset({"pre", "listing", "xmp", "plaintext"})
_LAYING_OUT = frozenset({*_HEADINGS, *_LISTS, *_VERBATIM, "table", "dl", "blockquote"})
_BREAK = "\x01"
"""Stands for a line break that was asked for; no white space, and no sign of any text."""
_DEEPEST_ITEM = 8
_SHORTEST_ALT = 3
_TELLS_NOTHING = re.compile(
    r"\(missing alt\)|images?|img|picture|photo|figure|logo|icon|bullet|spacer|next|prev(?:ious)?|up|home|top"
    r"|contents|index|\S{1,120}\.(?:png|jpe?g|gif|svg|webp|bmp)",
    re.IGNORECASE,
)
"""Alternatives of images that are no words for what they show."""
_CHOSEN = "selected-value"
"""What Notion calls each tag in a cell; only their colours keep them apart there."""
_ANCHORS = "¶§🔗# "
"""What generators put beside a heading, to link to it."""

Placing = Callable[[], Place]
"""The place of the next block."""


def add_html(composer: Composer, events: Sequence[HtmlEvent], placing: Placing) -> None:
    """Adds what the events hold to the composer, each block at the place that is next."""
    reader = _BlockReader(composer, placing, _layout_tables(events))
    for at, event in enumerate(events):
        if event.kind is HtmlEventKind.TEXT:
            reader.text(event.value)
        elif event.kind is HtmlEventKind.OPEN:
            reader.open(at, event)
        else:
            reader.close(event.value)
    reader.finish()


def _layout_tables(events: Sequence[HtmlEvent]) -> frozenset[int]:
    """Where the tables begin that are no tables; each looked at once, however deep they are nested."""
    found: set[int] = set()
    tables: list[int] = []
    for at, event in enumerate(events):
        if event.kind is HtmlEventKind.OPEN:
            if tables and event.value in _LAYING_OUT:
                found.add(tables[-1])
            if event.value == "table":
                tables.append(at)
        elif event.kind is HtmlEventKind.CLOSE and event.value == "table" and tables:
            tables.pop()
    return frozenset(found)


class _BlockReader:
    def __init__(self, composer: Composer, placing: Placing, layout: frozenset[int]) -> None:
        self._composer = composer
        self._placing = placing
        self._layout = layout
        self._words: list[str] = []
        self._heading = 0
        self._verbatim = 0
        self._quotes = 0
        self._lists: list[int | None] = []
        """For each open list the number of its last item; None for bullets."""
        self._bullet = ""
        self._after_item = False
        self._tables: list[bool] = []
        """For each open table whether it is one."""
        self._grid = Grid()
        self._cell: Mapping[str, str] = {}
        self._pictured = ""
        """What an image is said to show, until it is known that its caption does not say the same."""
        self._opened_by_picture = False
        """Whether that image stands in the paragraph that is being read."""
        self._said = ""
        """The paragraph before."""

    def text(self, text: str) -> None:
        self._words.append(text.replace(_BREAK, ""))

    def open(self, at: int, event: HtmlEvent) -> None:
        name = event.value
        if name == "table":
            self._flush()
            self._tables.append(at not in self._layout)
            self._grid = Grid()
        elif self._in_table:
            self._open_in_table(name, event)
        elif name in _HEADINGS:
            self._flush()
            self._heading = _HEADINGS[name]
        elif name in _VERBATIM:
            self._flush()
            self._verbatim += 1
        elif name in _BLOCKS:
            self._flush()
            self._enter(name, event)
        elif name == "br":
            self._words.append("\n" if self._verbatim else f" {_BREAK} ")
        elif name == "img" and (shown := _shown(event.attributes.get("alt", ""))):
            self._picture(shown)

    def close(self, name: str) -> None:
        if name == "table":
            self._close_table()
        elif self._in_table:
            self._close_in_table(name)
        elif name in _HEADINGS:
            self._close_heading()
        elif name in _VERBATIM and self._verbatim:
            self._close_verbatim()
        elif name in _BLOCKS:
            self._flush()
            self._leave(name)

    def finish(self) -> None:
        self._flush()
        self._show("")

    @property
    def _in_table(self) -> bool:
        return bool(self._tables) and self._tables[-1]

    def _enter(self, name: str, event: HtmlEvent) -> None:
        if name in _LISTS:
            start = event.attributes.get("start", "")
            ordered = name == "ol"
            self._lists.append((int(start[:6]) if start[:6].isdecimal() else 1) - 1 if ordered else None)
        elif name == "li":
            self._begin_item()
        elif name == "blockquote":
            self._quotes += 1

    def _leave(self, name: str) -> None:
        if name in _LISTS and self._lists:
            self._lists.pop()
            self._after_item = bool(self._lists)
        elif name == "blockquote":
            self._quotes = max(0, self._quotes - 1)

    def _begin_item(self) -> None:
        number = self._lists[-1] if self._lists else None
        indent = "  " * min(len(self._lists) - 1, _DEEPEST_ITEM)
        if number is not None:
            self._lists[-1] = number + 1
            self._bullet = f"{indent}{number + 1}. "
        else:
            self._bullet = f"{indent}- "

    def _close_heading(self) -> None:
        text = _flat("".join(self._words)).replace("\n", " ")
        if text.strip(_ANCHORS):
            self._show(text)
            self._composer.heading(self._heading or 1, text.strip(_ANCHORS), self._placing())
        self._words, self._heading = [], 0
        self._after_item = False

    def _close_verbatim(self) -> None:
        self._verbatim -= 1
        if not self._verbatim:
            code = "".join(self._words)
            if code.strip():
                self._show("")
                self._composer.code(code, self._placing())
            self._words, self._after_item = [], False

    def _picture(self, shown: str) -> None:
        """Words for an image: in a paragraph they stand where it does, alone they may repeat its caption."""
        if self._heading or self._lists or "".join(self._words).strip():
            self._words.append(f" {shown} ")
        elif shown not in self._said and shown != self._pictured:
            self._show("")
            self._pictured, self._opened_by_picture = shown, True

    def _show(self, following: str) -> None:
        """Write the words of the image before, unless what follows says them."""
        shown, self._pictured = self._pictured, ""
        if shown and shown not in following:
            self._composer.block(BlockKind.PARAGRAPH, shown, self._placing())

    def _flush(self) -> None:
        """End the paragraph, or the line of a list, that was being read."""
        if self._verbatim:
            return  # blocks inside a listing are lines of it
        text = _flat("".join(self._words))
        self._words = []
        opened, self._opened_by_picture = self._opened_by_picture, False
        if not text:
            return
        if opened and self._pictured not in text:
            text, self._pictured = f"{self._pictured} {text}", ""
        if self._heading:
            self._words = [text, " "]  # a block inside a heading is a part of it
            return
        self._show(text)
        self._said = text
        if self._lists:
            self._item(text)
            return
        self._after_item = False
        if self._quotes:
            quoted = "\n".join(f"> {line}" for line in text.split("\n"))
            self._composer.block(BlockKind.QUOTE, quoted, self._placing())
        else:
            self._composer.block(BlockKind.PARAGRAPH, text, self._placing())

    def _item(self, text: str) -> None:
        opens = bool(self._bullet)
        bullet = self._bullet or "  " * min(len(self._lists), _DEEPEST_ITEM)
        lines = (bullet + text).replace("\n", "\n" + " " * len(bullet))
        self._composer.block(BlockKind.LIST, lines, self._placing(), tight=self._after_item)
        self._bullet = "" if opens else self._bullet
        self._after_item = True

    def _open_in_table(self, name: str, event: HtmlEvent) -> None:
        if name == "tr":
            self._grid.begin_row()
            self._words = []
        elif name in ("td", "th"):
            self._words, self._cell = [], event.attributes
            self._grid.has_head = self._grid.has_head or (name == "th" and self._grid.in_first_row())
        elif name in _BLOCKS or name == "br":
            self._words.append(" ")
        elif _CHOSEN in event.attributes.get("class", "").split() and "".join(self._words).strip():
            self._words.append(", ")

    def _close_in_table(self, name: str) -> None:
        if name in ("td", "th"):
            self._grid.add(_flat("".join(self._words)), self._cell)
            self._words = []
        elif name == "caption":
            self._composer.block(BlockKind.PARAGRAPH, _flat("".join(self._words)), self._placing())
            self._words = []

    def _close_table(self) -> None:
        if not self._tables:
            return
        if self._tables.pop() and (rows := self._grid.rows()):
            self._show("")
            self._table(rows)
        self._grid, self._words, self._after_item = Grid(), [], False

    def _table(self, rows: list[list[str]]) -> None:
        """A table of one column is a frame around text."""
        if max(map(len, rows)) == 1:
            text = "\n".join(row[0] for row in rows if row)
            self._composer.block(BlockKind.PARAGRAPH, text, self._placing())
        else:
            self._composer.table(rows, self._placing(), header=self._grid.has_head)


def _shown(alternative: str) -> str:
    """What an image shows, in the words of its page; empty where they are a file name or say nothing."""
    words = " ".join(alternative.split())
    return "" if len(words) < _SHORTEST_ALT or _TELLS_NOTHING.fullmatch(words) else words


def _flat(text: str) -> str:
    """White space as a browser shows it: one space, except for the line breaks that were asked for."""
    lines = (" ".join(line.split()) for line in text.split(_BREAK))
    return "\n".join(line for line in lines if line)
