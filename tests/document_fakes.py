"""Engines that read files, without the engines: they keep the same promises on simple files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser

from kebab.assembly.documents import InstalledEngines
from kebab.errors import EngineUnavailable
from kebab.ports import (
    Captioner,
    CodeReader,
    Heard,
    HtmlEvent,
    HtmlEventKind,
    HtmlReader,
    HwpReader,
    HwpText,
    PdfFile,
    PdfLine,
    PdfPage,
    PdfReader,
    Picture,
    Recognised,
    Sheet,
    SheetReader,
    Spoken,
    TextRecogniser,
    Transcriber,
    Unopened,
)

VOID = {"br", "img", "hr", "meta", "link", "input"}


class FakeHtmlReader:
    """HTML whose tags are all closed."""

    def events(self, html: str) -> Iterator[HtmlEvent]:
        found: list[HtmlEvent] = []

        class Reader(HTMLParser):
            def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
                found.append(HtmlEvent(HtmlEventKind.OPEN, tag, {key: value or "" for key, value in attrs}))
                if tag in VOID:
                    found.append(HtmlEvent(HtmlEventKind.CLOSE, tag))

            def handle_endtag(self, tag: str) -> None:
                found.append(HtmlEvent(HtmlEventKind.CLOSE, tag))

            def handle_data(self, data: str) -> None:
                found.append(HtmlEvent(HtmlEventKind.TEXT, data))

        Reader().feed(html)
        return iter(found)


class FakePdfReader:
    """A form feed between pages, a line for each line; ``locked`` needs a password."""

    @contextmanager
    def open(self, content: bytes, *, pages: int) -> Iterator[PdfFile | Unopened]:
        if not content.startswith(b"%PDF"):
            yield Unopened("encrypted: password" if content.startswith(b"locked") else "damaged")
            return
        texts = content.decode().split("\n", 1)[1].split("\f")
        yield PdfFile("", "", len(texts), (), map(self._page, range(1, min(pages, len(texts)) + 1), texts))

    def _page(self, number: int, text: str) -> PdfPage:
        lines = tuple(
            PdfLine(line, 50, 100 + 40 * at, 50 + 5 * len(line), 110 + 40 * at, 10, False)
            for at, line in enumerate(text.split("\n"))
            if line
        )
        return PdfPage(number, 600, 800, lines)

    def picture(self, content: bytes, number: int, *, dpi: int) -> Picture | Unopened:
        if not content.startswith(b"%PDF"):
            return Unopened("damaged")
        return Picture(2, 2, b"\xff\xff\xff\x00")


class FakeSheetReader:
    """``[name]`` opens a sheet; a row for each line, cells between commas."""

    def sheets(self, content: bytes) -> Iterator[Sheet | Unopened]:
        if not content.startswith(b"["):
            yield Unopened("damaged, or no spreadsheet")
            return
        for sheet in content.decode().split("[")[1:]:
            name, _, rows = sheet.partition("]\n")
            cells = [row.split(",") for row in rows.splitlines()]
            if cells:
                yield Sheet(name, cells, 1, 1)


class FakeHwpReader:
    """Text after ``HWP ``."""

    def __init__(self, title: str = "", created: str = "") -> None:
        self._title, self._created = title, created

    def read(self, content: bytes) -> HwpText | Unopened:
        if not content.startswith(b"HWP "):
            return Unopened("damaged, or no document of Hangul")
        return HwpText(content.decode()[4:], self._title, "", self._created)


class FakeTextRecogniser:
    """Reads ``image: words``; a picture that is not white says how large it is. Counts its calls."""

    version = "fake:kor+eng"

    def __init__(self) -> None:
        self.asked = 0

    def read_file(self, image: bytes) -> list[Recognised] | Unopened:
        self.asked += 1
        if not image.startswith(b"image: "):
            return Unopened("damaged, or no image")
        words = image.decode()[7:].split("\n")
        return [Recognised(word, 1, 2 + 50 * at, 30, 40, 90) for at, word in enumerate(words) if word]

    def read_picture(self, picture: Picture) -> list[Recognised]:
        self.asked += 1
        if not picture.gray.strip(b"\xff"):
            return []
        return [Recognised(f"{picture.width} by {picture.height}", 0, 0, picture.width, picture.height, 90)]


class FakeCaptioner:
    """Describes ``image: words`` by how much it says. Counts its calls."""

    version = "fake:sees"

    def __init__(self) -> None:
        self.asked = 0

    def caption(self, image: bytes) -> str | Unopened:
        self.asked += 1
        if not image.startswith(b"image: "):
            return Unopened("not described: no image")
        return f"A picture of {len(image) - 7} letters."


class FakeTranscriber:
    """Hears a line for each ten seconds of ``sound: lines``; one a second is listened to."""

    version = "fake:hears"

    def listen(self, recording: bytes, *, ending: str, seconds: float) -> Heard | Unopened:
        if not recording.startswith(b"sound: "):
            return Unopened("damaged, or no recording")
        lines = recording.decode()[7:].split("\n")
        heard = lines[: max(0, int(seconds))]
        spoken = [Spoken(line, 10_000 * at, 10_000 * at + 9000) for at, line in enumerate(heard) if line]
        return Heard(tuple(spoken), 10_000 * (len(lines) - len(heard)))


class ReadingImages(InstalledEngines):
    """The installed engines, with fakes for what needs data or models that not every machine has."""

    def ocr(self) -> TextRecogniser | None:
        return FakeTextRecogniser()

    def captioner(self) -> Captioner | None:
        return FakeCaptioner()

    def speech(self) -> Transcriber | None:
        return FakeTranscriber()


class FakeDocumentEngines:
    """The fakes above; ``missing`` names those that are not installed."""

    def __init__(self, *missing: str) -> None:
        self._missing = missing

    def _given(self, name: str) -> None:
        if name in self._missing:
            raise EngineUnavailable(f"needs {name}, which is not installed", hint="pip install 'kebab[x]'")

    def html(self) -> HtmlReader:
        self._given("html")
        return FakeHtmlReader()

    def pdf(self) -> PdfReader:
        self._given("pdf")
        return FakePdfReader()

    def sheets(self) -> SheetReader:
        self._given("sheets")
        return FakeSheetReader()

    def hwp(self) -> HwpReader:
        self._given("hwp")
        return FakeHwpReader()

    def ocr(self) -> TextRecogniser | None:
        self._given("ocr")
        return FakeTextRecogniser()

    def captioner(self) -> Captioner | None:
        return None

    def speech(self) -> Transcriber | None:
        return FakeTranscriber()

    def code(self) -> CodeReader:
        raise EngineUnavailable("needs code, which is not installed", hint="pip install 'kebab[x]'")
