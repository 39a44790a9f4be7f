"""PDF: pages, reading order, headings, running heads, words cut at line ends, and what cannot be read."""

from __future__ import annotations

from dataclasses import replace

from kebab.assembly.documents import InstalledEngines
from kebab.domain.places import Page
from kebab.ingest.parse.parsed import Defaults, Parsed, Unreadable
from kebab.ingest.parse.pdf import parse_pdf
from kebab.ingest.parse.pdf_layout import look_at
from kebab.ingest.parse.pdf_order import in_order
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


def test_a_word_cut_at_the_end_of_a_page_is_not_joined_with_its_foot() -> None:
    def drawn(following: float) -> list[Drawn]:
        return [(50, 700, 10, "The rope of the com-"), (50, 688, following, "mander lies dry")]

    assert read([drawn(10)]).lines.text == "The rope of the commander lies dry"
    assert read([drawn(6)]).lines.text == "The rope of the com-\n\nmander lies dry"


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


def test_what_is_filled_into_a_form_and_noted_on_a_page_is_read_and_what_is_hidden_is_not() -> None:
    parsed = parse_pdf(pdf_file([pdf_page(SAID)], filled="bowline"), DEFAULTS)
    assert isinstance(parsed, Parsed)
    assert parsed.lines.text.split("\n\n") == [SAID, "bowline", "a note on bowline"]
    assert {block.place for block in parsed.blocks} == {Page(1)}


def test_a_page_that_holds_a_filled_form_alone_is_no_scan() -> None:
    parsed = parse_pdf(pdf_file([[]], filled="bowline"), DEFAULTS)
    assert isinstance(parsed, Parsed)
    assert parsed.lines.text == "bowline\n\na note on bowline"


def test_a_title_that_is_drawn_last_is_read_where_it_stands() -> None:
    body = [line("words " * 12, top=300 + 12 * n) for n in range(9)]
    drawn = [*body, line("Ropes and knots", top=90, size=24)]
    assert in_order(drawn) == [drawn[-1], *body]


def test_a_column_that_begins_higher_than_the_one_before_it_stays_behind_it() -> None:
    drawn = [line("a" * 30, left, top + 12 * n) for left, top in ((50, 300), (320, 100)) for n in range(9)]
    assert in_order(drawn) == drawn


def in_two_fonts(stream: str) -> bytes:
    """A page drawn with Helvetica as F and Helvetica-Bold as B; readers find its objects without a table."""
    stem = "/FontDescriptor<</Type/FontDescriptor/FontName/Helvetica/Flags 32/StemV 250>>"
    regular = f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica{stem}>>"
    bold = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>"
    return (
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        "2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
        f"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
        f"/Resources<</Font<</F {regular}/B {bold}>>>>>>endobj\n"
        f"4 0 obj<</Length {len(stream)}>>stream\n{stream}\nendstream endobj\ntrailer<</Root 1 0 R>>"
    ).encode()


def test_a_bold_word_that_opens_a_paragraph_does_not_cut_it() -> None:
    drawn = (
        "BT /B 10 Tf 50 700 Td (SUMMARY: the rope) Tj /F 10 Tf ( of the) Tj ET"
        " BT /F 10 Tf 50 688 Td (ship is dry and lies below the mast) Tj ET"
    )
    parsed = parse_pdf(in_two_fonts(drawn), DEFAULTS)
    assert isinstance(parsed, Parsed)
    assert parsed.lines.text == "SUMMARY: the rope of the ship is dry and lies below the mast"


def test_a_font_of_which_the_file_says_only_the_name_is_bold_by_its_name() -> None:
    drawn = "BT /F 10 Tf 50 700 Td (2. Ropes and knots) Tj ET BT /B 10 Tf 50 600 Td (3. Sails) Tj ET"
    parsed = parse_pdf(in_two_fonts(drawn), DEFAULTS)
    assert isinstance(parsed, Parsed)
    assert [block.heading for block in parsed.blocks if block.level] == ["3. Sails"]


def test_bold_says_nothing_where_most_letters_are_bold() -> None:
    lines = [line(f"{n}. of the words of a page", top=100 + 40 * n, bold=True) for n in range(9)]
    assert not any(text.startswith("#") for text in texts(page(*lines)))


def test_lines_turned_by_a_quarter_are_no_title_and_no_heading() -> None:
    turned = PdfLine("arXiv:2004.04906v3", 15, 200, 35, 560, 20, False)
    one = page(
        turned,
        line("Dense passages", top=70, size=14),
        *[line("w " * 30, top=120 + 12 * n) for n in range(9)],
    )
    layout = look_at([one], ())
    assert layout.title(one) == "Dense passages"
    assert [text for text, level in layout.paragraphs(one) if level] == ["Dense passages"]


def test_a_running_head_that_names_chapter_and_section_goes_and_the_headings_stay() -> None:
    outline = (
        PdfEntry(1, "Hoisting sails", 1),
        PdfEntry(2, "Drying ropes", 2),
        PdfEntry(2, "Tying knots", 2),
    )
    head, body = "Chapter 4. Hoisting sails 4.5. Drying ropes", line("the rope lies dry", top=200)
    opened = page(line("Chapter 4. Hoisting sails", top=60), body)
    after = page(line(head, top=40), line("Drying ropes", top=90), body, number=2)
    text = page(line("Chapter 4 says of hoisting sails that it is hard", top=60), body, number=2)
    other = page(line("Tying knots", top=60), body, number=2)
    assert texts(opened, outline=outline, others=(after,))[0] == "Chapter 4. Hoisting sails"
    assert texts(after, outline=outline, others=(opened,)) == ["## Drying ropes", "the rope lies dry"]
    assert len(texts(text, outline=outline, others=(opened,))) == 2
    assert texts(other, outline=outline, others=(opened,))[0] == "## Tying knots"


def test_what_is_turned_in_a_side_margin_of_many_pages_is_a_running_head() -> None:
    turned = PdfLine("printed by the harbour", 15, 600, 20, 780, 5, False)
    pages = [
        page(
            *(line(f"the rope {n} {word}", top=top) for word, top in (("dry", 90), ("wet", 300))),
            turned,
            *(line(f"at the end of {word}", top=785) for word in ("a", "b")),
            number=n,
        )
        for n in range(1, 5)
    ]
    assert not any("harbour" in text for text in texts(pages[0], others=tuple(pages[1:])))
    assert any("harbour" in text for text in texts(pages[0]))


def test_a_line_that_had_room_for_the_next_word_ended_a_paragraph() -> None:
    full, short = "the rope of the ship lies dry", "and is hoisted."
    lines = [line(text, top=100 + 12 * n) for n, text in enumerate([full, full, short, full, full])]
    assert texts(page(*lines)) == [f"{full} {full} {short}", f"{full} {full}"]


def test_a_line_that_sticks_out_of_its_column_ends_no_other_paragraph() -> None:
    full = "the rope of the ship lies dry"
    lines = [
        line(text, top=100 + 12 * n) for n, text in enumerate([full, full, full + " and is hoisted", full])
    ]
    assert len(texts(page(*lines))) == 1


def test_double_spaced_lines_are_one_paragraph_and_tight_ones_end_at_a_small_gap() -> None:
    for pitch, apart in ((22, 36), (11, 17)):
        tops = [100 + pitch * n for n in range(12)] + [
            100 + pitch * 11 + apart + pitch * n for n in range(12)
        ]
        assert len(texts(page(*[line("the same words", top=top) for top in tops]))) == 2


def test_a_sign_alone_is_no_heading() -> None:
    one = page(line("ˆ", top=100, size=30), *[line("the same words", top=150 + 12 * n) for n in range(9)])
    assert not any(text.startswith("#") for text in texts(one))
