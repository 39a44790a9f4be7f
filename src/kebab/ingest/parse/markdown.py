"""Markdown: CommonMark with GFM tables and front matter, cut into its top-level blocks.

The parser is pulldown-cmark (through pyromark): iterative, so ten thousand nested lists cost nothing, and
it gives byte ranges, from which the lines of the file follow. Only the outermost blocks are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from kebab.domain.documents import BlockKind, Media
from kebab.domain.language import detect
from kebab.domain.names import name_key, plain_words
from kebab.ingest.chunk import md_heading
from kebab.ingest.parse.front_matter import read_front_matter
from kebab.ingest.parse.joplin_records import Record, is_record_name, read_record
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.links import LinkNotes
from kebab.ingest.parse.logseq import page_properties
from kebab.ingest.parse.metadata import inline_tags, read_metadata, text_value
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, ParsedBlock, Unreadable
from kebab.ingest.parse.textual import Decoding

VERSION = "markdown-v5"

_TELLS_NOTHING = frozenset({"", "readme", "index", "_index", "untitled"})
"""Names that a file has for another reason than what it is about."""

_KINDS = {
    "Heading": BlockKind.HEADING,
    "List": BlockKind.LIST,
    "CodeBlock": BlockKind.CODE,
    "Table": BlockKind.TABLE,
    "BlockQuote": BlockKind.QUOTE,
}


class _Range(NamedTuple):
    """A top-level block by byte offsets."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    heading: str = ""


def parse_markdown(lines: Lines, defaults: Defaults) -> Parsed:
    """The blocks of a text; headings inside quotes and lists open no section."""
    front = read_front_matter(lines.text)
    body = lines.after(front.lines)
    notes = LinkNotes(lines, front=front.lines)
    ranges = _ranges(iter(markdown_reader().events_with_range(body)), notes)
    blocks = list(_Liner(lines, front.lines).blocks(ranges)) or _front_alone(lines, front.lines)
    values = front.values or page_properties(body)
    metadata, warnings = read_metadata(values, defaults, inline=inline_tags(body))
    return Parsed(
        title=text_value(values, "title") or _title(blocks, defaults) or defaults.stem,
        lang=(text_value(values, "lang") or detect(body)).lower(),
        metadata=metadata,
        blocks=tuple(blocks),
        warnings=front.warnings + warnings,
        lines=lines,
        links=tuple(notes.links),
    )


def parse_file(lines: Lines, defaults: Defaults) -> Parsed | Unreadable:
    """A Markdown file; one of Joplin's raw export says at its end what it is."""
    record = read_record(lines.text) if is_record_name(defaults.stem) else None
    return _joplin(record, lines, defaults) if record else parse_markdown(lines, defaults)


FORMAT = Format(Media.MARKDOWN, VERSION, Decoding(parse_file), md_heading.CHUNKER)


def _joplin(record: Record, lines: Lines, defaults: Defaults) -> Parsed | Unreadable:
    """The note, without what Joplin keeps behind it: those lines are in no block."""
    if record.kind != "note":
        return Unreadable(f"not a note: Joplin's {record.kind}")
    if record.is_encrypted:
        return Unreadable("encrypted by Joplin; export it after decryption")
    text = lines.slice(1, record.lines) if record.lines else ""
    written = parse_markdown(Lines(text), defaults)
    title = record.title.lstrip("# ") or defaults.stem
    return replace(written, title=title, metadata=record.describe(written.metadata), lines=lines)


def _title(blocks: list[ParsedBlock], defaults: Defaults) -> str:
    """The first H1; empty where there is none, or where it only begins the first of several parts.

    The first words of a note without one are a tag, a picture or the row of a table as often as a title. Of
    several H1s the first is the title where the file is called alike, or says nothing: README, index.
    """
    headings = [block.heading for block in blocks if block.level == 1 and block.heading]
    file = PurePosixPath(defaults.path or defaults.stem).stem.casefold()
    if len(headings) > 1 and file not in _TELLS_NOTHING and not _alike(headings[0], defaults.stem):
        return ""
    return next(iter(headings), "")


def _alike(heading: str, stem: str) -> bool:
    """Whether one of two names stands in the other, or they have a word in common."""
    one, other = name_key(heading), name_key(stem)
    return one in other or other in one or not set(plain_words(heading)).isdisjoint(plain_words(stem))


def _front_alone(lines: Lines, front: int) -> list[ParsedBlock]:
    """The front matter as a block, for a note that has nothing else: it can be found and cited, then."""
    last = lines.last_with_text(1, front)
    return [ParsedBlock(BlockKind.PARAGRAPH, 1, last, ())] if last else []


@cache
def markdown_reader() -> Any:
    """What reads Markdown, with the extensions that notes use."""
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


def _ranges(events: Iterator[Any], notes: LinkNotes) -> Iterator[_Range]:
    """The outermost blocks in order; what stands inside one is only looked at for links."""
    done = -1
    for event, place in events:
        tag = event.get("Start") if type(event) is dict else None
        if tag is None:
            continue
        if place["start"] < done:
            if type(tag) is dict:
                notes.see(tag, place["start"])
            continue
        start, done = place["start"], place["end"]
        name = next(iter(tag)) if type(tag) is dict else tag
        if name == "Heading":
            level = int(tag["Heading"]["level"][1])
            yield _Range(BlockKind.HEADING, start, done, level, _words(events, notes))
        elif name == "Paragraph":
            yield _Range(_paragraph_kind(events, notes, end=done), start, done)
        else:
            yield _Range(_KINDS.get(name, BlockKind.PARAGRAPH), start, done)


def _words(events: Iterator[Any], notes: LinkNotes) -> str:
    """The words of the heading that was just opened, without markup."""
    parts = []
    for event, place in events:
        if type(event) is not dict:
            parts.append(" ")
        elif type(tag := event.get("Start")) is dict:
            notes.see(tag, place["start"])
        elif "Heading" in (event.get("End") or ()):
            break
        else:
            parts.append(event.get("Text") or event.get("Code") or "")
    return " ".join("".join(parts).split())


def _paragraph_kind(events: Iterator[Any], notes: LinkNotes, *, end: int) -> BlockKind:
    """A paragraph that holds nothing but one image is an image."""
    event, place = next(events)
    tag = event.get("Start") if type(event) is dict else None
    if type(tag) is not dict:
        return BlockKind.PARAGRAPH
    notes.see(tag, place["start"])
    is_image = "Image" in tag and place["end"] >= end - 1
    return BlockKind.IMAGE if is_image else BlockKind.PARAGRAPH


class _Liner:
    """Turns byte ranges into lines, and gives lines that no block claims a block of their own.

    Link definitions, thematic breaks and the like are no blocks to the parser, but their text must be
    findable too.
    """

    def __init__(self, lines: Lines, front: int) -> None:
        """``front`` lines at the top are not the body's."""
        self._lines = lines
        self._front = front
        self._next_free = front + 1
        # Level and words of the headings that the next block stands under.
        self._open: list[tuple[int, str]] = []
        self._path: tuple[str, ...] = ()

    def blocks(self, ranges: Iterable[_Range]) -> Iterator[ParsedBlock]:
        at_byte = self._lines.at_byte
        for found in ranges:
            start = max(at_byte(found.start, after=self._front), self._next_free)
            end = self._lines.last_with_text(start, at_byte(found.end - 1, after=self._front))
            if end < start:
                continue
            yield from self._unclaimed(start - 1)
            if found.level:
                self._enter(found.level, found.heading)
            yield ParsedBlock(found.kind, start, end, self._path, found.level, found.heading)
            self._next_free = end + 1
        yield from self._unclaimed(len(self._lines))

    def _unclaimed(self, upto: int) -> Iterator[ParsedBlock]:
        """The lines up to this one that are in no block, as paragraphs between blank lines."""
        for start, end in self._lines.runs(self._next_free, upto):
            yield ParsedBlock(BlockKind.PARAGRAPH, start, end, self._path)

    def _enter(self, level: int, heading: str) -> None:
        """A heading's own path ends with its words."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, heading))
        self._path = tuple(words for _, words in self._open if words)
