"""Which formats can be read here, by which engine, which are left out, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from kebab.assembly.documents import RAPIDOCR, find_language_data
from kebab.assembly.media import why_no_captions, why_no_speech
from kebab.domain.reports import FormatStatus
from kebab.ingest.parse.code_languages import LANGUAGES
from kebab.ingest.parse.formats import modules
from kebab.ingest.parse.image import OFF

if TYPE_CHECKING:
    from kebab.config import Settings

_ENGINES = ("tree_sitter", "tree_sitter_language_pack")
_IMAGES = tuple(ending for ending, module in modules().items() if module == "image")
_RECORDINGS = tuple(ending for ending, module in modules().items() if module == "audio")


def unread_formats(
    settings: Settings, *, find: Callable[[str], object | None] = find_spec
) -> Mapping[str, str]:
    """Extensions that kebab knows and does not read here, each with the reason. No engine is loaded.

    ``find`` gives None for a package that is not installed. The reasons are known before a file is opened: a
    folder of notes may hold ten thousand files of source code.
    """
    reasons = {
        _why_no_code(settings, find): LANGUAGES,
        _why_no_images(settings): _IMAGES,
        why_no_speech(settings.models.speech): _RECORDINGS,
    }
    return {ending: reason for reason, endings in reasons.items() if reason for ending in endings}


def _why_no_code(settings: Settings, find: Callable[[str], object | None]) -> str | None:
    if not settings.ingest.code:
        return "source code: ingest.code is off"
    if not all(map(find, _ENGINES)):
        return "source code needs tree-sitter, which is not installed: pip install 'kebab[code]'"
    return None


def _why_no_images(settings: Settings) -> str | None:
    """An image is worth opening where either its words or what it shows can be had."""
    no_captions = why_no_captions(settings.models.vision)
    if no_captions is None:
        return None
    if not settings.ingest.ocr:
        return OFF if settings.models.vision.provider == "none" else no_captions
    if settings.ingest.ocr_engine == "rapidocr":
        return None if find_spec("rapidocr") else f"images need rapidocr, which is not installed: {RAPIDOCR}"
    if find_spec("tesserocr") is None:
        return "images need tesserocr, which is not installed: pip install 'kebab[ocr]'"
    if find_language_data(settings.ingest.ocr_languages, settings.ingest.ocr_data) is None:
        names = " ".join(f"tesseract-ocr-{name}" for name in settings.ingest.ocr_languages.split("+"))
        return f"images need the data of Tesseract's languages: apt install {names}, or set ingest.ocr_data"
    return None


class _Kind(NamedTuple):
    """What a module of parsers is for, and the package that it needs; empty for none."""

    name: str
    package: str = ""
    extra: str = "documents"
    module: str = ""
    """The module of the package, where it is called otherwise."""


_KINDS = {
    "markdown": _Kind("Markdown"),
    "text": _Kind("Plain text"),
    "subtitles": _Kind("Subtitles"),
    "markup": _Kind("Org, reStructuredText, AsciiDoc, LaTeX"),
    "code": _Kind("Source code", "tree-sitter-language-pack", "code", "tree_sitter_language_pack"),
    "html": _Kind("Web pages", "selectolax"),
    "mhtml": _Kind("Saved web pages", "selectolax"),
    "pdf": _Kind("PDF", "pypdfium2"),
    "docx": _Kind("Word"),
    "pptx": _Kind("PowerPoint"),
    "sheets": _Kind("Spreadsheets", "python-calamine", module="python_calamine"),
    "delimited": _Kind("CSV, TSV"),
    "odf": _Kind("OpenDocument texts and slides"),
    "hwpx": _Kind("HWPX"),
    "hwp": _Kind("HWP 5", "unhwp"),
    "epub": _Kind("EPUB books", "selectolax"),
    "notebook": _Kind("Jupyter notebooks"),
    "mail": _Kind("E-mail"),
    "canvas": _Kind("Obsidian canvases"),
    "opml": _Kind("OPML outlines"),
    "chats": _Kind("Chats as JSON Lines"),
    "enex": _Kind("Evernote exports", "selectolax"),
    "textbundle": _Kind("Text bundles and Bear notes"),
    "joplin": _Kind("Joplin exports"),
    "image": _Kind("Images and scanned pages, by OCR", "tesserocr", "ocr"),
    "audio": _Kind("Recordings, by a model for speech", "onnx-asr", "speech", "onnx_asr"),
    "unknown": _Kind("Other text, by content"),
}


def known_formats() -> list[FormatStatus]:
    """Every kind of file, in the order of the table, with its engine; none is loaded."""
    endings: dict[str, list[str]] = {}
    for ending, module in modules().items():
        endings.setdefault(module, []).append(ending)
    return [_status(kind, tuple(endings.get(module, ()))) for module, kind in _KINDS.items()]


def _status(kind: _Kind, extensions: tuple[str, ...]) -> FormatStatus:
    there = not kind.package or find_spec(kind.module or kind.package) is not None
    return FormatStatus(
        name=kind.name,
        extensions=extensions,
        engine=kind.package or "built in",
        installed=there,
        install="" if there else f"pip install 'kebab[{kind.extra}]'",
    )
