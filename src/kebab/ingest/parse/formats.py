"""Which parser reads which file."""

from __future__ import annotations

from kebab.ingest.parse import markdown, text
from kebab.ingest.parse.parsed import Format

FORMATS: dict[str, Format] = {
    ".md": markdown.FORMAT,
    ".markdown": markdown.FORMAT,
    ".mdx": markdown.FORMAT,
    ".txt": text.FORMAT,
    ".text": text.FORMAT,
}
"""Lower-case extension → format."""


def extension(name: str) -> str:
    """The lower-case extension of a file name with its dot; empty for none and for ``.hidden``."""
    dot = name.rfind(".")
    return name[dot:].lower() if dot > name.rfind("/") + 1 else ""
