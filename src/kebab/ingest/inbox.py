"""The inbox: a folder among kebab's own data for texts and files that belong to no source.

What is put there stays there, so that it can be read again when a setting changes, and no scan of another
source removes it.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from kebab.domain.ids import digest, nfc
from kebab.errors import InvalidInput, StorageError
from kebab.ingest.parse.decode import Undecodable, decode
from kebab.ingest.parse.front_matter import read_front_matter

_NAME_BYTES = 120


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be put into the inbox, and where."""

    path: Path
    content: bytes

    def keep(self) -> None:
        """Write all or nothing, in place of what stands there. Raises StorageError."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part = self.path.with_name(f".{self.path.name}.part")
            part.write_bytes(self.content)
            os.replace(part, self.path)
        except OSError as error:
            raise StorageError(f"{self.path} cannot be written: {error.strerror}") from error


def text_draft(inbox: Path, title: str, text: str | bytes) -> Draft:
    """A text under its title; the same title, but for its case, names the same place.

    Raises InvalidInput for bytes that are no text, and for a title that names nothing. A text with a few bad
    bytes is refused too: the sender still has them, and what is kept here would be the only copy.
    """
    # A terminal hands over undecodable bytes as lone surrogates, which no file can hold.
    title = " ".join(nfc(title).encode(errors="replace").decode().split())
    name = _file_name(title)
    if not name:
        raise InvalidInput(f"the title {title!r} has no letter or digit to name it by")
    decoded = decode(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    if isinstance(decoded, Undecodable):
        raise InvalidInput(f"{title!r} cannot be stored: {decoded.reason}")
    if decoded.fault:
        raise InvalidInput(f"{title!r} cannot be stored: {decoded.fault}", hint="convert it to UTF-8 first")
    return Draft(inbox / "notes" / f"{name}.md", titled(decoded.text, title).encode())


def file_draft(inbox: Path, file: Path) -> Draft | Undecodable:
    """A copy of a file from outside; its path below the inbox is its own, so that equal names do not meet.

    What is no text is not to be kept: every later run would read it and fail again. Raises InvalidInput for a
    file that cannot be read.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    decoded = decode(content)
    if isinstance(decoded, Undecodable):
        return decoded
    return Draft(inbox.joinpath("files", *file.parts[1:]), content)


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
    """Letters and digits of the title; a digest tells apart titles such as C++ and C#, which share them."""
    name = re.sub(r"[^\w.-]+", "-", title.casefold()).strip("-.")
    if not name or (name == title.casefold().replace(" ", "-") and "-" not in title and _fits(name)):
        return name
    while not _fits(name):
        name = name[:-1]
    return f"{name}-{digest('title', title.casefold())[:8]}"


def _fits(name: str) -> bool:
    return len(name.encode()) <= _NAME_BYTES
