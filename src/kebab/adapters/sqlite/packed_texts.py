"""How the text of a document lies in its row: compressed, with a table of places to begin reading at.

A search shows a few lines of some dozen documents, and some of these are books. Each block of a text is
compressed by itself inside one stream; the table behind the stream says where each begins. A row without a
table is a stream as well: short texts have none, and earlier versions wrote none.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from kebab.errors import Corrupt

BLOCK = 4096
"""Characters. Texts take a seventh more room than without blocks; with twice of it, a twelfth."""
EARLIER = 8192
"""Of what was packed before."""
# Level 3: a third less time than the default level for a fifteenth more disk.
_LEVEL = 3
# Bytes read beyond a character each, so that a few characters of several bytes do not take a second step.
_SPARE = 64
# How a row with a table ends; a stream ends so by chance once in four billion, and then costs time alone.
_MARKS = {BLOCK: b"kb\x00\x02", EARLIER: b"kb\x00\x01"}
_BLOCKS = {mark: block for block, mark in _MARKS.items()}
_END = struct.Struct("<I4s")


class Part(NamedTuple):
    """Some of a text, in its characters."""

    text: str
    start: int
    """Where it begins."""
    checked: bool
    """Whether the stream's checksum answers for it. Otherwise it may be damaged without a word."""


def packed(text: str, *, block: int = BLOCK) -> bytes:
    """The text as its row holds it. The stream ends with a checksum of the text."""
    if len(text) <= block:
        return zlib.compress(text.encode(), _LEVEL)
    stream, found, begins = zlib.compressobj(_LEVEL), bytearray(), []
    for start in range(0, len(text), block):
        if start:
            # What follows a full flush refers to nothing before it.
            found += stream.flush(zlib.Z_FULL_FLUSH)
            begins.append(len(found))
        found += stream.compress(text[start : start + block].encode())
    found += stream.flush()
    return bytes(found) + struct.pack(f"<{len(begins)}I", *begins) + _END.pack(len(begins), _MARKS[block])


def unpacked(content: str | bytes, asset_id: str) -> str:
    """The text of a row; raises Corrupt where it is not what was packed."""
    if isinstance(content, str):  # as the first schema stored it
        return content
    try:
        return zlib.decompress(content).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise Corrupt(
            f"the stored text {asset_id[:8]} is damaged: {error}",
            hint="run `kebab doctor --repair`: it reads the file again",
        ) from error


def part(content: str | bytes, asset_id: str, start: int, end: int) -> Part:
    """At least the characters from ``start`` to ``end`` of the text, as far as it has them.

    What no checksum answers for is to be compared with what is known of it. Raises Corrupt.
    """
    if isinstance(content, str):
        return Part(content, 0, True)
    begins, block = _table(content)
    first = min(max(start, 0) // block, len(begins))
    last = max(end - 1, 0) // block
    # The blocks alone: whoever unpacks hands back a copy of all that is left.
    blocks = content[begins[first - 1] if first else 0 : begins[last] if last < len(begins) else None]
    try:
        read = _inflated(blocks, end - first * block, inside=first > 0)
    except zlib.error:
        read = None
    if read is None:
        return Part(unpacked(content, asset_id), 0, True)  # which says what is wrong
    return Part(read[0], first * block, read[1] and not first)


def _table(content: bytes) -> tuple[Sequence[int], int]:
    """Where each block but the first begins, and how many characters one has; without a table, none."""
    block = _BLOCKS.get(content[-4:])
    if block is None or len(content) < _END.size:
        return (), BLOCK
    count, _ = _END.unpack_from(content, len(content) - _END.size)
    size = 4 * count + _END.size
    if size > len(content):
        return (), BLOCK
    return struct.unpack_from(f"<{count}I", content, len(content) - size), block


def _inflated(stream: bytes, length: int, *, inside: bool) -> tuple[str, bool] | None:
    """So many first characters of a stream, or all, and whether it was read to its end; None without an end.

    What begins ``inside`` of a stream has neither its head nor a checksum of its own.
    """
    inflater = zlib.decompressobj(-zlib.MAX_WBITS if inside else zlib.MAX_WBITS)
    read, text, size = b"", "", max(length, 0) + _SPARE
    while stream and not inflater.eof and len(text) < length:
        read += inflater.decompress(stream, size)
        stream, text = inflater.unconsumed_tail, read.decode("utf-8", "ignore")
        # As many bytes as the missing characters take if they are like those before.
        size = (length - len(text)) * len(read) // max(1, len(text)) + _SPARE
    return (text, inflater.eof) if inflater.eof or len(text) >= length else None
