"""How much of the text of real files is recovered, against a second extractor; and by OCR, against the truth.

    python -m benchmarks.fidelity FOLDER…          # .pdf .docx .pptx .hwp .hwpx below the folders
    python -m benchmarks.fidelity --ocr FOLDER     # NAME.pdf beside NAME.txt, what the page really says
    python -m benchmarks.fidelity --ocr --engine rapidocr FOLDER

Second extractors are used where they are installed: pdftotext, python-docx, python-pptx, hwp-hwpx-parser.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kebab.assembly.documents import InstalledEngines, OcrChoice, find_language_data
from kebab.ingest.parse.formats import FORMATS, extension
from kebab.ingest.parse.parsed import Defaults, Parsed
from kebab.ingest.parse.reading import Reading
from kebab.ports.documents import Unopened

LANGUAGES = "kor+eng"
DPI = 200


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--ocr", action="store_true")
    parser.add_argument("--engine", default="tesseract", choices=("tesseract", "rapidocr"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the second extractors
    if options.ocr:
        _print_ocr(options.folders, options.engine)
    else:
        _print_recovered(options.folders)


def _print_recovered(folders: Sequence[Path]) -> None:
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for path in _files(folders):
        try:
            theirs = _letters(SECOND[extension(path.name)](path))
            ours = _letters(_ours(path))
        except Exception as error:  # noqa: BLE001 - the second extractor stumbles over some real files
            print(f"left out {path.name}: {error!r}"[:120])
            continue
        total = totals[extension(path.name)]
        total[0] += 1
        total[1] += theirs.total()
        total[2] += (theirs & ours).total()
    print("| format | files | letters and digits | recovered |\n|---|---:|---:|---:|")
    for ending, (files, letters, found) in sorted(totals.items()):
        print(f"| {ending} | {files} | {letters} | {found / max(1, letters):.1%} |")


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in sorted(folder.rglob("*")) if extension(path.name) in SECOND)


def _letters(text: str) -> Counter[str]:
    return Counter(sign for sign in text if sign.isalnum())


def _ours(path: Path) -> str:
    ending = extension(path.name)
    defaults = Defaults(path.stem, extension=ending, reading=Reading(InstalledEngines()))
    parsed = FORMATS[ending].parse(path.read_bytes(), defaults)
    return parsed.lines.text if isinstance(parsed, Parsed) else ""


def _pdftotext(path: Path) -> str:
    command = ["pdftotext", "-enc", "UTF-8", str(path), "-"]
    return subprocess.run(command, capture_output=True, timeout=60, check=True).stdout.decode(
        errors="replace"
    )


def _python_docx(path: Path) -> str:
    import docx

    document = docx.Document(str(path))
    cells = (cell for table in document.tables for row in table.rows for cell in _once(row.cells))
    return "\n".join([*(one.text for one in document.paragraphs), *(cell.text for cell in cells)])


def _once(cells: Sequence[Any]) -> list[Any]:
    """A merged cell is given for each column that it spans."""
    return list({id(cell._tc): cell for cell in cells}.values())


def _python_pptx(path: Path) -> str:
    import pptx

    def texts(shapes: Any) -> Iterator[str]:
        for shape in shapes:
            if hasattr(shape, "shapes"):
                yield from texts(shape.shapes)
            elif shape.has_text_frame:
                yield shape.text_frame.text
            elif shape.has_table:
                yield from (cell.text for row in shape.table.rows for cell in row.cells)

    return "\n".join(text for slide in pptx.Presentation(str(path)).slides for text in texts(slide.shapes))


def _hwp_hwpx_parser(path: Path) -> str:
    import hwp_hwpx_parser

    with hwp_hwpx_parser.Reader(str(path)) as reader:
        return str(reader.extract_text())


SECOND: dict[str, Callable[[Path], str]] = {
    ".pdf": _pdftotext,
    ".docx": _python_docx,
    ".pptx": _python_pptx,
    ".hwp": _hwp_hwpx_parser,
    ".hwpx": _hwp_hwpx_parser,
}


def _print_ocr(folders: Sequence[Path], engine: str) -> None:
    print("| page | letters | character errors | processor seconds |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="kebab-ocr-") as cache:
        data = find_language_data(LANGUAGES)
        if data is None:
            raise SystemExit(f"there is no data for {LANGUAGES}: apt install tesseract-ocr-kor")
        choice = OcrChoice(LANGUAGES, data, Path(cache), engine)
        for path in sorted(path for folder in folders for path in folder.glob("*.pdf")):
            truth = "".join(path.with_suffix(".txt").read_text(encoding="utf-8").split())
            begun = time.process_time()
            found = "".join(_recognised(InstalledEngines(choice), path.read_bytes()).split())
            taken = time.process_time() - begun
            share = _distance(truth, found) / max(1, len(truth))
            print(f"| {path.stem} | {len(truth)} | {share:.1%} | {taken:.1f} |", flush=True)


def _recognised(engines: InstalledEngines, content: bytes) -> str:
    pdf, ocr = engines.pdf(), engines.ocr()
    if pdf is None or ocr is None:
        raise SystemExit("install the documents and ocr extras")
    with pdf.open(content, pages=100) as document:
        assert not isinstance(document, Unopened)
        pages = document.page_count
    pictures = [pdf.picture(content, page, dpi=DPI) for page in range(1, pages + 1)]
    regions = (ocr.read_picture(one) for one in pictures if not isinstance(one, Unopened))
    return "".join(region.text for page in regions for region in page)


def _distance(truth: str, found: str) -> int:
    """Levenshtein's."""
    before = list(range(len(found) + 1))
    for row, sign in enumerate(truth, 1):
        now = [row]
        for column, other in enumerate(found, 1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (sign != other)))
        before = now
    return before[-1]


if __name__ == "__main__":
    main()
