"""Path globs, as filters and ``--path`` understand them."""

from __future__ import annotations

import re
from functools import lru_cache

from kebab.domain.ids import nfc

_PIECE = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?[^\]/]+\]|[^*?\[]+|\[")


@lru_cache(maxsize=256)
def glob_pattern(glob: str) -> re.Pattern[str]:
    """Compile a glob for ``fullmatch`` over POSIX paths; every string is a valid glob.

    ``*`` and ``?`` stay inside a folder, ``**`` crosses folders (``a/**/b`` also matches ``a/b``), ``[…]``
    is a set of characters. A glob that ends in ``/`` means everything below that folder. Case matters.
    """
    whole = nfc(glob) + ("**" if glob.endswith("/") else "")
    return re.compile("".join(_translated(piece) for piece in _PIECE.findall(whole)), re.DOTALL)


def _translated(piece: str) -> str:
    match piece:
        case "**/":
            return "(?:.*/)?"
        case "/**":
            return "/.*"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
    if len(piece) > 1 and piece.startswith("["):
        return _character_set(piece[1:-1])
    return re.escape(piece)


def _character_set(members: str) -> str:
    negated, members = members.startswith("!"), members.removeprefix("!")
    # Escaped one by one, the range sign apart: `[a-z]` is a range, `[\d^]` is three characters.
    inside = "".join(char if char == "-" else re.escape(char) for char in members)
    try:
        return re.compile(f"(?!/)[{'^' if negated else ''}{inside}]").pattern
    except re.error:  # an impossible range such as [z-a]
        return re.escape(f"[{'!' if negated else ''}{members}]")
