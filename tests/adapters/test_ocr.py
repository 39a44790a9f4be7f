"""Text in images on the real engine: images and scanned pages are read, cited by region, and read once."""

from __future__ import annotations

import struct
import zlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from kebab.adapters.documents.cached_ocr import CachedRecogniser
from kebab.assembly.documents import InstalledEngines, find_language_data
from kebab.domain.citations import CitationKind
from kebab.domain.ingests import Outcome
from kebab.ingest.parse.image import OFF
from kebab.ports import Picture, Unopened
from tests.document_fakes import FakeTextRecogniser
from tests.faults.conftest import make_base

LANGUAGES = "eng"
DATA = find_language_data(LANGUAGES)
needs_tesseract = pytest.mark.skipif(
    DATA is None, reason="no data of Tesseract: apt install tesseract-ocr-eng"
)


def drawn_pdf(*lines: str) -> bytes:
    """A page in Helvetica, which every reader can draw."""
    text = "".join(f"BT /F 24 Tf 60 {700 - 60 * n} Td ({line}) Tj ET\n" for n, line in enumerate(lines))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Length {len(text)}>>stream\n{text}endstream",
    ]
    return _pdf(objects)


def scanned_pdf(picture: Picture) -> bytes:
    """A page that is one image."""
    pixels = zlib.compress(picture.gray).hex()
    draw = "600 0 0 800 0 0 cm /I Do\n"
    about = f"/Subtype/Image/Width {picture.width}/Height {picture.height}/ColorSpace/DeviceGray"
    about += "/Type/XObject/BitsPerComponent 8/Filter[/ASCIIHexDecode/FlateDecode]"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</XObject<</I 4 0 R>>>>/Contents 5 0 R>>",
        f"<<{about}/Length {len(pixels) + 1}>>stream\n{pixels}>\nendstream",
        f"<</Length {len(draw)}>>stream\n{draw}endstream",
    ]
    return _pdf(objects)


def _pdf(objects: list[str]) -> bytes:
    body, rows = "%PDF-1.7\n", ""
    for number, written in enumerate(objects, 1):
        rows += f"{len(body):010} 00000 n \n"
        body += f"{number} 0 obj\n{written}\nendobj\n"
    size = len(objects) + 1
    trailer = f"trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{len(body)}\n%%EOF"
    return f"{body}xref\n0 {size}\n0000000000 65535 f \n{rows}{trailer}".encode()


def png(picture: Picture) -> bytes:
    def part(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    rows = range(0, len(picture.gray), picture.width)
    lines = b"".join(b"\0" + picture.gray[at : at + picture.width] for at in rows)
    head = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(lines)) + part(b"IEND", b"")
    )


@pytest.fixture(scope="module")
def picture() -> Picture:
    found = (
        InstalledEngines().pdf().picture(drawn_pdf("The rope is dry", "The ship sails at noon"), 1, dpi=100)
    )
    assert isinstance(found, Picture)
    return found


@needs_tesseract
@pytest.mark.slow
def test_images_and_scanned_pages_are_read_cited_by_region_and_fetched(
    tmp_path: Path, picture: Picture
) -> None:
    base = make_base(tmp_path, notes=1)
    base.write("photo.png", png(picture))
    base.write("scan.pdf", scanned_pdf(picture))
    base.write("broken.png", b"no image")
    with base.open(
        models__embedding__provider="none", ingest__ocr=True, ingest__ocr_languages=LANGUAGES
    ) as kb:
        report = kb.ingest()
        assert report.run.indexed == 3
        (broken,) = [item for item in report.items if item.outcome is Outcome.SKIPPED]
        assert (broken.path, broken.reason) == ("broken.png", "damaged, or no image")
        hits = {hit.doc_path: hit for hit in kb.search("ship sails at noon").hits}
        for path, page in (("photo.png", 0), ("scan.pdf", 1)):
            cited = hits[path].citation
            assert (cited.kind, cited.start) == (CitationKind.REGION, page)
            assert "The ship sails at noon" in kb.fetch_citation(cited.uri).text
        assert len(list((base.data / "ocr").iterdir())) == 2
        assert kb.doctor().healthy


@pytest.mark.slow
def test_without_ocr_images_are_skipped_with_the_setting_that_reads_them(
    tmp_path: Path, picture: Picture
) -> None:
    base = make_base(tmp_path, notes=1)
    base.write("photo.png", png(picture))
    base.write("scan.pdf", scanned_pdf(picture))
    with base.open(models__embedding__provider="none") as kb:
        report = kb.ingest()
    assert {item.path: item.reason for item in report.items if item.outcome is Outcome.SKIPPED} == {
        "photo.png": OFF,
        "scan.pdf": "no text layer: its pages are images, and OCR is off (ingest.ocr)",
    }


def test_without_the_data_of_a_language_the_package_that_has_it_is_named(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=1)
    base.write("photo.png", b"x")
    with base.open(
        models__embedding__provider="none", ingest__ocr=True, ingest__ocr_languages="kor+tlh"
    ) as kb:
        report = kb.ingest()
    (item,) = [item for item in report.items if item.outcome is Outcome.SKIPPED]
    assert "apt install tesseract-ocr-kor tesseract-ocr-tlh" in (item.reason or "")


def test_an_image_is_read_once(tmp_path: Path) -> None:
    inner = FakeTextRecogniser()
    cached = CachedRecogniser(inner, tmp_path / "ocr")
    first = cached.read_file(b"image: words")
    assert cached.read_file(b"image: words") == first
    assert inner.asked == 1
    assert cached.read_picture(Picture(2, 1, b"ab")) == cached.read_picture(Picture(2, 1, b"ab"))
    assert cached.read_picture(Picture(1, 2, b"ab")) != cached.read_picture(Picture(2, 1, b"ab"))
    assert inner.asked == 3
    assert isinstance(cached.read_file(b"broken"), Unopened)


def test_a_broken_cache_is_passed_over(tmp_path: Path) -> None:
    inner = FakeTextRecogniser()
    cached = CachedRecogniser(inner, tmp_path)
    first = cached.read_file(b"image: words")
    for file in tmp_path.iterdir():
        file.write_text('[["one"')
    assert cached.read_file(b"image: words") == first
    assert inner.asked == 2


def test_the_second_engine_reads_english_and_where_it_is_missing_the_command_is_told(
    tmp_path: Path, picture: Picture
) -> None:
    base = make_base(tmp_path, notes=0)
    base.write("photo.png", png(picture))
    with base.open(models__embedding__provider="none", ingest__ocr=True, ingest__ocr_engine="rapidocr") as kb:
        (item,) = kb.ingest().items
        if find_spec("rapidocr") is None:
            assert (item.outcome, item.reason) == (
                Outcome.SKIPPED,
                "images need rapidocr, which is not installed: pip install rapidocr onnxruntime",
            )
        else:
            (hit,) = kb.search("ship sails at noon").hits
            assert "The ship sails at noon" in kb.fetch_citation(hit.citation.uri).text
