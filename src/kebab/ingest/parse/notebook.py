"""Jupyter notebooks: text and code cells with what they printed, cited by the number of the cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from kebab.domain.documents import Media
from kebab.domain.places import Items
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.embedded import add_markdown
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.textual import Decoding

VERSION = "notebook-v2"

_LONGEST_OUTPUT = 4000
_STANDS_FOR = re.compile(r"<[^<>\n]{1,200}>")
"""``<Figure size 640x480 with 1 Axes>``: what stands for a picture or a page where none can be shown."""
_WIDGET = "application/vnd.jupyter.widget-view+json"
_RICH = frozenset({"png", "jpeg", "svg", "html"})
"""Names of pictures and pages in format 3."""
_NO_NOTEBOOK = "not a notebook: it is no JSON with cells"


def parse_notebook(lines: Lines, defaults: Defaults) -> Parsed | Unreadable:
    try:
        notebook = json.loads(lines.text)
    except (ValueError, RecursionError):
        return Unreadable(_NO_NOTEBOOK)
    cells = list(_cells(notebook)) if isinstance(notebook, dict) else None
    if cells is None:
        return Unreadable(_NO_NOTEBOOK)
    language = _language(notebook)
    composer = Composer()
    for number, cell in enumerate(cells, 1):
        _add(composer, cell, Items("cell", number, number), language)
    return composer.parsed("", defaults)


FORMAT = Format(Media.NOTEBOOK, VERSION, Decoding(parse_notebook), by_place.CHUNKER)


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The cells of format 4, and of the sheets of format 3."""
    sheets = notebook.get("worksheets")
    for holder in (notebook, *(sheets if isinstance(sheets, list) else ())):
        cells = holder.get("cells") if isinstance(holder, dict) else None
        yield from (cell for cell in cells if isinstance(cell, dict)) if isinstance(cells, list) else ()


def _language(notebook: dict[str, Any]) -> str:
    about = notebook.get("metadata")
    named = about.get("language_info") if isinstance(about, dict) else None
    name = named.get("name") if isinstance(named, dict) else None
    return name if isinstance(name, str) and name.isalnum() else "python"


def _add(composer: Composer, cell: dict[str, Any], place: Items, language: str) -> None:
    source = _joined(cell.get("source", cell.get("input")))
    match cell.get("cell_type"):
        case "markdown":
            add_markdown(composer, source, lambda: place)
        case "heading":
            level = cell.get("level")
            composer.heading(level if isinstance(level, int) else 1, source, place)
        case "code":
            composer.code(source, place, language=language)
            outputs = cell.get("outputs")
            for output in outputs if isinstance(outputs, list) else ():
                if isinstance(output, dict):
                    composer.code(_printed(output), place)


def _printed(output: dict[str, Any]) -> str:
    """What a person reads of an output: its text, or the error; images and pages are left out."""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    shown = output.get("data")
    text = _joined(output.get("text") or (shown.get("text/plain") if isinstance(shown, dict) else None))
    if _is_shown_otherwise(shown if isinstance(shown, dict) else output, text.strip()):
        return ""
    if len(text) <= _LONGEST_OUTPUT:
        return text
    return text[:_LONGEST_OUTPUT].rsplit("\n", 1)[0] + "\n…"


def _is_shown_otherwise(shown: dict[str, Any], text: str) -> bool:
    """Whether the text only stands for a picture, a page or a widget, which a person sees in its place."""
    rich = any(name in _RICH or ("/" in name and name != "text/plain") for name in shown)
    return _WIDGET in shown or (rich and bool(_STANDS_FOR.fullmatch(text)))


def _joined(source: object) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""
