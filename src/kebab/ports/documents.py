"""What we ask of engines that read files. What is made of their answers is decided in ``ingest``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from enum import Enum, auto
from typing import NamedTuple, Protocol

from kebab.ports.code import CodeReader

NO_ATTRIBUTES: Mapping[str, str] = {}


class HtmlEventKind(Enum):
    OPEN = auto()
    CLOSE = auto()
    TEXT = auto()


class HtmlEvent(NamedTuple):
    """A tag that opens or closes, in lower case, or a text between tags."""

    kind: HtmlEventKind
    value: str
    attributes: Mapping[str, str] = NO_ATTRIBUTES


class HtmlReader(Protocol):
    """Repairs HTML as browsers do."""

    def events(self, html: str) -> Iterator[HtmlEvent]:
        """Tags and texts in document order; every tag that opens closes. No depth of nesting fails."""
        ...


class PdfLine(NamedTuple):
    """A line of a page, in the units of the page, from its top left corner."""

    text: str
    """A space at its end means that a word ended there."""
    left: float
    top: float
    right: float
    bottom: float
    size: float
    """Height of its letters."""
    bold: bool


class PdfPage(NamedTuple):
    number: int
    width: float
    height: float
    lines: tuple[PdfLine, ...]
    """In the order in which the file draws them."""


class PdfEntry(NamedTuple):
    """An entry of the outline; ``level`` counts from 1, ``page`` too."""

    level: int
    title: str
    page: int


class PdfFile(NamedTuple):
    title: str
    created: str
    """ISO 8601, or empty."""
    page_count: int
    outline: tuple[PdfEntry, ...]
    pages: Iterator[PdfPage]


class Unopened(NamedTuple):
    """The bytes cannot be opened; ``reason`` says why, for people."""

    reason: str


class Picture(NamedTuple):
    """Pixels from white (255) to black (0), row by row."""

    width: int
    height: int
    gray: bytes


class PdfReader(Protocol):
    def open(self, content: bytes, *, pages: int) -> AbstractContextManager[PdfFile | Unopened]:
        """The file with at most ``pages`` of its pages, which are read while the context is open."""
        ...

    def picture(self, content: bytes, number: int, *, dpi: int) -> Picture | Unopened:
        """A page as it looks; one that would be larger than 40 million pixels is not drawn."""
        ...


class Recognised(NamedTuple):
    """A paragraph that was read from an image: its rectangle in pixels, and how sure it is, in percent."""

    text: str
    left: int
    top: int
    width: int
    height: int
    confidence: int


class TextRecogniser(Protocol):
    """Reads the text in images (OCR)."""

    @property
    def version(self) -> str:
        """The engine and its languages: another one may read otherwise."""
        ...

    def read_file(self, image: bytes) -> list[Recognised] | Unopened:
        """The paragraphs of an image file, in reading order."""
        ...

    def read_picture(self, picture: Picture) -> list[Recognised]:
        """The paragraphs of a picture, in reading order."""
        ...


class Captioner(Protocol):
    """Says in words what an image shows."""

    @property
    def version(self) -> str:
        """The model and what it is asked: another one may see otherwise."""
        ...

    def caption(self, image: bytes) -> str | Unopened:
        """What the image shows; empty where the model says nothing. Raises ModelUnavailable, Timeout."""
        ...


class Spoken(NamedTuple):
    """What was said in a stretch of a recording, in milliseconds from its beginning."""

    text: str
    start: int
    end: int


class Heard(NamedTuple):
    """What was said, in order."""

    spoken: tuple[Spoken, ...]
    unheard: int = 0
    """Milliseconds at the end that were not listened to, for want of time."""


class Transcriber(Protocol):
    """Writes down what is said in recordings."""

    @property
    def version(self) -> str:
        """The model and its language: another one may hear otherwise."""
        ...

    def listen(self, recording: bytes, *, ending: str, seconds: float) -> Heard | Unopened:
        """What is said; after ``seconds`` nothing further is listened to.

        ``ending`` is the extension of the file, with its dot. Raises ModelUnavailable and Timeout where the
        model cannot be asked.
        """
        ...


class Sheet(NamedTuple):
    name: str
    rows: list[list[str]]
    """Cells as a person reads them; empty for an empty one."""
    top: int
    left: int
    """Row and column of the first cell, from 1."""


class SheetReader(Protocol):
    def sheets(self, content: bytes) -> Iterator[Sheet | Unopened]:
        """The sheets in order; Unopened alone where the file cannot be read."""
        ...


class HwpText(NamedTuple):
    """A document of Hangul, written as Markdown; what is not known of it is empty."""

    markdown: str
    title: str
    author: str
    created: str


class HwpReader(Protocol):
    def read(self, content: bytes) -> HwpText | Unopened:
        """HWP 5 and HWPX."""
        ...


class DocumentEngines(Protocol):
    """Engines that read files, each loaded when it is first asked for.

    A method raises EngineUnavailable, with the command that installs the engine, where it is not installed.
    """

    def html(self) -> HtmlReader: ...

    def code(self) -> CodeReader: ...

    def pdf(self) -> PdfReader: ...

    def sheets(self) -> SheetReader: ...

    def hwp(self) -> HwpReader: ...

    def ocr(self) -> TextRecogniser | None:
        """None where text in images is not to be read."""
        ...

    def captioner(self) -> Captioner | None:
        """None where images are not to be described."""
        ...

    def speech(self) -> Transcriber | None:
        """None where recordings are not to be written down."""
        ...
