"""Markdown: CommonMark with GFM tables and front matter, cut into its top-level blocks.

The parser is pulldown-cmark (through pyromark): iterative, so ten thousand nested lists cost nothing, and
it gives byte ranges, from which the lines of the file follow. Only the outermost blocks are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from kebab.domain.documents import BlockKind, Media
from kebab.domain.language import detect
from kebab.ingest.parse.front_matter import read_front_matter
from kebab.ingest.parse.metadata import read_metadata, text_value
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, ParsedBlock
from kebab.ingest.parse.text import first_words

VERSION = "markdown-v1"

_KINDS = {
    "Heading": BlockKind.HEADING,
    "List": BlockKind.LIST,
    "CodeBlock": BlockKind.CODE,
    "Table": BlockKind.TABLE,
    "BlockQuote": BlockKind.QUOTE,
}
_MARKUP = re.compile(r"^[\s>#*+-]+|[*_`]+|!?\[([^\]]*)\]\([^)]*\)")


class _Range(NamedTuple):
    """A top-level block by byte offsets."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    heading: str = ""


def parse_markdown(text: str, defaults: Defaults) -> Parsed:
    """The blocks of a text with ``\\n`` line ends; headings inside quotes and lists open no section."""
    front = read_front_matter(text)
    body = _after_lines(text, front.lines)
    blocks = list(_Liner(body, first_line=front.lines + 1).blocks())
    metadata, warnings = read_metadata(front.values, defaults)
    return Parsed(
        title=text_value(front.values, "title") or _title(blocks, body) or defaults.stem,
        lang=(text_value(front.values, "lang") or detect(body)).lower(),
        metadata=metadata,
        blocks=tuple(blocks),
        warnings=front.warnings + warnings,
    )


FORMAT = Format(Media.MARKDOWN, VERSION, parse_markdown)


def _after_lines(text: str, count: int) -> str:
    pieces = text.split("\n", count)
    return pieces[count] if len(pieces) > count else ""


def _title(blocks: list[ParsedBlock], body: str) -> str:
    """The first H1, else the first H2, else the first words."""
    for level in (1, 2):
        for block in blocks:
            if block.level == level and block.heading:
                return block.heading
    return first_words(_MARKUP.sub(r"\1", body[:2000]).strip())


@cache
def _reader() -> Any:
    import pyromark

    options = pyromark.Options
    return pyromark.Markdown(
        options=options.ENABLE_TABLES
        | options.ENABLE_FOOTNOTES
        | options.ENABLE_STRIKETHROUGH
        | options.ENABLE_TASKLISTS
        | options.ENABLE_HEADING_ATTRIBUTES
        | options.ENABLE_WIKILINKS
        | options.ENABLE_GFM
    )


def _ranges(body: str) -> Iterator[_Range]:
    """The outermost blocks in order; everything inside one is passed over."""
    events = iter(_reader().events_with_range(body))
    done = -1
    for event, place in events:
        start = place["start"]
        if start < done or type(event) is not dict:
            continue
        tag = event.get("Start")
        if tag is None:
            continue
        done = place["end"]
        name = next(iter(tag)) if type(tag) is dict else tag
        if name == "Heading":
            level = int(tag["Heading"]["level"][1])
            yield _Range(BlockKind.HEADING, start, done, level, _words(events))
        elif name == "Paragraph":
            yield _Range(_paragraph_kind(events, end=done), start, done)
        else:
            yield _Range(_KINDS.get(name, BlockKind.PARAGRAPH), start, done)


def _words(events: Iterator[Any]) -> str:
    """The words of the heading that was just opened, without markup."""
    parts = []
    for event, _ in events:
        if type(event) is not dict:
            parts.append(" ")
        elif "Heading" in (event.get("End") or ()):
            break
        else:
            parts.append(event.get("Text") or event.get("Code") or "")
    return " ".join("".join(parts).split())


def _paragraph_kind(events: Iterator[Any], *, end: int) -> BlockKind:
    """A paragraph that holds nothing but one image is an image."""
    event, place = next(events)
    tag = event.get("Start") if type(event) is dict else None
    image = type(tag) is dict and "Image" in tag and place["end"] >= end - 1
    return BlockKind.IMAGE if image else BlockKind.PARAGRAPH


@dataclass(slots=True)
class _Liner:
    """Turns byte ranges into lines, and gives lines that no block claims a block of their own.

    Link definitions, thematic breaks and the like are no blocks to the parser, but their text must be
    findable too.
    """

    body: str
    first_line: int
    _raw: bytes = b""
    _lines: list[str] = field(default_factory=list)
    _offset: int = 0
    _line: int = 0
    """Index of the line that holds ``_offset``."""
    _next_free: int = 0
    """Index of the first line that is in no block yet."""
    _open: list[tuple[int, str]] = field(default_factory=list)
    """Level and words of the headings that the next block stands under."""
    _path: tuple[str, ...] = ()

    def blocks(self) -> Iterator[ParsedBlock]:
        self._raw, self._lines = self.body.encode(), self.body.split("\n")
        for found in _ranges(self.body):
            start = max(self._line_at(found.start), self._next_free)
            end = self._trimmed(self._line_at(found.end - 1), start)
            if end < start:
                continue
            yield from self._unclaimed(start)
            yield self._block(found.kind, start, end, level=found.level, heading=found.heading)
            self._next_free = end + 1
        yield from self._unclaimed(len(self._lines))

    def _line_at(self, offset: int) -> int:
        if offset >= self._offset:
            self._line += self._raw.count(b"\n", self._offset, offset)
        else:
            self._line -= self._raw.count(b"\n", offset, self._offset)
        self._offset = offset
        return self._line

    def _trimmed(self, end: int, start: int) -> int:
        while end >= start and not self._lines[end].strip():
            end -= 1
        return end

    def _unclaimed(self, upto: int) -> Iterator[ParsedBlock]:
        """The lines before ``upto`` that are in no block, as paragraphs between blank lines."""
        start = self._next_free
        for index in range(self._next_free, upto + 1):
            if index == upto or not self._lines[index].strip():
                if start < index:
                    yield self._block(BlockKind.PARAGRAPH, start, index - 1)
                start = index + 1
        self._next_free = max(upto, self._next_free)

    def _block(
        self, kind: BlockKind, start: int, end: int, *, level: int = 0, heading: str = ""
    ) -> ParsedBlock:
        if level:
            self._enter(level, heading)
        return ParsedBlock(kind, self.first_line + start, self.first_line + end, self._path, level, heading)

    def _enter(self, level: int, heading: str) -> None:
        """A heading's own path ends with its words."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, heading))
        self._path = tuple(words for _, words in self._open if words)
