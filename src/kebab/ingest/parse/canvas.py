"""Obsidian canvases: the cards from top to bottom, each an item."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kebab.domain.documents import BlockKind, Media
from kebab.domain.places import Items
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.embedded import add_markdown
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.textual import Decoding

VERSION = "canvas-v1"


def parse_canvas(lines: Lines, defaults: Defaults) -> Parsed | Unreadable:
    try:
        canvas = json.loads(lines.text or "{}")
    except (ValueError, RecursionError):
        return Unreadable("not a canvas: it is no JSON")
    nodes = sorted(_dicts(canvas, "nodes"), key=lambda node: (_number(node, "y"), _number(node, "x")))
    composer = Composer()
    for number, node in enumerate(nodes, 1):
        composer.close_sections()
        _add(composer, node, Items("item", number, number))
    names = {node.get("id"): _name(node) for node in nodes}
    for number, edge in enumerate(_dicts(canvas, "edges"), len(nodes) + 1):
        if isinstance(edge.get("label"), str):
            ends = [names.get(edge.get(key), "") for key in ("fromNode", "toNode")]
            text = f"- {ends[0]} → {ends[1]}: {edge['label']}"
            composer.block(BlockKind.LIST, text, Items("item", number, number))
    return composer.parsed(defaults.stem, defaults)


FORMAT = Format(Media.OUTLINE, VERSION, Decoding(parse_canvas), by_place.CHUNKER)


def _add(composer: Composer, node: dict[str, Any], place: Items) -> None:
    match node.get("type"):
        case "text":
            add_markdown(composer, _text(node, "text"), lambda: place)
        case "group":
            composer.heading(2, _text(node, "label"), place)
        case "file":
            composer.block(BlockKind.PARAGRAPH, f"[[{_text(node, 'file')}]]", place)
        case "link":
            composer.block(BlockKind.PARAGRAPH, _text(node, "url"), place)


def _dicts(holder: object, key: str) -> Iterator[dict[str, Any]]:
    found = holder.get(key) if isinstance(holder, dict) else None
    return (one for one in found if isinstance(one, dict)) if isinstance(found, list) else iter(())


def _name(node: dict[str, Any]) -> str:
    words = next((value for key in ("label", "file", "text", "url") if (value := _text(node, key))), "")
    return words.strip().split("\n", 1)[0].lstrip("# ")[:60]


def _text(node: dict[str, Any], key: str) -> str:
    value = node.get(key)
    return value if isinstance(value, str) else ""


def _number(node: dict[str, Any], key: str) -> float:
    value = node.get(key)
    return value if isinstance(value, int | float) else 0.0
