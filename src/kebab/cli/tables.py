"""Columns for people: aligned on a terminal, tab-separated when piped, so that cut and awk can read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kebab.cli.screen import Screen, clip, clip_start, pad, width
from kebab.domain.controls import harmless_line

GAP = "  "


def table(
    rows: Sequence[Sequence[str]],
    *,
    header: Sequence[str],
    screen: Screen,
    grow: int | Sequence[int],
    keep_end: int | None = None,
) -> str:
    """Rows under a header, within the screen: the columns ``grow`` share what room the others leave.

    A cell that does not fit loses its end; in the column ``keep_end``, of paths or headings, its beginning.
    Without a terminal there is no header and no clipping: one line a row, cells separated by tabs.
    """
    rows = [[harmless_line(cell) for cell in row] for row in rows]
    if not screen.terminal:
        return "\n".join("\t".join(row) for row in rows)
    grow = [grow] if isinstance(grow, int) else grow
    sizes = [max(width(row[column]) for row in [header, *rows]) for column in range(len(header))]
    room = screen.columns - len(GAP) * (len(header) - 1)
    room -= sum(size for column, size in enumerate(sizes) if column not in grow)
    for column, size in zip(grow, _shared(room, [sizes[column] for column in grow]), strict=True):
        sizes[column] = size
    return "\n".join([screen.dim(_line(header, sizes)), *(_line(row, sizes, keep_end) for row in rows)])


def _shared(room: int, wanted: Sequence[int]) -> list[int]:
    """Each gets what it wants while there is room; the wide ones share what the narrow ones leave."""
    given = [0] * len(wanted)
    for left, column in enumerate(sorted(range(len(wanted)), key=lambda c: wanted[c])):
        fair = max(8, room // (len(wanted) - left))
        given[column] = min(wanted[column], fair)
        room -= given[column]
    return given


def _line(cells: Sequence[str], sizes: Sequence[int], keep_end: int | None = None) -> str:
    shown = []
    for column, (cell, size) in enumerate(zip(cells, sizes, strict=True)):
        cut = clip_start if column == keep_end else clip
        shown.append(pad(cut(cell, size), size))
    return GAP.join(shown).rstrip()


def pairs(
    items: Sequence[tuple[str, str]], *, screen: Screen, styles: Mapping[str, Mapping[str, Any]] | None = None
) -> str:
    """``name  value`` lines with the names aligned; ``styles`` holds the style of a value by its name.

    Values come unstyled: what a terminal would obey in them is made visible before any style is added.
    """
    size = max((width(name) for name, _ in items), default=0)
    styled = styles or {}
    return "\n".join(
        f"{screen.dim(pad(name, size))}{GAP}{screen.style(harmless_line(value), **styled.get(name, {}))}"
        for name, value in items
    )


def size_of(count: int) -> str:
    """Bytes for people: 512 B, 1.5 kB, 3.2 MB."""
    if count < 1000:
        return f"{count} B"
    value, units = count / 1000, ["kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.1f} {units[0]}"


def seconds_of(milliseconds: float) -> str:
    """Durations for people: 80 ms, 1.2 s, 3 min 20 s."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds // 60_000:.0f} min {milliseconds % 60_000 / 1000:.0f} s"
