"""The inbox: a folder among kebab's own data for texts and files that belong to no source.

What is put there stays there, so that it can be read again when a setting changes, and no scan of another
source removes it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from kebab.disk.private import make_folder, replacing
from kebab.domain.ids import content_hash, digest, nfc
from kebab.errors import InvalidInput, StorageError
from kebab.ingest.parse.decode import Undecodable, decode
from kebab.ingest.parse.front_matter import read_front_matter
from kebab.ingest.parse.parsed import Defaults, Format, Unreadable

_NAME_BYTES = 120


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be put into the inbox, and where."""

    path: Path
    content: bytes

    def keep(self) -> None:
        """Write all or nothing, in place of what stands there. Raises StorageError."""
        if _holds(self.path, self.content):
            return
        try:
            make_folder(self.path.parent)
            with replacing(self.path) as file:
                file.write(self.content)
        except OSError as error:
            raise StorageError(f"{self.path} cannot be written: {error.strerror}") from error


def text_draft(inbox: Path, title: str, text: str | bytes) -> Draft:
    """A text under its title. Another text of that title has another place, the same text the same.

    What stands in the inbox may be the only copy, so the caller holds the writer's lock until the draft is
    kept. Raises InvalidInput for an empty text, bytes that are no text, and a title that names nothing. A
    text with a few bad bytes is refused too: the sender still has them, and this would be the only copy.
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
    if not decoded.text.strip():
        raise InvalidInput(f"there is no text to store under {title!r}")
    content = titled(decoded.text, title).encode()
    return Draft(_free(inbox / "notes", name, content), content)


def _free(folder: Path, name: str, content: bytes) -> Path:
    """The first of the title's places that holds this text or nothing."""
    key = content_hash(content)
    places = [folder / f"{name}{mark}.md" for mark in ("", f"-{key[:8]}", f"-{key}")]
    return next((path for path in places if not path.exists() or _holds(path, content)), places[-1])


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False


def file_draft(inbox: Path, file: Path, kind: Format) -> Draft | Unreadable:
    """A copy of a file from outside; its path below the inbox is its own, so that equal names do not meet.

    What its parser cannot read is not to be kept: every later run would read it and fail again. A parser that
    may only run in a process of its own is not asked. Raises InvalidInput for a file that cannot be read.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    parsed = (
        None if kind.isolated else kind.parse(content, Defaults(file.stem, extension=file.suffix.lower()))
    )
    if isinstance(parsed, Unreadable):
        return parsed
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
