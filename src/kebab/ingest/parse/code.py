"""Source code: one block for each function, class and method, and the lines between them.

Every line that is not blank is in one block. A line belongs to the innermost definition around it; lines of
no definition are blocks between blank lines. What has no word in it, such as a closing bracket, goes with
the block before it. The rule for symbols is in docs/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from kebab.domain.code import purpose_of
from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.language import detect
from kebab.domain.places import CodeUnit
from kebab.ingest.chunk import code_unit
from kebab.ingest.parse.code_languages import language_of
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, ParsedBlock, Unreadable
from kebab.ingest.parse.textual import Decoding
from kebab.ingest.parse.unwritten import unwritten
from kebab.ports import Definition, Outline

VERSION = "code-v3"

_HEAD_LINES = 60
# Lines that the head of a namespace may take: its name, and a bracket below it.
_HEAD_OF_GROUP = 2
_WORD = re.compile(r"\w")
_CLOSING = re.compile(r"^[ \t]*+(?:[)}\];,]++|end|fi|done)[ \t]*+(?:(?://|#|--).*)?")
# What a citation can name; see domain.places.
_MAX_SYMBOL = 1000


def parse_code(lines: Lines, defaults: Defaults) -> Parsed | Unreadable:
    """Languages that there is a grammar for by definitions, all others by paragraphs."""
    name = defaults.stem + defaults.extension
    if reason := unwritten(name, lines.text):
        return Unreadable(reason)
    language = language_of(defaults.extension, lines.text)
    reader = defaults.reading.engines.code()
    outline = reader.outline(lines.text, grammar=language.grammar) if language.grammar else Outline(())
    return Parsed(
        title=_title(defaults, lines, outline.definitions),
        lang=detect(lines.text),
        metadata=Metadata(
            source_type=defaults.source_type,
            trust_level=defaults.trust_level,
            code_lang=language.name,
            user={"imports": list(outline.imports)} if outline.imports else {},
        ),
        blocks=tuple(_blocks(lines, outline.definitions)),
        lines=lines,
        warnings=_warnings(outline),
    )


FORMAT = Format(Media.CODE, VERSION, Decoding(parse_code), code_unit.CHUNKER, isolated=True)


def _title(defaults: Defaults, lines: Lines, definitions: Sequence[Definition]) -> str:
    """The file with its folder, since half of all files are called index or main, and what it is for."""
    file = "/".join(defaults.path.split("/")[-2:]) or defaults.stem + defaults.extension
    end = min(definitions[0].start - 1 if definitions else _HEAD_LINES, _HEAD_LINES, len(lines))
    purpose = purpose_of(lines.slice(1, end)) if end else ""
    return f"{file}: {purpose}" if purpose else file


def _warnings(outline: Outline) -> tuple[str, ...]:
    line = outline.unclear_line
    return (f"the syntax is not understood at line {line}: units near it may be missing",) if line else ()


class _Stretch(NamedTuple):
    """Lines that belong to one definition; ``path`` is empty where they belong to none."""

    start: int
    end: int
    path: tuple[str, ...]
    groups: bool = False


def _blocks(lines: Lines, definitions: Sequence[Definition]) -> Iterator[ParsedBlock]:
    stretches = _without_heads(_without_signs(lines, _stretches(lines, definitions)))
    for start, end, path, _ in stretches:
        place = CodeUnit(symbol) if (symbol := symbol_of(path)) else None
        if place is None:
            yield from (ParsedBlock(BlockKind.CODE, *run, ()) for run in lines.runs(start, end))
        else:
            yield ParsedBlock(BlockKind.CODE, start, end, path, place=place)


def symbol_of(path: Sequence[str]) -> str:
    """The names joined by dots, without white space; as many of the innermost as a citation can hold."""
    names = ["".join(name.split()) for name in path]
    while len(quote(symbol := ".".join(names), safe=".:")) > _MAX_SYMBOL:
        names = names[1:] if len(names) > 1 else [names[0][: len(names[0]) // 2]]
    return symbol


def _stretches(lines: Lines, definitions: Sequence[Definition]) -> Iterator[_Stretch]:
    """The text cut where the innermost definition changes; stretches begin and end with text."""
    at = 1
    open_: list[Definition] = []
    for definition in (*_apart(definitions, len(lines)), None):
        start = definition.start if definition else len(lines) + 1
        while open_ and open_[-1].end < start:
            ended = open_.pop()
            yield from _trimmed(lines, at, ended.end, ended)
            at = max(at, ended.end + 1)
        yield from _trimmed(lines, at, start - 1, open_[-1] if open_ else None)
        at = max(at, start)
        if definition:
            open_.append(definition)


def _apart(definitions: Sequence[Definition], count: int) -> Iterator[Definition]:
    """The definitions without those that begin on a line where another begins or ends, properly nested."""
    open_: list[Definition] = []
    last_start = ended = 0
    for path, start, end, groups in definitions:
        while open_ and open_[-1].end < start:
            ended = max(ended, open_.pop().end)
        within = min(end, open_[-1].end if open_ else count)
        if start <= max(last_start, ended) or within < start:
            continue
        last_start = start
        open_.append(Definition(path, start, within, groups))
        yield open_[-1]


def _trimmed(lines: Lines, start: int, end: int, owner: Definition | None) -> Iterator[_Stretch]:
    while start <= end and lines.is_blank(start):
        start += 1
    if start <= end:
        last = lines.last_with_text(start, end)
        yield _Stretch(start, last, *((owner.path, owner.groups) if owner else ((), False)))


def _only_closes(text: str) -> bool:
    return not _WORD.search(text) or all(map(_CLOSING.fullmatch, filter(str.strip, text.split("\n"))))


def _without_heads(stretches: Iterator[_Stretch]) -> Iterator[_Stretch]:
    """The line that opens a namespace goes with its first member: alone it says nothing but a name."""
    head: _Stretch | None = None
    for stretch in stretches:
        if head is not None and stretch.path[: len(head.path)] == head.path != stretch.path:
            stretch = stretch._replace(start=head.start)
        elif head is not None:
            yield head
        alone = stretch.groups and stretch.end - stretch.start < _HEAD_OF_GROUP
        head = stretch if alone else None
        if head is None:
            yield stretch
    if head is not None:
        yield head


def _without_signs(lines: Lines, stretches: Iterator[_Stretch]) -> Iterator[_Stretch]:
    """Lines that only close something, such as a bracket or ``end``, go with the stretch before them."""
    held: _Stretch | None = None
    for stretch in stretches:
        if held is not None and _only_closes(lines.slice(stretch.start, stretch.end)):
            held = held._replace(end=stretch.end)
            continue
        if held is not None:
            yield held
        held = stretch
    if held is not None:
        yield held
