"""Rows of cells: which row is the head, and blocks of rows that each carry it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kebab.domain.documents import BlockKind
from kebab.domain.places import Cells
from kebab.ingest.parse.compose import Composer

Row = Sequence[str]

_BLOCK_CHARS = 1200
_HEAD_WITHIN = 10
_SHEET_CHARS = 30


def add_rows(
    composer: Composer,
    rows: Sequence[Row],
    *,
    sheet: str,
    top: int = 1,
    left: int = 1,
    headed: bool = False,
) -> None:
    """Adds a sheet: its name as a heading if it is ``headed``, then blocks of rows, each under the head.

    ``top`` and ``left`` are where the first cell stands, from 1.
    """
    sheet = sheet[:_SHEET_CHARS]
    head = find_head(rows)
    if headed and any(map(any, rows)):
        composer.heading(2, sheet, _place(sheet, rows, 0, 0, top, left))
    for at, row in enumerate(rows[: head or 0]):
        words = " ".join(cell for cell in row if cell)
        composer.block(BlockKind.PARAGRAPH, words, _place(sheet, rows, at, at, top, left))
    columns = None if head is None else rows[head]
    first = 0 if head is None else head + 1
    if columns is not None and first >= len(rows):
        composer.table([columns], _place(sheet, rows, first - 1, first - 1, top, left))
    for start, end in _blocks(rows, first, sum(map(len, columns or ()))):
        body = rows[start : end + 1]
        used = _used(body, columns)
        whole = body if columns is None else [columns, *body]
        written = [[row[at] if at < len(row) else "" for at in used] for row in whole]
        composer.table(written, _place(sheet, rows, start, end, top, left), header=columns is not None)


def find_head(rows: Sequence[Row]) -> int | None:
    """The first row of several words without a number, no two the same; None where there is none.

    Titles of one cell may stand above it.
    """
    for at, row in enumerate(rows[:_HEAD_WITHIN]):
        filled = [cell for cell in row if cell]
        if len(filled) < 2:
            continue
        named = all(any(map(str.isalpha, cell)) and len(cell) < 100 for cell in filled)
        return at if named and len(set(filled)) == len(filled) else None
    return None


def _blocks(rows: Sequence[Row], first: int, head: int) -> Iterator[tuple[int, int]]:
    """Runs of rows of about the size of a chunk, without the empty ones at their ends."""
    start, size = first, head
    for at in range(first, len(rows)):
        if not any(rows[at]):
            if at == start:
                start = at + 1
            continue
        size += sum(len(cell) + 3 for cell in rows[at])
        if size >= _BLOCK_CHARS:
            yield start, at
            start, size = at + 1, head
    end = len(rows) - 1
    while end >= start and not any(rows[end]):
        end -= 1
    if end >= start:
        yield start, end


def _used(body: Sequence[Row], columns: Row | None) -> list[int]:
    """The columns that hold something, or have a name."""
    width = max(map(len, body), default=0)
    width = max(width, len(columns or ()))
    named = {at for at, name in enumerate(columns or ()) if name}
    return [at for at in range(width) if at in named or any(at < len(row) and row[at] for row in body)]


def _place(sheet: str, rows: Sequence[Row], first: int, last: int, top: int, left: int) -> Cells:
    width = max((len(row) for row in rows[first : last + 1]), default=1)
    return Cells(sheet, left, top + first, left + max(width, 1) - 1, top + last)
