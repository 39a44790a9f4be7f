"""JSON Lines, as chats are exported: who said what, an item for each line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from kebab.domain.documents import BlockKind, Media
from kebab.domain.places import Items
from kebab.domain.plurals import count_of
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.textual import Decoding

VERSION = "chats-v1"

_WHO = ("role", "from", "author", "sender", "user", "speaker", "name", "type")
_WHAT = (
    "content",
    "text",
    "value",
    "body",
    "message",
    "messages",
    "conversations",
    "parts",
    "output",
    "input",
)
_DEEPEST = 8
_LONGEST_VALUE = 2000


def parse_chats(lines: Lines, defaults: Defaults) -> Parsed | Unreadable:
    composer, broken = Composer(), 0
    for number, line in enumerate(lines.text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            broken += 1
            continue
        for text in _said(record):
            composer.block(BlockKind.PARAGRAPH, text, Items("item", number, number))
    warnings = [f"{count_of(broken, 'line is', 'lines are')} no JSON, and left out"] if broken else []
    return composer.parsed(defaults.stem, defaults, warnings=warnings)


FORMAT = Format(Media.CHAT, VERSION, Decoding(parse_chats), by_place.CHUNKER)


def _said(record: object) -> Iterator[str]:
    """What a record says: its messages, or where it is none of a chat, its values by name."""
    found = list(_messages(record, "", 0))
    if found:
        yield from found
    elif isinstance(record, Mapping):
        values = [
            f"{key}: {_short(value)}" for key, value in record.items() if isinstance(value, str | int | float)
        ]
        if values:
            yield "\n".join(values)


def _messages(record: object, who: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(record, str):
        if record.strip():
            yield f"{who}: {record}" if who else record
    elif isinstance(record, list):
        for one in record:
            yield from _messages(one, who, depth + 1)
    elif isinstance(record, Mapping):
        who = _speaker(record) or who
        for key in _WHAT:
            if isinstance(record.get(key), str | list | Mapping):
                yield from _messages(record[key], who, depth + 1)


def _speaker(record: Mapping[str, object]) -> str:
    for key in _WHO:
        value = record.get(key)
        if isinstance(value, Mapping):
            value = value.get("role") or value.get("name")
        if isinstance(value, str) and value and len(value) < 60 and not (key == "type" and value == "text"):
            return value
    return ""


def _short(value: object) -> str:
    return str(value)[:_LONGEST_VALUE]
