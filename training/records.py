"""Training records, NAME.jsonl.xz: one array a line, `[title_en, body_en, title_ko, body_ko]`."""

from __future__ import annotations

import json
import lzma
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

SEPARATOR = "\u241f"
DEV_SHARE = 0.02

Row = tuple[str, str, str, str]
"""What becomes a record: titles and bodies as they were found."""


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


def write(path: Path, rows: Iterable[Row], *, avoid: frozenset[str] = frozenset()) -> int:
    """Write each record once, in NFC and with single spaces, and return how many there are.

    Left out are empty records and those of which a title or a body is a text of `avoid`.
    """
    cleaned = (tuple(" ".join(unicodedata.normalize("NFC", text).split()) for text in row) for row in rows)
    kept = dict.fromkeys(row for row in cleaned if any(row) and not avoid.intersection(row))
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)
    return len(kept)


def measured(paths: Iterable[Path]) -> frozenset[str]:
    """Return the texts of measurement files (JSON lines with a `text`), which must not be trained on."""
    lines = (line for path in paths for line in path.read_text("utf-8").splitlines())
    return frozenset(json.loads(line)["text"].strip() for line in lines)


def is_dev(record: Record) -> bool:
    """Say whether a record is held out of training: by its page, so that no page is on both sides."""
    page = (record.title_en or record.title_ko).split(SEPARATOR)[0] or record.body_en or record.body_ko
    return zlib.crc32(page.encode()) % 10_000 < DEV_SHARE * 10_000
