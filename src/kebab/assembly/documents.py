"""The engines that read files, joined to their port; none is imported before a file needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kebab.assembly.media import CaptionChoice, SpeechChoice, build_captioner, build_transcriber
from kebab.errors import EngineUnavailable
from kebab.ports import (
    Captioner,
    CodeReader,
    HtmlReader,
    HwpReader,
    PdfReader,
    SheetReader,
    TextRecogniser,
    Transcriber,
)

RAPIDOCR = "pip install rapidocr onnxruntime"
_DATA_FOLDERS = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/opt/homebrew/share/tessdata",
    "/usr/local/share/tessdata",
)


@dataclass(frozen=True, slots=True)
class OcrChoice:
    """How text in images is read: languages such as ``kor+eng``, the folder of their data, the cache.

    No folder means the one where the reading process finds the data; no cache means that nothing is kept.
    ``rapidocr`` needs neither languages nor data.
    """

    languages: str
    data: str | None
    cache: Path | None
    engine: str = "tesseract"


@dataclass(frozen=True, slots=True)
class InstalledEngines:
    """What is installed here. Travels to worker processes as it is."""

    images: OcrChoice | None = None
    """None where text in images is not to be read."""
    captions: CaptionChoice | None = None
    """None where images are not to be described."""
    recordings: SpeechChoice | None = None
    """None where recordings are not to be written down."""

    def html(self) -> HtmlReader:
        with _needing("selectolax", extra="documents"):
            from kebab.adapters.documents.selectolax_html import SelectolaxHtmlReader

            return SelectolaxHtmlReader()

    def code(self) -> CodeReader:
        with _needing("tree-sitter", extra="code"):
            from kebab.adapters.tree_sitter_code import TreeSitterCodeReader

            return TreeSitterCodeReader()

    def pdf(self) -> PdfReader:
        with _needing("pypdfium2", extra="documents"):
            from kebab.adapters.documents.pdfium_pdf import PdfiumReader

            return PdfiumReader()

    def sheets(self) -> SheetReader:
        with _needing("python-calamine", extra="documents"):
            from kebab.adapters.documents.calamine_sheets import CalamineSheetReader

            return CalamineSheetReader()

    def hwp(self) -> HwpReader:
        with _needing("unhwp", extra="documents"):
            from kebab.adapters.documents.unhwp_hwp import UnhwpReader

            return UnhwpReader()

    def ocr(self) -> TextRecogniser | None:
        if self.images is None:
            return None
        from kebab.adapters.documents.cached_ocr import CachedRecogniser

        inner = _recogniser(self.images)
        return CachedRecogniser(inner, self.images.cache) if self.images.cache else inner

    def captioner(self) -> Captioner | None:
        return build_captioner(self.captions) if self.captions else None

    def speech(self) -> Transcriber | None:
        if self.recordings is None:
            return None
        with _needing("onnx-asr", extra="speech"):
            return build_transcriber(self.recordings)


def _recogniser(choice: OcrChoice) -> TextRecogniser:
    if choice.engine == "rapidocr":
        return _rapidocr()
    with _needing("tesserocr", extra="ocr"):
        from kebab.adapters.documents.tesseract_ocr import TesseractRecogniser

        return TesseractRecogniser(choice.languages, _language_data(choice))


def _language_data(choice: OcrChoice) -> str:
    found = choice.data or find_language_data(choice.languages)
    if found is None:
        raise EngineUnavailable(
            f"needs Tesseract's data for {choice.languages}", hint="install it, or set ingest.ocr_data"
        )
    return found


@cache
def _rapidocr() -> TextRecogniser:
    """One a process: loading its models takes seconds."""
    try:
        from kebab.adapters.documents.rapid_ocr import RapidRecogniser
    except ImportError as error:
        raise EngineUnavailable("needs rapidocr, which is not installed", hint=RAPIDOCR) from error
    return RapidRecogniser()


def find_language_data(languages: str, given: str = "") -> str | None:
    """The folder with the data of all these languages: the one given, else where systems put it."""
    folders = [given] if given else _DATA_FOLDERS
    wanted = [f"{language}.traineddata" for language in languages.split("+")]
    return next((folder for folder in folders if all(Path(folder, name).is_file() for name in wanted)), None)


@contextmanager
def _needing(package: str, *, extra: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise EngineUnavailable(
            f"needs {package}, which is not installed", hint=f"pip install 'kebab[{extra}]'"
        ) from error
