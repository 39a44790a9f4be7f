"""CSV and TSV: rows under their head, cited by their cells. A Notion database exported as CSV is one too."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO

from kebab.domain.documents import Media
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.tables import add_rows
from kebab.ingest.parse.textual import Decoding

VERSION = "delimited-v1"

_SAMPLE_LINES = 20
_DELIMITERS = ",;\t|"
_LONGEST_FIELD = 1 << 20


def parse_delimited(lines: Lines, defaults: Defaults) -> Parsed | Unreadable:
    text = lines.text
    delimiter = "\t" if defaults.extension == ".tsv" else _delimiter(text.split("\n", _SAMPLE_LINES))
    composer = Composer()
    add_rows(composer, _rows(text, delimiter), sheet=defaults.stem or "table")
    return composer.parsed(defaults.stem, defaults)


FORMAT = Format(Media.SHEET, VERSION, Decoding(parse_delimited), by_place.CHUNKER)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    """The rows; where a quote is never closed, quotes are letters like others."""
    csv.field_size_limit(_LONGEST_FIELD)
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        try:
            read = csv.reader(StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
            return [[cell.strip() for cell in row] for row in read]
        except csv.Error:
            continue
    return [[line] for line in text.split("\n")]


def _delimiter(sample: Sequence[str]) -> str:
    """The sign that cuts the first lines into the most columns, as many in one as in the next."""

    def columns(sign: str) -> tuple[int, int]:
        counts = [line.count(sign) for line in sample[:_SAMPLE_LINES] if line.strip()]
        return (min(counts, default=0), counts.count(counts[0]) if counts else 0)

    return max(_DELIMITERS, key=columns)
