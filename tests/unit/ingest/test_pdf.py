"""PDF: pages, reading order, headings, running heads, words cut at line ends, and what cannot be read."""

from __future__ import annotations

from dataclasses import replace

from kebab.assembly.documents import InstalledEngines
from kebab.domain.places import Page
from kebab.ingest.parse.parsed import Defaults, Parsed, Unreadable
from kebab.ingest.parse.pdf import parse_pdf
from kebab.ingest.parse.pdf_layout import in_order, look_at
from kebab.ingest.parse.reading import Reading, ReadLimits
from kebab.ports import PdfEntry, PdfLine, PdfPage
from tests.document_files import KOREAN, SAID, Drawn, pdf_file, pdf_page

READING = Reading(InstalledEngines())
DEFAULTS = Defaults("report", extension=".pdf", reading=READING)


def read(pages: list[list[Drawn]], *, defaults: Defaults = DEFAULTS) -> Parsed:
    parsed = parse_pdf(pdf_file(pages), defaults)
    assert isinstance(parsed, Parsed), parsed
    return parsed


def reason(content: bytes) -> str:
    parsed = parse_pdf(content, DEFAULTS)
    assert isinstance(parsed, Unreadable)
    return parsed.reason


def line(text: str, left: float = 50, top: float = 100, size: float = 10, *, bold: bool = False) -> PdfLine:
    return PdfLine(text, left, top, left + 5 * len(text), top + size, size, bold)


def page(*lines: PdfLine, number: int = 1) -> PdfPage:
    return PdfPage(number, 600, 800, lines)


def texts(one: PdfPage, *, others: tuple[PdfPage, ...] = (), outline: tuple[PdfEntry, ...] = ()) -> list[str]:
    return [
        f"{'#' * level} {text}".strip() for text, level in look_at([one, *others], outline).paragraphs(one)
    ]


def test_each_page_is_a_place_and_korean_is_read() -> None:
    parsed = read([pdf_page(SAID), pdf_page(KOREAN)])
    assert parsed.lines.text == f"{SAID}\n\n{KOREAN}"
    assert [block.place for block in parsed.blocks] == [Page(1), Page(2)]
    assert parsed.title == "report"


def test_large_words_are_headings_and_the_largest_of_the_first_page_the_title() -> None:
    parsed = read(
        [[(50, 700, 24, "Ropes"), *pdf_page(SAID, top=650), (50, 560, 16, "Knots")], pdf_page(SAID)]
    )
    assert parsed.title == "Ropes"
    assert [(block.heading, block.level) for block in parsed.blocks if block.level] == [
        ("Ropes", 1),
        ("Knots", 2),
    ]


def test_lines_of_a_paragraph_are_joined_and_a_gap_begins_another() -> None:
    one = page(line("The rope", top=100), line("is dry.", top=112), line("Sail now.", top=150))
    assert texts(one) == ["The rope is dry.", "Sail now."]


def test_a_word_cut_by_a_hyphen_is_whole_again() -> None:
    assert texts(page(line("The com-", top=100), line("mander", top=112))) == ["The commander"]
    assert texts(page(line("Jean-", top=100), line("Luc", top=112))) == ["Jean- Luc"]


def test_korean_words_cut_at_a_line_end_are_joined_where_the_file_writes_its_spaces() -> None:
    spaced = page(line("밧줄은 ", top=100), line("그늘에서 말", top=112), line("린다", top=124))
    assert texts(spaced) == ["밧줄은 그늘에서 말린다"]
    assert texts(page(line("밧줄은", top=100), line("말린다", top=112))) == ["밧줄은 말린다"]


def test_running_heads_and_page_numbers_go_and_the_same_words_in_the_text_stay() -> None:
    def numbered(number: int) -> PdfPage:
        return page(
            line("Annual report", top=20),
            line("Annual report", top=300),
            line(f"It is year {number}", top=400),
            line("words", top=420),
            line(f"Page {number} of 4", top=780),
            number=number,
        )

    first, *others = (numbered(n) for n in range(1, 5))
    assert texts(first, others=tuple(others)) == ["Annual report", "It is year 1", "words"]


def test_two_columns_that_are_drawn_line_by_line_are_read_one_after_the_other() -> None:
    drawn = [
        line(f"{side}{n}", left, 100 + 12 * n) for n in range(9) for side, left in (("a", 50), ("b", 320))
    ]
    # A file that draws from the bottom up, as some printers do.
    read_in = [one.text for one in in_order(list(reversed(drawn)))]
    assert read_in == [f"a{n}" for n in range(9)] + [f"b{n}" for n in range(9)]


def test_columns_that_are_drawn_one_after_the_other_keep_their_order() -> None:
    drawn = [
        line(f"{side}{n}", left, 100 + 12 * n) for side, left in (("a", 50), ("b", 320)) for n in range(9)
    ]
    assert in_order(drawn) == drawn


def test_an_outline_names_the_headings() -> None:
    titles = (("1 Knots", 1), ("Other", 1), ("xx", 2), ("yy", 3), ("zz", 4))
    outline = tuple(PdfEntry(2, title, number) for title, number in titles)
    one = page(
        line("1. Knots", top=100), line("Large but no heading", top=150, size=30), line("body " * 20, top=200)
    )
    assert texts(one, outline=outline)[0] == "## 1. Knots"
    assert not texts(one, outline=outline)[1].startswith("#")


def test_a_paragraph_of_large_letters_is_no_heading() -> None:
    lines = [line("word " * 12, top=100 + 20 * n, size=16) for n in range(6)]
    assert not texts(page(*lines, *[line("body " * 40, top=400 + 12 * n) for n in range(20)]))[0].startswith(
        "#"
    )


def test_locked_damaged_and_empty_files_say_why() -> None:
    assert "password" in reason(pdf_file([pdf_page(SAID)], locked=True))
    assert reason(b"not a pdf") == "damaged, or no PDF"
    assert reason(pdf_file([[]])) == "no text layer: its pages are images, and OCR is off (ingest.ocr)"


def test_more_pages_than_allowed_are_left_out_with_a_warning() -> None:
    few = replace(DEFAULTS, reading=replace(READING, limits=ReadLimits(pages=2)))
    parsed = read([pdf_page(f"{SAID} {n}") for n in range(3)], defaults=few)
    assert parsed.blocks[-1].place == Page(2)
    assert parsed.warnings == ("only the first 2 of 3 pages are read (ingest.max_pages)",)


def test_a_tree_of_pages_that_holds_itself_ends() -> None:
    loop = pdf_file([pdf_page(SAID)]).replace(b"/Kids[10 0 R]", b"/Kids[2 0 R ]")
    assert isinstance(parse_pdf(loop, DEFAULTS), Parsed | Unreadable)


def test_an_outline_that_holds_itself_ends() -> None:
    outline = "/Outlines<</First 90 0 R/Last 90 0 R>>"
    looped = pdf_file([pdf_page(SAID)], outline=outline).replace(
        b"endobj\n", b"endobj\n90 0 obj\n<</Title(x)/First 90 0 R/Next 90 0 R/Dest[10 0 R/Fit]>>\nendobj\n", 1
    )
    assert isinstance(parse_pdf(looped, DEFAULTS), Parsed | Unreadable)
