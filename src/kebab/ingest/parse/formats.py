"""Which parser reads which file.

A new format is a module beside this one with a ``FORMAT``, and a line in the table. Modules are imported when
a file of theirs is read, and the libraries they need when they parse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from kebab.ingest.parse.code_languages import LANGUAGES
from kebab.ingest.parse.parsed import Format

ANY = "*"
"""Stands in the table for every extension that it does not name: text by content."""

_MODULES = {
    **dict.fromkeys(LANGUAGES, "code"),
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".txt": "text",
    ".text": "text",
    ".srt": "subtitles",
    ".vtt": "subtitles",
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
    ".dotx": "docx",
    ".pptx": "pptx",
    ".pptm": "pptx",
    ".ppsx": "pptx",
    ".xlsx": "sheets",
    ".xlsm": "sheets",
    ".xlsb": "sheets",
    ".xls": "sheets",
    ".ods": "sheets",
    ".csv": "delimited",
    ".tsv": "delimited",
    ".epub": "epub",
    ".odt": "odf",
    ".ott": "odf",
    ".odp": "odf",
    ".hwp": "hwp",
    ".hwpx": "hwpx",
    ".ipynb": "notebook",
    ".eml": "mail",
    ".mbox": "mail",
    ".org": "markup",
    ".rst": "markup",
    ".adoc": "markup",
    ".asciidoc": "markup",
    ".asc": "markup",
    ".tex": "markup",
    ".latex": "markup",
    ".canvas": "canvas",
    ".opml": "opml",
    ".jsonl": "chats",
    ".ndjson": "chats",
    ".enex": "enex",
    ".textpack": "textbundle",
    ".bearnote": "textbundle",
    ".bear2bk": "textbundle",
    ".jex": "joplin",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".mhtml": "mhtml",
    ".mht": "mhtml",
    ".png": "image",
    ".jpg": "image",
    ".jpeg": "image",
    ".tif": "image",
    ".tiff": "image",
    ".webp": "image",
    ".bmp": "image",
    **dict.fromkeys((".wav", ".mp3", ".flac", ".aac", ".ogg", ".oga", ".opus", ".m4a"), "audio"),
    **dict.fromkeys((".mp4", ".mov", ".webm", ".mkv"), "audio"),
    ANY: "unknown",
}
"""Lower-case extension → module in this folder."""


class _Formats(Mapping[str, Format]):
    """The formats by extension. Asking whether there is one imports nothing."""

    def __getitem__(self, ending: str) -> Format:
        return _loaded(_MODULES[ending])

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)

    def __contains__(self, ending: object) -> bool:
        return ending in _MODULES

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> str:
        return "FORMATS"  # another process has its own


@cache
def _loaded(module: str) -> Format:
    found = import_module(f"kebab.ingest.parse.{module}").FORMAT
    assert isinstance(found, Format)
    return found


FORMATS: Mapping[str, Format] = _Formats()


def modules() -> dict[str, str]:
    """The module of parsers for each extension; imports none."""
    return dict(_MODULES)


def kind_of(formats: Mapping[str, Format], ending: str) -> Format:
    """The format of an extension, or that of unknown texts. Raises KeyError where there is neither."""
    return formats[ending if ending in formats else ANY]


def extension(name: str) -> str:
    """The lower-case extension of a file name with its dot; empty for none and for ``.hidden``."""
    dot = name.rfind(".")
    return name[dot:].lower() if dot > name.rfind("/") + 1 else ""
