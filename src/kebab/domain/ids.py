"""Identifiers: the first 32 hex digits of blake3 over the canonical JSON of a tuple that starts with a kind.

The same input gives the same id on every machine; changing any input gives another id.
"""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import groupby
from typing import NewType

import msgspec
from blake3 import blake3

AssetId = NewType("AssetId", str)
DocId = NewType("DocId", str)
BlockId = NewType("BlockId", str)
ChunkId = NewType("ChunkId", str)

ID_LENGTH = 32
_encode = msgspec.json.Encoder(order="sorted").encode


def nfc(text: str) -> str:
    """Compose the text: macOS writes decomposed Hangul and accents, and both forms must meet."""
    # Nearly every text is composed, and one look at its characters tells.
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", _MANY_MARKS.sub(_in_order, text))


# Marks that combine are no word characters. The library sorts a run of them by exchanging neighbours, which
# takes the square of its length: a file of nothing but accents would take hours.
_MANY_MARKS = re.compile(r"[^\w\s\x00-\x7f]{32,}")


def _in_order(run: re.Match[str]) -> str:
    """The same marks, decomposed and in canonical order (Unicode 3.11): nothing is left to sort."""
    marks = "".join(unicodedata.normalize("NFD", mark) for mark in run[0])
    ordered: list[str] = []
    for combining, group in groupby(marks, key=lambda mark: unicodedata.combining(mark) > 0):
        ordered += sorted(group, key=unicodedata.combining if combining else lambda mark: 0)
    return "".join(ordered)


def encodable(text: str) -> str:
    """The text with each lone surrogate, which no encoding can write, turned to ``?``.

    A shell's argument that is not UTF-8 arrives with some, and JSON can spell them out.
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def digest(*parts: object) -> str:
    """Hash a tuple of JSON values; the first is the kind of thing that is named."""
    return blake3(_canonical(parts)).hexdigest()[:ID_LENGTH]


def _canonical(parts: tuple[object, ...]) -> bytes:
    """Compact JSON in NFC with sorted keys; a large run writes it for a hundred thousand blocks."""
    try:
        encoded = _encode(parts)
    except UnicodeEncodeError:  # a lone surrogate, which only the slower encoder lets pass
        text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return nfc(text).encode("utf-8", "surrogatepass")
    return encoded if encoded.isascii() else nfc(encoded.decode()).encode()


def content_hash(content: bytes) -> str:
    """The full hash of a file's bytes or of a text that a model reads."""
    return blake3(content).hexdigest()


def asset_id(content: str) -> AssetId:
    return AssetId(digest("asset", content))


def text_asset(asset: AssetId, *, parser_version: str) -> AssetId:
    """Names the text that a parser read out of an asset, where the text is not the file itself."""
    return AssetId(digest("text", asset, parser_version))


def doc_id(*, source_id: str, path: str, asset: AssetId, parser_version: str) -> DocId:
    return DocId(digest("doc", source_id, path, asset, parser_version))


def block_id(
    doc: DocId, *, kind: str, heading_path: tuple[str, ...], ordinal: int, span: tuple[int, ...]
) -> BlockId:
    return BlockId(digest("block", doc, kind, heading_path, ordinal, span))


def chunk_id(
    doc: DocId, *, chunker_version: str, policy_hash: str, block_ids: tuple[BlockId, ...], part: int
) -> ChunkId:
    """``part`` tells apart several chunks that are made from one set of blocks."""
    return ChunkId(digest("chunk", doc, chunker_version, policy_hash, block_ids, part))
