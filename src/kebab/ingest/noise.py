"""Files that programs leave beside a document: what editors write for a moment, what sync programs keep."""

from __future__ import annotations

import re

# Office's owner files have the document's own extension; other editors' have one that nobody reads.
_TEMPORARY = re.compile(
    r"^(?:~\$.*|\.~lock\..*|\.#.*|#.*#|.*~|.*___jb_(?:tmp|old)___|4913|\.syncthing\..*\.tmp)"
)
_CONFLICT = re.compile(
    r"(?P<stem>.{1,200}?)"
    r"(?:\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]{7}"  # Syncthing
    r"| \([^()]{0,80}conflicted copy[^()]{0,80}\)"  # Dropbox, Nextcloud
    r"|_conflict-\d{8}-\d{6})"  # ownCloud
    r"(?P<ending>\.[^.]{1,16})?",
    re.IGNORECASE,
)


def is_temporary(name: str) -> bool:
    """Whether a file of this name is one that an editor or a sync program removes again."""
    return _TEMPORARY.fullmatch(name) is not None


def conflict_of(name: str) -> str | None:
    """The name of the document that a sync program kept this copy of; None for any other name.

    >>> conflict_of("plan.sync-conflict-20240501-120000-ABCDEF1.md")
    'plan.md'
    """
    found = _CONFLICT.fullmatch(name)
    return f"{found['stem']}{found['ending'] or ''}" if found else None
