"""Characters that a terminal, a viewer or a reader of lines obeys instead of showing.

The one list of them, and the ways to take away what they do. Notes, file names and queries may come from
anyone; whatever is printed goes through here.
"""

from __future__ import annotations

import re

# C0 but for tab and line break, DEL and C1 (U+009B alone begins an escape sequence); the line and paragraph
# separators; what embeds, overrides or isolates a direction (U+202A to U+202E, U+2066 to U+2069), by which a
# text reads otherwise than it is stored; and halves of a pair, which no encoding can write. Marks of a
# direction and joiners (U+200C to U+200F) stay: Persian, Hebrew and emoji are written with them.
_FORBIDDEN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
FORBIDDEN = re.compile(f"[{_FORBIDDEN}]")
_IN_JSON = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


def harmless(text: str) -> str:
    """The text with each forbidden character shown as U+FFFD; every other keeps its place."""
    return FORBIDDEN.sub("\ufffd", text)


def harmless_line(text: str) -> str:
    """The same on one line: a line break or tab of a name must not begin a line or a column of its own."""
    return harmless(" ".join(text.split("\n")).replace("\t", " "))


def harmless_json(encoded: bytes) -> bytes:
    """The same JSON value with forbidden characters escaped as ``\\uXXXX``; other JSON stays as it is.

    Of the forbidden ones JSON itself only escapes C0.
    """
    return _IN_JSON.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), encoded)
