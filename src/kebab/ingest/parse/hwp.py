"""HWP 5, the older format of Hangul: headings, paragraphs and tables, counted in paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from kebab.domain.documents import Media
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.embedded import add_markdown
from kebab.ingest.parse.grids import without_empty
from kebab.ingest.parse.html import paragraphs
from kebab.ingest.parse.hwpx import FORMAT as HWPX
from kebab.ingest.parse.hwpx import hangul_day, hangul_title
from kebab.ingest.parse.office import metadata_of
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ports import Unopened

VERSION = "hwp-v2"

_ZIP = b"PK"
_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,300}\)")
_BAR = re.compile(r"(?<!\\)\|")
_LOCKED = "상위 버전의 배포용 문서"
"""What such a document shows to programs that cannot open it."""
_LONGEST_NOTICE = 400
_ESCAPED = re.compile(r"\\([.)(#*_\[\]+~`>|-])")


def parse_hwp(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    if content.startswith(_ZIP):
        return HWPX.parse(content, defaults)  # the newer format under the older name
    found = defaults.reading.engines.hwp().read(content)
    if isinstance(found, Unopened):
        return Unreadable(found.reason)
    if _LOCKED in found.markdown and len(found.markdown) < _LONGEST_NOTICE:
        return Unreadable("encrypted: a document for distribution (배포용); save it as an ordinary one")
    composer = Composer()
    add_markdown(composer, _filled_cells(_plain(found.markdown)), paragraphs())
    metadata = metadata_of({"creator": found.author, "created": hangul_day(found.created)}, defaults)
    return composer.parsed(hangul_title(found.title), defaults, metadata=metadata)


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
    """The lines of a table; one column of it is a frame around text."""
    rows = [[cell.strip() for cell in _BAR.split(line)[1:-1]] for line in lines]
    body = without_empty(row for at, row in enumerate(rows) if at != 1 or not _is_rule(row))
    if not body or max(map(len, body)) == 1:
        return [line for row in body for line in (*row, "")]
    kept = [f"| {' | '.join(row)} |" for row in body]
    return [kept[0], "|" + " --- |" * max(map(len, body)), *kept[1:]]


def _is_rule(row: Sequence[str]) -> bool:
    return all(set(cell) <= {"-", ":"} for cell in row)
