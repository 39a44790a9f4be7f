"""Patterns over paths, matched in time that grows with the path and never explodes.

A pattern is a row of pieces: characters, sets of characters and wildcards. A regular expression tries every
way to share a path among several stars, so only simple rows become one. The others are matched by walking
the path once with the set of places in the row that can be reached so far, kept as the bits of one number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import lru_cache

from kebab.domain.ids import nfc
from kebab.domain.values import dataclass

# A set of more than 256 members is text: looking further for its end would take the square of a long glob.
_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|\[!?[^\]/]{1,256}\]|[^*?\[]+|\[")
_MEMBER = re.compile(r"(?P<first>.)-(?P<last>.)|.", re.DOTALL)

Matches = Callable[[str], bool]


class Wild(Enum):
    """A piece that stands for any number of characters; the value is its regular expression."""

    NAME = "[^/]*"
    ANY = ".*"
    FOLDERS = "(?:.*/)?"
    """Nothing, or anything that ends with a slash."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """A piece that stands for one character, given by a regular expression."""

    source: str


Piece = Wild | OneOf | str
"""A string is one character that stands for itself."""

NOT_SLASH = OneOf("[^/]")
_JOINED = {
    (Wild.NAME, Wild.NAME): Wild.NAME,
    (Wild.FOLDERS, Wild.FOLDERS): Wild.FOLDERS,
    (Wild.FOLDERS, Wild.ANY): Wild.ANY,
    (Wild.NAME, Wild.ANY): Wild.ANY,
    **{(Wild.ANY, after): Wild.ANY for after in Wild},
}
"""Neighbours that mean no more than one of them."""


@lru_cache(maxsize=256)
def glob_matches(glob: str) -> Matches:
    """Read a glob into a test of whole POSIX paths; every string is a valid glob.

    ``*`` and ``?`` stay inside a folder, ``**`` crosses folders (``a/**/b`` also matches ``a/b``), ``[…]``
    is a set of characters. A glob that ends in ``/`` means everything below that folder. Case matters.
    """
    whole = nfc(glob) + ("**" if glob.endswith("/") else "")
    return path_matches([piece for text in _PIECE.findall(whole) for piece in _read(text)])


def path_matches(pieces: Sequence[Piece]) -> Matches:
    """A test of whole paths against a row of pieces, in time proportional to the path."""
    row = _joined(pieces)
    if _is_simple(row):
        source = "".join(re.escape(piece) if isinstance(piece, str) else _source(piece) for piece in row)
        pattern = re.compile(source, re.DOTALL)
        return lambda path: pattern.fullmatch(path) is not None
    return _Walker(row).matches


def _read(text: str) -> Iterator[Piece]:
    wild: dict[str, Piece] = {"**/": Wild.FOLDERS, "**": Wild.ANY, "*": Wild.NAME, "?": NOT_SLASH}
    if text in wild:
        yield wild[text]
    elif len(text) > 1 and text.startswith("["):
        yield from _character_set(text[1:-1])
    else:
        yield from text


def _character_set(members: str) -> Iterator[Piece]:
    negated, members = members.startswith("!"), members.removeprefix("!")
    # Escaped one by one, but for the sign of a range: `[a-z]` is a range, `[\d^]` is three characters.
    inside = _MEMBER.sub(_escaped, members)
    source = f"(?!/)[{'^' if negated else ''}{inside}]"
    try:
        re.compile(source)
    except re.error:  # an impossible range such as [z-a]
        yield from f"[{'!' if negated else ''}{members}]"
    else:
        yield OneOf(source)


def _escaped(member: re.Match[str]) -> str:
    first, last = member["first"], member["last"]
    return f"{re.escape(first)}-{re.escape(last)}" if last else re.escape(member[0])


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    row: list[Piece] = []
    for piece in pieces:
        before = row[-1] if row else None
        if isinstance(before, Wild) and isinstance(piece, Wild) and (before, piece) in _JOINED:
            row[-1] = _JOINED[before, piece]
        else:
            row.append(piece)
    return row


def _is_simple(row: Sequence[Piece]) -> bool:
    """Whether a regular expression reads each folder of a path once: no two stars compete for one text."""
    wild = [piece for piece in row if isinstance(piece, Wild)]
    if len(wild) < 2 or wild == [Wild.FOLDERS, Wild.NAME]:
        return True
    return wild == [Wild.NAME, Wild.ANY] and row[-1] is Wild.ANY


def _source(piece: Wild | OneOf) -> str:
    return piece.value if isinstance(piece, Wild) else piece.source


class _Walker:
    """Matches a row of pieces by the set of places that a path can have reached.

    Place n means that the pieces before the nth are matched. ``FOLDERS`` has two: before it, and inside.
    """

    def __init__(self, row: Sequence[Piece]) -> None:
        self._stays_in_name = self._stays = self._skips_one = self._skips_two = 0
        self._chars: dict[str, int] = {"/": 0}
        self._sets: list[tuple[re.Pattern[str], int]] = []
        bit = 1
        for piece in row:
            bit = self._add(piece, bit)
        self._end = bit

    def _add(self, piece: Piece, bit: int) -> int:
        """Put a piece at a place; returns the place behind it."""
        match piece:
            case Wild.NAME:
                self._stays_in_name |= bit
                self._skips_one |= bit
            case Wild.ANY:
                self._stays |= bit
                self._skips_one |= bit
            case Wild.FOLDERS:
                self._skips_one |= bit
                self._skips_two |= bit
                bit <<= 1
                self._stays |= bit
                self._chars["/"] |= bit
            case OneOf(source):
                self._sets.append((re.compile(source), bit))
            case _:
                self._chars[piece] = self._chars.get(piece, 0) | bit
        return bit << 1

    def matches(self, path: str) -> bool:
        reached = self._skipped(1)
        moves = {char: self._moved_by(char) for char in set(path)}
        for char in path:
            stays = self._stays if char == "/" else self._stays | self._stays_in_name
            reached = self._skipped((reached & moves[char]) << 1 | reached & stays)
            if not reached:
                return False
        return bool(reached & self._end)

    def _moved_by(self, char: str) -> int:
        """The places from which this character leads to the next."""
        return self._chars.get(char, 0) | sum(bit for one, bit in self._sets if one.fullmatch(char))

    def _skipped(self, reached: int) -> int:
        """With the places behind wildcards that may stand for nothing; never more than three in a row."""
        while True:
            further = reached | (reached & self._skips_one) << 1 | (reached & self._skips_two) << 2
            if further == reached:
                return reached
            reached = further


def in_folder(path: str, glob: str) -> bool:
    """Whether a path matches a glob, or lies in the folder that a text without wildcards names."""
    if glob_matches(glob)(path):
        return True
    plain = not any(sign in glob for sign in "*?[")
    return plain and bool(glob) and path.startswith(f"{nfc(glob).rstrip('/')}/")


def is_file(path: str, name: str) -> bool:
    """Whether a file's name holds a text, whatever its case, or matches a glob."""
    own = path.rpartition("/")[2].casefold()
    wanted = nfc(name).casefold()
    return glob_matches(wanted)(own) if any(sign in wanted for sign in "*?[") else wanted in own
