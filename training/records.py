"""Reads training records from NAME.jsonl.xz: `[title_en, body_en, title_ko, body_ko]`, one array a line."""

from __future__ import annotations

import json
import lzma
import unicodedata
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEPARATOR = "\u241f"
DEV_SHARE = 0.02


class Record(NamedTuple):
    """One page or section; empty strings where a side is missing."""

    title_en: str
    body_en: str
    title_ko: str
    body_ko: str


def sources(folder: Path) -> list[Path]:
    """Return the record files of a folder, largest first, so that workers finish together."""
    return sorted(folder.glob("*.jsonl.xz"), key=lambda path: (-path.stat().st_size, path.name))


def read(path: Path) -> Iterator[Record]:
    """Yield the records of one file in order, in NFC."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield Record(*(unicodedata.normalize("NFC", text) for text in json.loads(line)))


def is_dev(record: Record) -> bool:
    """Say whether a record is held out of training: by its page, so that no page is on both sides."""
    page = (record.title_en or record.title_ko).split(SEPARATOR)[0] or record.body_en or record.body_ko
    return zlib.crc32(page.encode()) % 10_000 < DEV_SHARE * 10_000
