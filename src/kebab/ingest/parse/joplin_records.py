"""Joplin's records: a title, a body, and what Joplin knows of it as ``key: value`` lines at the end.

A raw export is a folder of them, a ``.jex`` file an archive of them. Notebooks, tags and attachments are
records too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kebab.domain.documents import Metadata

_ID = re.compile(r"[0-9a-f]{32}")
_LINE = re.compile(r"([a-z_]{1,40}):(?: (.*))?")
_KINDS = {
    "1": "note",
    "2": "notebook",
    "4": "attachment",
    "5": "tag",
    "6": "tag of a note",
    "13": "revision",
}
_MOST_LINES = 100
_HTML = "2"


@dataclass(frozen=True, slots=True)
class Record:
    title: str
    body: str
    lines: int
    """How many lines of the file stand before what Joplin knows."""
    known: Mapping[str, str]

    @property
    def id(self) -> str:
        return self.known.get("id", "")

    @property
    def kind(self) -> str:
        return _KINDS.get(self.known.get("type_", ""), "record of another kind")

    @property
    def is_encrypted(self) -> bool:
        return self.known.get("encryption_applied") == "1"

    @property
    def is_html(self) -> bool:
        return self.known.get("markup_language") == _HTML

    @property
    def days(self) -> tuple[str | None, str | None]:
        """When it was written and changed, as Joplin puts it; what the user set counts before the machine."""
        made = self.known.get("user_created_time") or self.known.get("created_time")
        changed = self.known.get("user_updated_time") or self.known.get("updated_time")
        return made or None, changed or None

    def describe(self, metadata: Metadata) -> Metadata:
        made, changed = self.days
        url = self.known.get("source_url", "")
        user = {**metadata.user, "url": url} if url else metadata.user
        return replace(
            metadata,
            created_at=made or metadata.created_at,
            updated_at=changed or metadata.updated_at,
            user=user,
        )


def is_record_name(stem: str) -> bool:
    """Whether a file is called as Joplin calls its records."""
    return _ID.fullmatch(stem) is not None


def read_record(text: str) -> Record | None:
    """The record of a text; None where the text does not end as one."""
    lines = text.rstrip().split("\n")
    known: dict[str, str] = {}
    at = len(lines)
    while at and len(lines) - at < _MOST_LINES and (found := _LINE.fullmatch(lines[at - 1].rstrip())):
        known[found[1]] = (found[2] or "").strip()
        at -= 1
    if not {"id", "type_"} <= known.keys() or (at and lines[at - 1].strip()):
        return None
    title = lines[0].strip() if at else ""
    return Record(title, "\n".join(lines[1:at]).strip("\n"), at, known)
