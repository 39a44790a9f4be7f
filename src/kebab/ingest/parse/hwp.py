"""HWP 5 and HWPX, the formats of Hangul: headings, paragraphs and tables, counted in paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from kebab.domain.documents import Media
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Archive, Refused
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.embedded import add_markdown
from kebab.ingest.parse.html import paragraphs
from kebab.ingest.parse.office import metadata_of
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ports import Unopened

VERSION = "hwp-v2"

_ZIP = b"PK"
_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,300}\)")
_KOREAN_DAY = re.compile(r"(\d{4})년 (\d{1,2})월 (\d{1,2})일")
_BAR = re.compile(r"(?<!\\)\|")
_LOCKED = "상위 버전의 배포용 문서"
"""What such a document shows to programs that cannot open it."""
_LONGEST_NOTICE = 400
_LEAST_LETTERS = 2
"""Hangul keeps the first words of a document as its title, and many begin with a number."""
_ESCAPED = re.compile(r"\\([.)(#*_\[\]+~`>|-])")


def parse_hwp(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    if content.startswith(_ZIP):
        try:
            Archive(content, defaults.reading.limits).measure()
        except Refused as error:
            return Unreadable(str(error))
    found = defaults.reading.engines.hwp().read(content)
    if isinstance(found, Unopened):
        return Unreadable(found.reason)
    if _LOCKED in found.markdown and len(found.markdown) < _LONGEST_NOTICE:
        return Unreadable("encrypted: a document for distribution (배포용); save it as an ordinary one")
    composer = Composer()
    add_markdown(composer, _filled_cells(_plain(found.markdown)), paragraphs())
    metadata = metadata_of({"creator": found.author, "created": _day(found.created)}, defaults)
    title = found.title if sum(map(str.isalpha, found.title)) >= _LEAST_LETTERS else ""
    return composer.parsed(title, defaults, metadata=metadata)


FORMAT = Format(Media.DOCUMENT, VERSION, parse_hwp, by_place.CHUNKER, isolated=True)


def _plain(markdown: str) -> str:
    """Without images, marks of bold, indents and the escapes of signs; a bar in a table stays escaped."""
    text = _IMAGE.sub("", markdown).replace("<br>", " ").replace("**", "")
    text = "\n".join(line.lstrip() for line in text.split("\n"))
    return _ESCAPED.sub(lambda sign: sign[0] if sign[1] == "|" else sign[1], text)


def _filled_cells(markdown: str) -> str:
    """The text without rows and columns of tables that hold nothing, as the frames of forms do."""
    written: list[str] = []
    for is_table, group in groupby(markdown.split("\n"), key=lambda line: line.startswith("|")):
        lines = list(group)
        written += _filled(lines) if is_table else lines
    return "\n".join(written)


def _filled(lines: Sequence[str]) -> list[str]:
    rows = [[cell.strip() for cell in _BAR.split(line)[1:-1]] for line in lines]
    body = [row for at, row in enumerate(rows) if any(row) and not (at == 1 and _is_rule(row))]
    used = sorted({at for row in body for at, cell in enumerate(row) if cell})
    kept = ["| " + " | ".join(row[at] if at < len(row) else "" for at in used) + " |" for row in body]
    return [kept[0], "|" + " --- |" * len(used), *kept[1:]] if kept else []


def _is_rule(row: Sequence[str]) -> bool:
    return all(set(cell) <= {"-", ":"} for cell in row)


def _day(written: str) -> str:
    """``2021년 11월 8일 월요일 …``, as Hangul writes it, as a date."""
    found = _KOREAN_DAY.match(written)
    return f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}" if found else written
