"""Markdown as safe HTML.

Everything is written by this module from the parser's events: text is escaped, raw HTML is shown and not
obeyed, images are named and not loaded, and only addresses that a person would click become links. So there
is nothing to clean up afterwards. The blocks say which lines of the file they show.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import quote, unquote

from kebab.ingest.parse.front_matter import read_front_matter
from kebab.ingest.parse.markdown import markdown_reader
from kebab.wire.views import Heading

_OUTSIDE = re.compile(r"(?i)(https?://|mailto:)")
_SCHEME = re.compile(r"^(?:[A-Za-z][A-Za-z0-9+.-]*+:|//)")
_SIMPLE = {
    "Paragraph": "p",
    "Item": "li",
    "Emphasis": "em",
    "Strong": "strong",
    "Strikethrough": "del",
    "TableRow": "tr",
    "Superscript": "sup",
    "Subscript": "sub",
}
_BLOCKS = frozenset({"Paragraph", "Heading", "List", "Item", "CodeBlock", "Table", "BlockQuote", "HtmlBlock"})


@dataclass(frozen=True, slots=True)
class Page:
    html: str
    outline: tuple[Heading, ...]


def render(text: str, *, path: str) -> Page:
    """The text as HTML; ``path`` is what relative links are relative to."""
    front = read_front_matter(text)
    lines = text.split("\n")
    body = "\n".join(lines[front.lines :])
    blank = frozenset(number for number, line in enumerate(lines, start=1) if not line.strip())
    writer = _Writer(path, _line_starts(body), front.lines, blank)
    for event, place in markdown_reader().events_with_range(body):
        writer.write(event, place["start"], place["end"])
    return Page(_front("\n".join(lines[: front.lines])) + "".join(writer.out), tuple(writer.outline))


def _front(text: str) -> str:
    """Front matter, folded: it is for programs."""
    if not text:
        return ""
    folded = f'<pre tabindex="0">{escape(text)}</pre>'
    return f'<details class="front"><summary>front matter</summary>{folded}</details>'


def _line_starts(body: str) -> list[int]:
    """The byte at which each line begins."""
    starts = [0]
    for line in body.split("\n"):
        starts.append(starts[-1] + len(line.encode("utf-8", "surrogatepass")) + 1)
    return starts


@dataclass
class _Writer:
    path: str
    starts: list[int]
    front: int
    blank: frozenset[int]
    """Numbers of the lines that hold nothing."""
    out: list[str] = field(default_factory=list)
    outline: list[Heading] = field(default_factory=list)
    _closing: list[str] = field(default_factory=list)
    _aligned: list[str] = field(default_factory=list)
    _cell: int = 0
    _in_head: bool = False
    _image: list[str] | None = None
    _image_depth: int = 0
    _heading: tuple[int, int] | None = None

    def write(self, event: Any, start: int, end: int) -> None:
        if isinstance(event, str):
            self._put({"SoftBreak": "\n", "HardBreak": "<br>", "Rule": "<hr>"}.get(event, ""))
            return
        ((kind, value),) = event.items()
        if kind == "Start":
            self._open(value, start, end)
        elif kind == "End":
            self._close()
        else:
            self._text(kind, value)

    def _put(self, html: str) -> None:
        if self._image is not None:
            return  # inside an image only its words count
        self.out.append(html)

    def _text(self, kind: str, value: Any) -> None:
        if self._image is not None:
            self._image.append(str(value) if kind in ("Text", "Code") else "")
        elif kind == "Code":
            self._put(f"<code>{escape(value)}</code>")
        elif kind == "TaskListMarker":
            self._put(f'<input type="checkbox" disabled{" checked" if value else ""} aria-label="task"> ')
        elif kind == "FootnoteReference":
            self._put(f'<sup class="footnote">{escape(value)}</sup>')
        elif kind in ("InlineHtml", "Html"):
            self._put(f'<span class="raw">{escape(value)}</span>')
        else:
            self._put(escape(str(value)))

    # --- opening and closing ---------------------------------------------------------------------

    def _open(self, tag: Any, start: int, end: int) -> None:
        name, value = (tag, None) if isinstance(tag, str) else next(iter(tag.items()))
        lines = self._lines(start, end) if name in _BLOCKS else ""
        if self._image is not None:
            self._image_depth += 1
            return
        opening = getattr(self, f"_open_{name.lower()}", None)
        if opening is not None:
            opening(value, lines)
        else:
            self._element(_SIMPLE.get(name, "div"), lines)

    def _close(self) -> None:
        if self._image is not None and self._image_depth:
            self._image_depth -= 1
            return
        closing = self._closing.pop()
        if self._image is not None:
            words, self._image = "".join(self._image), None
            closing = escape(words) + closing
        if self._heading is not None and closing.startswith("</h"):
            self._end_heading(*self._heading)
        if closing == "</thead>":
            self._in_head = False
            closing = "</tr></thead>"
        self.out.append(closing)

    def _element(self, name: str, attributes: str = "") -> None:
        self.out.append(f"<{name}{attributes}>")
        self._closing.append(f"</{name}>")

    def _lines(self, start: int, end: int) -> str:
        first, last = self._line_of(start), self._line_of(max(start, end - 1))
        while last > first and last in self.blank:  # a list reaches to what follows it
            last -= 1
        return f' data-lines="{first}-{last}"'

    def _line_of(self, byte: int) -> int:
        from bisect import bisect_right

        return bisect_right(self.starts, byte) + self.front

    def _open_heading(self, value: dict[str, Any], lines: str) -> None:
        level = int(value["level"][1])
        self._heading = (level, len(self.out) + 1)
        self._element(f"h{level}", f' id="h-{len(self.outline) + 1}"{lines}')

    def _end_heading(self, level: int, since: int) -> None:
        opened = self.out[since - 1]
        line = re.search(r'data-lines="(\d+)', opened)
        words = _words("".join(self.out[since:]))
        anchor = f"h-{len(self.outline) + 1}"
        self.outline.append(Heading(level=level, text=words, anchor=anchor, line=int(line[1]) if line else 1))
        self._heading = None

    def _open_list(self, first: int | None, lines: str) -> None:
        if first is None:
            self._element("ul", lines)
        else:
            self._element("ol", lines + (f' start="{int(first)}"' if first != 1 else ""))

    def _open_blockquote(self, kind: str | None, lines: str) -> None:
        self._element("blockquote", lines + (f' class="{escape(kind.lower())}"' if kind else ""))

    def _open_codeblock(self, kind: Any, lines: str) -> None:
        language = kind.get("Fenced", "") if isinstance(kind, dict) else ""
        word = re.match(r"[\w+#.-]{1,30}", language)
        self.out.append(
            f'<pre{lines} tabindex="0"><code' + (f' data-language="{escape(word[0])}">' if word else ">")
        )
        self._closing.append("</code></pre>")

    def _open_htmlblock(self, _: None, lines: str) -> None:
        self.out.append(f'<pre class="raw"{lines} tabindex="0">')
        self._closing.append("</pre>")

    def _open_table(self, alignments: tuple[str, ...], lines: str) -> None:
        self._aligned = [str(each).lower() for each in alignments]
        self.out.append(f'<div class="table"{lines} tabindex="0" role="region" aria-label="table"><table>')
        self._closing.append("</table></div>")

    def _open_tablehead(self, _: None, lines: str) -> None:
        self._cell, self._in_head = 0, True
        self.out.append("<thead><tr>")
        self._closing.append("</thead>")

    def _open_tablerow(self, _: None, lines: str) -> None:
        self._cell = 0
        self._element("tr")

    def _open_tablecell(self, _: None, lines: str) -> None:
        aligned = self._aligned[self._cell] if self._cell < len(self._aligned) else "none"
        self._cell += 1
        self._element(
            "th" if self._in_head else "td", f' class="{aligned}"' if aligned in ("right", "center") else ""
        )

    def _open_footnotedefinition(self, name: str, lines: str) -> None:
        self.out.append(f'<div class="footnotes"><sup>{escape(name)}</sup> ')
        self._closing.append("</div>")

    def _open_link(self, value: dict[str, Any], lines: str) -> None:
        attributes = self._link(value)
        self._element("a" if attributes else "span", attributes)

    def _open_image(self, value: dict[str, Any], lines: str) -> None:
        self.out.append(f'<span class="image" title="{escape(value["dest_url"])}">🖼 ')
        self._closing.append("</span>")
        self._image, self._image_depth = [], 0

    def _link(self, value: dict[str, Any]) -> str:
        """The attributes of a link; empty for an address that is not to be followed."""
        address = str(value["dest_url"])
        if isinstance(value["link_type"], dict):
            return f' href="/doc?wiki={_quoted(address)}" class="wiki"'
        if value["link_type"] == "Email":
            return f' href="mailto:{_quoted(address)}"'
        if _OUTSIDE.match(address):
            return f' href="{escape(address)}" rel="noopener noreferrer nofollow" target="_blank"'
        if not address or _SCHEME.match(address):
            return ""
        if address.startswith("#"):
            return f' href="{escape(address)}"'
        return f' href="{escape(self._inside(address))}" class="note"'

    def _inside(self, address: str) -> str:
        """A link to another note: relative to this one's folder, never above the source."""
        place, _, fragment = unquote(address).partition("#")
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), place.split("?")[0]))
        known = joined.lstrip("./") if joined.startswith((".", "/")) else joined
        return f"/doc?ref={_quoted(known)}" + (f"#{_quoted(fragment)}" if fragment else "")


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _words(html: str) -> str:
    """What a heading says, without the tags that this module wrote itself."""
    from html import unescape

    return " ".join(unescape(re.sub(r"<[^<>]*+>", "", html)).split())
