"""Tables cell by cell: files whose every cell is known, written by LibreOffice, read as kebab reads them.

    python -m benchmarks.tables          # needs soffice (LibreOffice)

Two tables, one of prose and one of figures, in English and Korean, each written as DOCX, ODT, HTML, XLSX,
ODS and HWPX: twelve files. A cell is right where kebab's table has its text at its row and column.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

from kebab.assembly.documents import InstalledEngines
from kebab.domain.documents import BlockKind
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.parse.parsed import Defaults, Parsed
from kebab.ingest.parse.reading import Reading

Table = Sequence[Sequence[str]]

PROSE: Table = [
    ["Knot", "Use", "매듭의 쓰임"],
    *(
        [f"bowline {n}", f'A loop | that, "does" not slip ({n}).', f"풀리지 않는 고리 {n}번"]
        for n in range(30)
    ),
    ["", "only the middle", ""],
    ["last", "", "끝 칸"],
]
FIGURES: Table = [
    ["품목", "수량", "단가", "비고"],
    *([f"밧줄 {n}", str(7 * n + 1), str(1250 + n), f"A-{n:03}"] for n in range(40)),
    ["합계", "5500", "", "checked"],
]
TABLES = {"prose": PROSE, "figures": FIGURES}
_CALC_CSV = "CSV:44,34,76,1,,0,false,true,false"


def main() -> None:
    if shutil.which("soffice") is None:
        raise SystemExit("LibreOffice is not installed: apt install libreoffice-writer libreoffice-calc")
    print("| file | cells | right | missing or elsewhere |\n|---|---:|---:|---|")
    with tempfile.TemporaryDirectory(prefix="kebab-tables-") as place:
        for name, table in TABLES.items():
            for file in made(Path(place), name, table):
                print(row(file, table), flush=True)


def row(file: Path, table: Table) -> str:
    cells = {(r, c): text for r, texts in enumerate(table) for c, text in enumerate(texts) if text}
    found = {(r, c): text for r, texts in enumerate(read(file)) for c, text in enumerate(texts)}
    wrong = [text for place, text in cells.items() if found.get(place) != text]
    return f"| {file.name} | {len(cells)} | {len(cells) - len(wrong)} | {', '.join(wrong[:5])} |"


def read(file: Path) -> list[list[str]]:
    """The rows of all tables that kebab reads in a file, without the line below a head."""
    defaults = Defaults(file.stem, extension=file.suffix, reading=Reading(InstalledEngines()))
    parsed = FORMATS[file.suffix].parse(file.read_bytes(), defaults)
    assert isinstance(parsed, Parsed), parsed
    head: list[str] = []
    rows: list[list[str]] = []
    for block in parsed.blocks:
        if block.kind is BlockKind.TABLE:
            lines = [cells(line) for line in parsed.lines.slice(block.start, block.end).split("\n")]
            body = [line for line in lines if not (set("".join(line)) <= set(":-") and "".join(line))]
            # A long table is cut into blocks that each carry its head.
            rows += body[1:] if head and body[0] == head else body
            head = head or body[0]
    return rows


def cells(line: str) -> list[str]:
    held = line.strip().removeprefix("|").removesuffix("|").replace("\\|", "\0")
    return [cell.strip().replace("\0", "|") for cell in held.split("|")]


def made(folder: Path, name: str, table: Table) -> Iterator[Path]:
    page, sheet = folder / f"{name}.htm", folder / f"{name}.csv"
    page.write_text(html(table), encoding="utf-8")
    sheet.write_text(
        "".join(",".join('"' + c.replace('"', '""') + '"' for c in r) + "\n" for r in table), "utf-8"
    )
    for ending in ("docx", "odt", "html"):
        yield converted(page, ending, "HTML (StarWriter)")
    for ending in ("xlsx", "ods"):
        yield converted(sheet, ending, _CALC_CSV)
    yield hwpx(folder / f"{name}.hwpx", table)


def converted(source: Path, ending: str, reading: str) -> Path:
    # Writer takes a page of HTML for a document of its own kind, which is then saved in any format.
    command = ["soffice", "--headless", f"-env:UserInstallation=file://{source.parent}/office"]
    command += [f"--infilter={reading}", "--convert-to", ending, "--outdir", str(source.parent), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return source.with_suffix(f".{ending}")


def html(table: Table) -> str:
    rows = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in r) + "</tr>" for r in table)
    return f"<html><head><meta charset=utf-8></head><body><table border=1>{rows}</table></body></html>"


def hwpx(file: Path, table: Table) -> Path:
    """The parts of HWPX that hold a table; LibreOffice does not write this format."""
    space = 'xmlns:hp="http://www.hancom.co.kr/hwpml/2011/paragraph"'
    section = 'xmlns:hs="http://www.hancom.co.kr/hwpml/2011/section"'
    columns = max(map(len, table))
    rows = "".join(
        "<hp:tr>" + "".join(_hwpx_cell(text, r, c) for c, text in enumerate(texts)) + "</hp:tr>"
        for r, texts in enumerate(table)
    )
    held = f'<hp:tbl rowCnt="{len(table)}" colCnt="{columns}">{rows}</hp:tbl>'
    body = f"<hs:sec {section} {space}><hp:p><hp:run>{held}</hp:run></hp:p></hs:sec>"
    package = (
        '<opf:package xmlns:opf="http://www.idpf.org/2007/opf/"><opf:manifest>'
        '<opf:item id="section0" href="Contents/section0.xml" media-type="application/xml"/>'
        '</opf:manifest><opf:spine><opf:itemref idref="section0"/></opf:spine></opf:package>'
    )
    with ZipFile(file, "w", ZIP_STORED) as archive:
        archive.writestr("mimetype", "application/hwp+zip")
        archive.writestr("Contents/content.hpf", package)
        archive.writestr("Contents/section0.xml", body)
    return file


def _hwpx_cell(text: str, row: int, column: int) -> str:
    said = f"<hp:p><hp:run><hp:t>{escape(text, quote=False)}</hp:t></hp:run></hp:p>"
    place = f'<hp:cellAddr colAddr="{column}" rowAddr="{row}"/><hp:cellSpan colSpan="1" rowSpan="1"/>'
    return f"<hp:tc><hp:subList>{said}</hp:subList>{place}</hp:tc>"


if __name__ == "__main__":
    main()
