"""What a file becomes: blocks, each with the lines it came from, and the document they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

from kebab.domain.ids import AssetId, BlockId, DocId
from kebab.domain.links import Link
from kebab.domain.places import Place
from kebab.domain.values import dataclass

INBOX_ID = "inbox"
"""The source of texts and files that belong to none; no configured source may be called so."""


class Media(StrEnum):
    MARKDOWN = "markdown"
    TEXT = "text"
    SUBTITLES = "subtitles"
    HTML = "html"
    PDF = "pdf"
    DOCUMENT = "document"
    """Word processors: DOCX, ODT, HWP and HWPX."""
    SLIDES = "slides"
    SHEET = "sheet"
    BOOK = "book"
    NOTEBOOK = "notebook"
    MAIL = "mail"
    MARKUP = "markup"
    """Text files with headings of another kind than Markdown's: Org, reStructuredText, AsciiDoc, LaTeX."""
    OUTLINE = "outline"
    """OPML and canvases."""
    CHAT = "chat"
    NOTES = "notes"
    """Several notes in one file, such as an Evernote export."""
    IMAGE = "image"
    AUDIO = "audio"
    """Recordings, also those with pictures."""
    CODE = "code"


LINED = frozenset({Media.MARKDOWN, Media.TEXT, Media.MARKUP, Media.CODE})
"""Kinds of files whose text is the file, so that lines can be cited; chunks of all others have places.

Source code has both: it is cited by its lines, and its place names the function or class.
"""


class TrustLevel(StrEnum):
    """How far a source is trusted; ``trust_min`` filters keep this level and those above it."""

    GENERATED = "generated"
    SECONDARY = "secondary"
    PRIMARY = "primary"

    @property
    def order(self) -> int:
        return list(TrustLevel).index(self)


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    CODE = "code"
    TABLE = "table"
    QUOTE = "quote"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Lines of a document's text, 1-based and inclusive.

    The text of most kinds of files is the file, front matter counted; of others it is what the parser read.
    """

    start: int
    end: int


class Block(NamedTuple):
    """One top-level piece of a document: the lines of its text at ``span``, verbatim."""

    block_id: BlockId
    kind: BlockKind
    span: LineSpan
    heading_path: tuple[str, ...]
    level: int = 0
    """Heading level 1–6; 0 for everything that is not a heading."""
    place: Place | None = None
    """Where it stands in the file; None where ``span`` are lines of the file itself."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What front matter, the source's settings and the file system say of a document."""

    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    source_type: str = "note"
    trust_level: TrustLevel = TrustLevel.PRIMARY
    created_at: str | None = None
    updated_at: str | None = None
    repo: str | None = None
    code_lang: str | None = None
    user: Mapping[str, object] = field(default_factory=dict)
    """Front-matter keys that kebab does not know, kept as they are (JSON values)."""

    @property
    def summary(self) -> str:
        """What the document is about, in its own words; empty where it does not say."""
        return summary_in(self.user)


_SUMMARIES = ("summary", "description", "excerpt", "abstract")


def summary_in(user: Mapping[str, object]) -> str:
    """The summary among front-matter values, by the first of its usual names."""
    for key in _SUMMARIES:
        value = user.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


@dataclass(frozen=True, slots=True)
class Document:
    doc_id: DocId
    source_id: str
    path: str
    """POSIX, NFC, relative to the source's root."""
    asset_id: AssetId
    """Names the text: by the file's bytes, or by those and the parser that read it out of them."""
    title: str
    lang: str
    media: Media
    parser_version: str
    metadata: Metadata
    warnings: tuple[str, ...] = ()
    """What the parser had to overlook, such as a broken front matter."""
    text: str = ""
    """The whole file, decoded, or what its parser read, in NFC, lines ended by ``\\n``.

    It is what ``source_text`` gives back.
    """
    links: tuple[Link, ...] = ()
    """To other documents and their parts, in order; addresses of the web are none."""
    sketch: bytes | None = None
    """Numbers by which near-copies are recognised (``domain.sketches``); None where none were made."""


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """A document without its text, as lists show it."""

    doc_id: DocId
    source_id: str
    path: str
    title: str
    lang: str
    media: str
    tags: tuple[str, ...]
    source_type: str
    trust_level: TrustLevel
    byte_len: int
    chunk_count: int
    parser_version: str
    chunker_version: str
    created_at: str | None
    updated_at: str | None
    indexed_at: str
