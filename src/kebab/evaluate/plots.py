"""Plots as SVG text: two shapes, written by hand, so that a report needs no library and no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 720
LABEL = 110
ROW = 22
SKYLINE = 140
GOOD, BAD, PLAIN = "#1a7f37", "#c0392b", "#3b6ea5"
FONT = 'font-family="system-ui, sans-serif" font-size="12"'


@dataclass(frozen=True, slots=True)
class Bar:
    """``value`` lies in [-1, 1]; ``note`` is what a pointer on the bar reads."""

    label: str
    value: float
    note: str = ""


def bars(rows: Sequence[Bar], *, title: str) -> str:
    """Horizontal bars from 0 to 1 with their labels and values, one row each, in the given order."""
    parts = []
    room = WIDTH - LABEL - 60
    for place, row in enumerate(rows):
        y = 24 + place * ROW
        width = room * min(max(row.value, 0.0), 1.0)
        note = f"<title>{escape(row.note or f'{row.label} {row.value:.4f}')}</title>"
        parts += [
            f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end" {FONT}>{escape(row.label)}</text>',
            f'<rect x="{LABEL}" y="{y + 3}" width="{width:.1f}" height="14" fill="{PLAIN}">{note}</rect>',
            f'<text x="{LABEL + width + 6:.1f}" y="{y + 14}" {FONT}>{row.value:.3f}</text>',
        ]
    return _svg(parts, height=24 + len(rows) * ROW + 6, title=title)


def skyline(values: Sequence[Bar], *, title: str) -> str:
    """One thin column a query, largest value first; columns below zero hang down in red.

    Shows at a glance how many queries are perfect, how many are lost, and how wins weigh against losses.
    """
    ordered = sorted(values, key=lambda bar: -bar.value)
    signed = any(bar.value < 0 for bar in ordered)
    base = 24 + (SKYLINE if not signed else SKYLINE / 2)
    reach = SKYLINE if not signed else SKYLINE / 2
    step = (WIDTH - 20) / max(len(ordered), 1)
    parts = [f'<line x1="10" x2="{WIDTH - 10}" y1="{base}" y2="{base}" stroke="#888"/>']
    for place, bar in enumerate(ordered):
        height = reach * min(abs(bar.value), 1.0)
        top = base - height if bar.value >= 0 else base
        tone = (GOOD if bar.value > 0 else BAD) if signed else PLAIN
        parts.append(
            f'<rect x="{10 + place * step:.2f}" y="{top:.1f}" width="{max(step * 0.85, 0.5):.2f}" '
            f'height="{max(height, 0.7):.1f}" fill="{tone}">'
            f"<title>{escape(bar.note or bar.label)}</title></rect>"
        )
    return _svg(parts, height=24 + SKYLINE + 10, title=title)


def text_bar(value: float, *, width: int = 20) -> str:
    """A bar of block characters for a Markdown table; eighths, so that small differences show."""
    eighths = round(min(max(value, 0.0), 1.0) * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")


def _svg(parts: Sequence[str], *, height: float, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'role="img" aria-label="{escape(title, quote=True)}">'
        f'<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<text x="10" y="16" {FONT} font-weight="600">{escape(title)}</text>' + "".join(parts) + "</svg>"
    )
