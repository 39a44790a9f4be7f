"""CSV and TSV: rows under their head, cited by their cells. A Notion database exported as CSV is one too."""

from __future__ import annotations

import csv
from collections import Counter
from io import StringIO
from itertools import islice

from kebab.domain.documents import Media
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.tables import add_rows
from kebab.ingest.parse.textual import Decoding

VERSION = "delimited-v2"

_SAMPLE_ROWS = 50
_SAMPLE_CHARS = 1 << 16
_DELIMITERS = ",;\t|"
_LONGEST_FIELD = 1 << 20


def parse_delimited(lines: Lines, defaults: Defaults) -> Parsed | Unreadable:
    text = lines.text
    delimiter = "\t" if defaults.extension == ".tsv" else _delimiter(text[:_SAMPLE_CHARS])
    composer = Composer()
    add_rows(composer, _rows(text, delimiter), sheet=defaults.stem or "table")
    return composer.parsed(defaults.stem, defaults)


FORMAT = Format(Media.SHEET, VERSION, Decoding(parse_delimited), by_place.CHUNKER)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    """The rows; where a quote is never closed, quotes are letters like others.

    A space may stand between a delimiter and a quote, unless something else follows the quote.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    for quoted, spaced in ((True, True), (True, False), (False, False)):
        try:
            read = csv.reader(
                StringIO(text, newline=""),
                delimiter=delimiter,
                quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
                skipinitialspace=spaced,
                strict=True,
            )
            return [[cell.strip() for cell in row] for row in read]
        except csv.Error:
            continue
    return [[line] for line in text.split("\n")]


def _delimiter(sample: str) -> str:
    """The sign that cuts the most of the first rows into equally many columns, and into the most.

    Rows, not lines: a quoted cell may hold lines, and signs of its own. A sign that cuts less than half of
    the rows belongs to the words; where all do, the rarest leaves the most rows whole.
    """

    def columns(sign: str) -> tuple[int, int]:
        try:
            rows = list(islice(csv.reader(StringIO(sample, newline=""), delimiter=sign), _SAMPLE_ROWS))
        except csv.Error:
            return -1, 0
        widths = Counter(len(row) for row in rows if len(row) > 1)
        if not widths or 2 * widths.total() < len(rows):
            return 0, -widths.total()
        return max((count, width) for width, count in widths.items())

    return max(_DELIMITERS, key=columns)
