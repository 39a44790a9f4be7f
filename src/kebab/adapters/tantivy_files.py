"""The files of a words index on tantivy: which of them are searched, and how a folder of them is opened."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


def searched_files(folder: Path) -> list[Path]:
    """The files of the newest commit of an index of this engine, without what merges left behind."""
    meta = folder / "meta.json"
    listed = json.loads(meta.read_bytes())["segments"]
    segments = {segment["segment_id"].replace("-", "") for segment in listed}
    return [meta, *sorted(file for file in folder.iterdir() if file.name.partition(".")[0] in segments)]


def segments_of(folder: Path) -> tuple[int, int]:
    """How many segments the newest commit has, and how many documents in them are deleted."""
    listed = json.loads((folder / "meta.json").read_bytes())["segments"]
    deleted = [(segment.get("deletes") or {}).get("num_deleted_docs", 0) for segment in listed]
    return len(listed), sum(deleted)


def remove_folder(folder: Path) -> None:
    """Remove a folder in which threads of the engine may still be tidying up files of their own."""
    for _ in range(3):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
    shutil.rmtree(folder)


@contextmanager
def lockable(folder: Path) -> Iterator[Path]:
    """The folder itself; where it cannot be written, one of links to its files.

    The engine locks an index to open it for reading, even, and cannot where the folder is read-only.
    """
    if os.access(folder, os.W_OK):
        yield folder
        return
    with TemporaryDirectory(prefix="kebab-words-") as links:
        for file in folder.iterdir():
            if file.suffix != ".lock":
                Path(links, file.name).symlink_to(file.absolute())
        yield Path(links)
