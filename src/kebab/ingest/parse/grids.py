"""Rows of cells: merged ones keep their place, and what holds nothing goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

_WIDEST_CELL = 40
"""Columns and rows that one cell may take: what claims more is a mistake, or means harm."""


class Grid:
    """Cells as they come. A merged cell is written once, in the first of its columns and rows."""

    def __init__(self) -> None:
        self.has_head = False
        self._rows: list[list[str]] = []
        self._taken: dict[int, int] = {}
        """For each column that a cell from above reaches into, how many rows of it are left, this one too."""

    def begin_row(self) -> None:
        self._taken = {column: rows - 1 for column, rows in self._taken.items() if rows > 1}
        self._rows.append([])

    def in_first_row(self) -> bool:
        return len(self._rows) <= 1

    def add(self, text: str, attributes: Mapping[str, str]) -> None:
        """A cell of the row that was begun; ignored before the first."""
        if not self._rows:
            return
        row, width = self._rows[-1], span(attributes.get("colspan"))
        while len(row) in self._taken:
            row.append("")
        if (rows := span(attributes.get("rowspan"))) > 1:
            self._taken |= dict.fromkeys(range(len(row), len(row) + width), rows)
        row += [text, *[""] * (width - 1)]

    def rows(self) -> list[list[str]]:
        """Those that say something; see ``without_empty``."""
        return without_empty(self._rows)


def without_empty(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """The rows that say something, without the columns that are empty in all of them."""
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    used = {at for row in filled for at, cell in enumerate(row) if cell.strip()}
    return [[cell for at, cell in enumerate(row) if at in used] for row in filled]


def span(written: str | None) -> int:
    """How many columns or rows a cell takes, as it says; 1 where it says nothing that can be."""
    number = (written or "1").strip()[:4]
    return max(1, min(int(number), _WIDEST_CELL)) if number.isdecimal() else 1
