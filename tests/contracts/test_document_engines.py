"""What every engine that reads files promises: the installed ones and their fakes."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib.util import find_spec

import pytest

from kebab.adapters.documents.tesseract_ocr import TesseractRecogniser
from kebab.assembly.documents import InstalledEngines, find_language_data
from kebab.errors import EngineUnavailable
from kebab.ports import (
    DocumentEngines,
    HtmlEventKind,
    HtmlReader,
    HwpReader,
    HwpText,
    PdfReader,
    Picture,
    Sheet,
    SheetReader,
    TextRecogniser,
    Unopened,
)
from tests.document_fakes import (
    FakeDocumentEngines,
    FakeHtmlReader,
    FakeHwpReader,
    FakePdfReader,
    FakeSheetReader,
    FakeTextRecogniser,
)
from tests.document_files import KOREAN, SAID, hwpx_file, pdf_file, pdf_page, xlsx_file


@pytest.mark.parametrize("engines", [InstalledEngines(), FakeDocumentEngines()])
def test_engines_are_made_when_they_are_asked_for(engines: DocumentEngines) -> None:
    assert all((engines.html(), engines.pdf(), engines.sheets(), engines.hwp()))


def test_an_engine_that_is_missing_says_what_installs_it() -> None:
    with pytest.raises(EngineUnavailable) as caught:
        FakeDocumentEngines("pdf").pdf()
    assert caught.value.hint is not None
    assert "pip install" in caught.value.hint


def test_the_installed_engines_are_imported_by_use_alone() -> None:
    script = (
        "import sys; from kebab.assembly.documents import InstalledEngines; InstalledEngines();"
        "names = ('selectolax', 'pypdfium2', 'python_calamine', 'unhwp');"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("package", "ask"), [("selectolax", "html"), ("pypdfium2", "pdf"), ("unhwp", "hwp")])
def test_without_its_package_an_engine_is_unavailable_and_names_the_extra(package: str, ask: str) -> None:
    script = (
        f"import sys; sys.modules['{package}'] = None; sys.modules['{package}.lexbor'] = None\n"
        "from kebab.assembly.documents import InstalledEngines\n"
        "from kebab.errors import EngineUnavailable\n"
        f"try: InstalledEngines().{ask}()\n"
        "except EngineUnavailable as error: print(error.message, error.hint)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"needs {package}, which is not installed pip install 'kebab[documents]'"


@pytest.mark.parametrize("reader", [InstalledEngines().html(), FakeHtmlReader()])
def test_every_tag_that_opens_closes_and_texts_come_in_order(reader: HtmlReader) -> None:
    html = "<html><head></head><body><p class='x y'>a<b>b</b><br>c</p><!-- no --><p>밧줄</p></body></html>"
    events = list(reader.events(html))
    opened = Counter(event.value for event in events if event.kind is HtmlEventKind.OPEN)
    assert opened == Counter(event.value for event in events if event.kind is HtmlEventKind.CLOSE)
    assert [event.value for event in events if event.kind is HtmlEventKind.TEXT] == ["a", "b", "c", "밧줄"]
    (first,) = [event for event in events if event.attributes]
    assert (first.value, first.attributes) == ("p", {"class": "x y"})


PDFS = [
    (
        InstalledEngines().pdf(),
        pdf_file([pdf_page(SAID, KOREAN), pdf_page(SAID)]),
        pdf_file([[]], locked=True),
    ),
    (FakePdfReader(), f"%PDF\n{SAID}\n{KOREAN}\f{SAID}".encode(), b"locked"),
]


@pytest.mark.parametrize(("reader", "content", "locked"), PDFS)
def test_pages_have_lines_from_top_to_bottom(reader: PdfReader, content: bytes, locked: bytes) -> None:
    with reader.open(content, pages=9) as found:
        assert not isinstance(found, Unopened)
        pages = list(found.pages)
    assert [[line.text.strip() for line in page.lines] for page in pages] == [[SAID, KOREAN], [SAID]]
    assert [page.number for page in pages] == [1, 2]
    first, second = pages[0].lines
    assert 0 < first.top < first.bottom <= second.top
    assert first.left < first.right
    assert first.size == 10


@pytest.mark.parametrize(("reader", "content", "locked"), PDFS)
def test_no_more_pages_than_allowed_are_read(reader: PdfReader, content: bytes, locked: bytes) -> None:
    with reader.open(content, pages=1) as found:
        assert not isinstance(found, Unopened)
        assert (found.page_count, len(list(found.pages))) == (2, 1)


@pytest.mark.parametrize(("reader", "content", "locked"), PDFS)
def test_what_cannot_be_opened_says_why(reader: PdfReader, content: bytes, locked: bytes) -> None:
    for bad, said in ((b"nothing", "damaged"), (locked, "password")):
        with reader.open(bad, pages=9) as found:
            assert isinstance(found, Unopened)
            assert said in found.reason


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        (InstalledEngines().sheets(), xlsx_file({"One": [["a", "b"], ["c", 1]], "둘": [["d"]]})),
        (FakeSheetReader(), "[One]\na,b\nc,1\n[둘]\nd\n".encode()),
    ],
)
def test_sheets_come_in_order_with_their_cells_as_text(reader: SheetReader, content: bytes) -> None:
    assert list(reader.sheets(content)) == [
        Sheet("One", [["a", "b"], ["c", "1"]], 1, 1),
        Sheet("둘", [["d"]], 1, 1),
    ]
    (bad,) = reader.sheets(b"nothing")
    assert isinstance(bad, Unopened)


@pytest.mark.parametrize(
    ("reader", "content"),
    [(InstalledEngines().hwp(), hwpx_file(KOREAN)), (FakeHwpReader(), f"HWP {KOREAN}".encode())],
)
def test_a_document_of_hangul_is_read_or_refused(reader: HwpReader, content: bytes) -> None:
    found = reader.read(content)
    assert isinstance(found, HwpText)
    assert found.markdown.strip() == KOREAN
    assert isinstance(reader.read(b"nothing"), Unopened)


def test_a_page_is_drawn_as_it_looks() -> None:
    for reader, content in (
        (InstalledEngines().pdf(), pdf_file([pdf_page(SAID)])),
        (FakePdfReader(), b"%PDF\nx"),
    ):
        found = reader.picture(content, 1, dpi=72)
        assert isinstance(found, Picture)
        assert len(found.gray) == found.width * found.height
        assert isinstance(reader.picture(b"nothing", 1, dpi=72), Unopened)


RECOGNISERS: list[TextRecogniser] = [FakeTextRecogniser()]
if (data := find_language_data("eng")) is not None:
    RECOGNISERS.append(TesseractRecogniser("eng", data))
if find_spec("rapidocr") is not None:
    from kebab.adapters.documents.rapid_ocr import RapidRecogniser

    RECOGNISERS.append(RapidRecogniser())


@pytest.mark.parametrize("recogniser", RECOGNISERS, ids=lambda one: one.version)
def test_what_is_no_image_cannot_be_opened_and_what_is_recognised_has_a_place(
    recogniser: TextRecogniser,
) -> None:
    assert isinstance(recogniser.read_file(b"nothing"), Unopened)
    for one in recogniser.read_picture(Picture(200, 100, b"\xff" * 20_000)):
        assert 0 <= one.left <= one.left + one.width <= 200
        assert 0 <= one.confidence <= 100


def test_a_table_of_sheets_that_claims_gigabytes_is_refused_before_it_is_read() -> None:
    """The head of a file that fuzzing found: the engine reserved seven gigabytes, and ended its process."""
    head = bytearray(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
    head[30:32], head[64:68] = (9).to_bytes(2, "little"), (808_150_272).to_bytes(4, "little")
    (found,) = InstalledEngines().sheets().sheets(bytes(head) + bytes(1270))
    assert found == Unopened("damaged, or no spreadsheet")
