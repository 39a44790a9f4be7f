"""The engines that read files, joined to their port; none is imported before a file needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kebab.errors import EngineUnavailable
from kebab.ports import CodeReader, HtmlReader, HwpReader, PdfReader, SheetReader


@dataclass(frozen=True, slots=True)
class InstalledEngines:
    """What is installed here. Travels to worker processes as it is."""

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


@contextmanager
def _needing(package: str, *, extra: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise EngineUnavailable(
            f"needs {package}, which is not installed", hint=f"pip install 'kebab[{extra}]'"
        ) from error
