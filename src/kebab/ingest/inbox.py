"""The inbox: a folder among kebab's own data for texts and files that belong to no source.

What is put there stays there, so that it can be read again when a setting changes, and no scan of another
source removes it.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from kebab.domain.ids import nfc
from kebab.errors import InvalidInput, StorageError
from kebab.ingest.parse.front_matter import read_front_matter

_NAME_BYTES = 120


def write_text(inbox: Path, title: str, text: str) -> Path:
    """Store a text under its title, in place of an earlier one of that title; returns its file."""
    title = " ".join(nfc(title).split())
    name = _file_name(title)
    if not name:
        raise InvalidInput(f"the title {title!r} has no letter or digit to name it by")
    return _write(inbox / "notes" / f"{name}.md", titled(text, title).encode("utf-8", "replace"))


def copy_file(inbox: Path, file: Path) -> Path:
    """Copy a file from outside; its path below the inbox is its own, so that equal names do not meet."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    return _write(inbox_path(inbox, file), content)


def inbox_path(inbox: Path, file: Path) -> Path:
    """Where a file from outside is kept."""
    return inbox.joinpath("files", *file.parts[1:])


def titled(text: str, title: str) -> str:
    """The text with the title in its front matter; a title that stands there already is kept."""
    front = read_front_matter(text)
    if not front.lines:
        return f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\n---\n\n{text}"
    if front.values.get("title"):
        return text
    fence, rest = text.split("\n", 1)
    sign = " =" if fence.startswith("+") else ":"
    return f"{fence}\ntitle{sign} {json.dumps(title, ensure_ascii=False)}\n{rest}"


def _file_name(title: str) -> str:
    name = re.sub(r"[^\w.-]+", "-", title.casefold()).strip("-.")
    while len(name.encode()) > _NAME_BYTES:
        name = name[:-1]
    return name


def _write(path: Path, content: bytes) -> Path:
    """Write all or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.part")
        draft.write_bytes(content)
        os.replace(draft, path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from error
    return path
