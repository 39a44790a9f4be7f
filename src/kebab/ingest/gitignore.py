"""Lines of an ignore file, read as git reads them (gitignore(5), and wildmatch.c where that is silent).

Not with a library: those turn patterns into regular expressions, and fifteen stars in a stranger's file keep
one of them busy for hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kebab.domain.globs import NOT_SLASH, Matches, OneOf, Piece, Wild, path_matches

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t-\\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}

_LONGEST_CLASS = 64
_OTHER = re.compile(r"[^*]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern and whether it leaves out, or takes back, what it matches."""

    leaves_out: bool
    folders_only: bool
    whole_path: bool
    """Whether it speaks of the path below the file's folder, or of a name at any depth."""
    matches: Matches

    def is_about(self, path: str) -> bool:
        """Whether the rule decides about this entry itself; the path of a folder ends with a slash."""
        plain = path.removesuffix("/")
        if self.folders_only and plain is path:
            return False
        return self.matches(plain if self.whole_path else plain.rpartition("/")[2])


def read_rule(line: str) -> Rule | None:
    """The rule of a line; None for a blank one or a comment. Raises ValueError for one that is no pattern."""
    text = _without_trailing_spaces(line)
    if not text or text.startswith("#"):
        return None
    pattern = text.removeprefix("!")
    folders_only = pattern.endswith("/")
    bare = pattern.removesuffix("/")
    if not bare:
        raise ValueError(f"{line!r} names nothing")
    return Rule(
        leaves_out=pattern is text,
        folders_only=folders_only,
        whole_path="/" in bare,
        matches=path_matches(list(_pieces(bare.removeprefix("/")))),
    )


def _without_trailing_spaces(line: str) -> str:
    """The line without spaces at its end, except where a backslash stands before one."""
    kept = line.rstrip(" ")
    escaped = (len(kept) - len(kept.rstrip("\\"))) % 2 == 1
    return kept + " " if escaped and len(kept) < len(line) else kept


def _pieces(pattern: str) -> Iterator[Piece]:
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            end = next((other.start() for other in _OTHER.finditer(pattern, at)), len(pattern))
            yield from _stars(pattern, at, end)
            # The slash behind ** belongs to it.
            at = end + (end - at > 1 and _between_slashes(pattern, at, end) and end < len(pattern))
        elif char == "[":
            one, at = _set(pattern, at + 1)
            yield one
        elif char == "\\":
            if at + 1 == len(pattern):
                raise ValueError(f"{pattern!r} ends with a backslash")
            yield pattern[at + 1]
            at += 2
        else:
            yield NOT_SLASH if char == "?" else char
            at += 1


def _stars(pattern: str, at: int, end: int) -> Iterator[Wild]:
    """Two stars or more cross folders, but only as a whole name; elsewhere they are one."""
    if end - at < 2 or not _between_slashes(pattern, at, end):
        yield Wild.NAME
    else:
        yield Wild.ANY if end == len(pattern) else Wild.FOLDERS


def _between_slashes(pattern: str, at: int, end: int) -> bool:
    return (at == 0 or pattern[at - 1] == "/") and pattern[end : end + 1] in ("", "/")


def _set(pattern: str, at: int) -> tuple[OneOf, int]:
    """The set that begins here, and where the pattern goes on; no set holds a slash."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    members: list[str] = []
    first, before = at, ""
    while pattern[at : at + 1] != "]" or at == first:
        char, after = _member(pattern, at)
        if char == "-" and pattern[at] == "-" and before and pattern[after : after + 1] not in ("", "]"):
            last, after = _member(pattern, after)
            members += [f"{re.escape(before)}-{re.escape(last)}"] if before <= last else []
            before = ""
        elif len(char) > 1:
            members.append(_CLASSES[char])
            before = ""
        else:
            members.append(re.escape(char))
            before = char
        at = after
    inside = "".join(members)
    if negated:
        return OneOf(f"[^/{inside}]"), at + 1
    return OneOf(f"(?!/)[{inside}]" if inside else "(?!)"), at + 1


def _member(pattern: str, at: int) -> tuple[str, int]:
    """A character of a set, or the name of a class, and where the next begins."""
    char = pattern[at : at + 1]
    if char == "\\":
        at += 1
        char = pattern[at : at + 1]
    elif pattern.startswith("[:", at):
        end = pattern.find("]", at + 2, at + _LONGEST_CLASS)
        name = pattern[at + 2 : end - 1]
        if end > at + 2 and pattern[end - 1] == ":":
            if name not in _CLASSES:
                raise ValueError(f"{pattern!r} names no class of characters: {name!r}")
            return name, end + 1
    if not char:
        raise ValueError(f"{pattern!r} has a bracket that never closes")
    return char, at + 1
