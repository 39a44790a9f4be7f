"""Files of unknown extension, or without one: read as plain text where their content is text."""

from __future__ import annotations

import re
from pathlib import Path

from kebab.domain.documents import Media
from kebab.ingest.chunk import md_heading
from kebab.ingest.parse.decode import Undecodable, decode
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.text import parse_text
from kebab.ingest.parse.textual import Decoding
from kebab.ingest.parse.unwritten import unwritten

VERSION = "unknown-v2"
MOST_BYTES = 1 << 20
"""Larger texts of unknown kind are data, not something to read."""

_HEAD = 4096
# Not text, or text that nobody reads: data, settings, logs, translations, patches.
_NEVER = frozenset({
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".tif", ".tiff", ".heic", ".svg", ".mp3",
    ".m4a", ".wav", ".flac", ".ogg", ".mp4", ".mov", ".avi", ".mkv", ".webm", ".zip", ".gz", ".bz2",
    ".xz", ".zst", ".7z", ".rar", ".tar", ".tgz", ".jar", ".war", ".whl", ".deb", ".rpm", ".dmg", ".iso",
    ".exe", ".dll", ".so", ".a", ".o", ".pyc", ".class", ".wasm", ".woff", ".woff2", ".ttf", ".otf",
    ".eot", ".db", ".sqlite", ".parquet", ".npy", ".npz", ".pkl", ".onnx", ".safetensors", ".gguf",
    ".bin", ".dat", ".pem", ".key", ".crt", ".p12", ".map", ".lock", ".po", ".pot", ".diff", ".patch",
    ".json", ".json5", ".geojson", ".yaml", ".yml", ".toml", ".xml", ".xsd", ".xsl", ".plist", ".ini",
    ".cfg", ".conf", ".properties", ".log",
})  # fmt: skip
_SECRET = re.compile(rb"-----BEGIN [A-Z ]{1,40}-----")
_CODED = {
    b"{\\rtf": "rich text (RTF), which is not read; save it as DOCX or ODT",
    b"%!PS": "PostScript, which is not read; save it as PDF",
}
"""First bytes of documents that are text to a machine alone."""


def may_be_text(ending: str) -> bool:
    """Whether a file of unknown extension is worth opening."""
    return ending not in _NEVER


def why_not(path: str, ending: str, size: int) -> str | None:
    """Why a file that no parser is named for is left out; None where its first bytes are text.

    Raises OSError where it cannot be read.
    """
    unsupported = f"unsupported format {ending}" if ending else "no file extension, and no text"
    if ending in _NEVER:
        return unsupported
    if size > MOST_BYTES:
        return f"{unsupported}, larger than 1 MB"
    with Path(path).open("rb") as file:
        head = file.read(_HEAD)
    if _SECRET.match(head):
        return "a key or a certificate"
    if coded := next((reason for begins, reason in _CODED.items() if head.startswith(begins)), None):
        return coded
    # The last character of the head may be cut.
    text = decode(head if len(head) < _HEAD else head.rpartition(b"\n")[0] or head[:-4])
    return unsupported if isinstance(text, Undecodable) else None


def parse_unknown(lines: Lines, defaults: Defaults) -> Parsed | Unreadable:
    if reason := unwritten(defaults.stem + defaults.extension, lines.text):
        return Unreadable(reason)
    return parse_text(lines, defaults)


FORMAT = Format(Media.TEXT, VERSION, Decoding(parse_unknown), md_heading.CHUNKER)
