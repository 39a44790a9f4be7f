"""HWPX: what is read of its paragraphs, tables, boxes, notes and numbers, and what cannot be read."""

from __future__ import annotations

from kebab.domain.documents import BlockKind
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.parse.parsed import Defaults, Parsed, Unreadable
from tests.document_files import hwpx_parts, zipped

DEFAULTS = Defaults("report", extension=".hwpx")


def parsed(body: str, *, header: str = "", package: str = "") -> Parsed:
    found = FORMATS[".hwpx"].parse(hwpx_parts(body, header=header, package=package), DEFAULTS)
    assert isinstance(found, Parsed), found
    return found


def text_of(body: str, *, header: str = "") -> str:
    return parsed(body, header=header).lines.text


def reason(content: bytes) -> str:
    found = FORMATS[".hwpx"].parse(content, DEFAULTS)
    assert isinstance(found, Unreadable)
    return found.reason


def paragraph(held: str, form: str = "0") -> str:
    return f'<hp:p paraPrIDRef="{form}"><hp:run>{held}</hp:run></hp:p>'


def said(text: str, form: str = "0") -> str:
    return paragraph(f"<hp:t>{text}</hp:t>", form)


def cell(text: str, row: int, column: int) -> str:
    address = f'<hp:cellAddr colAddr="{column}" rowAddr="{row}"/>'
    return f"<hp:tc><hp:subList>{said(text)}</hp:subList>{address}</hp:tc>"


def table(*rows: str) -> str:
    return "<hp:tbl>" + "".join(f"<hp:tr>{row}</hp:tr>" for row in rows) + "</hp:tbl>"


def test_signs_inside_of_words_are_kept_and_deleted_words_are_not() -> None:
    words = "밧줄<hp:nbSpace/>광<hp:lineBreak/>둘째<hp:tab/>줄<hp:deleteBegin/>지운 말<hp:deleteEnd/>이다"
    assert text_of(said(words)) == "밧줄 광\n둘째\t줄이다"


def test_merged_cells_keep_their_columns_and_what_holds_nothing_goes() -> None:
    body = table(
        cell("품목", 0, 0) + cell("", 0, 1) + cell("값", 0, 4),
        cell("", 1, 0) + cell("", 1, 4),
        cell("밧줄 | 줄", 2, 0) + cell("", 2, 1) + cell("30", 2, 4),
    )
    assert text_of(paragraph(body)) == "| 품목 | 값 |\n| --- | --- |\n| 밧줄 \\| 줄 | 30 |"


def test_cells_that_claim_one_column_keep_their_words() -> None:
    wide = table("".join(cell(f"w{at}", 0, at) for at in range(205)))
    assert [f"w{at}" in text_of(paragraph(wide)) for at in range(205)] == [True] * 205
    twice = table(cell("품목", 0, 0) + cell("값", 0, 1), cell("밧줄", 1, 0) + cell("30", 1, 0))
    assert text_of(paragraph(twice)) == "| 품목 | 값 |\n| --- | --- |\n| 밧줄 30 |  |"


def test_tables_inside_of_cells_are_read_once_however_deep() -> None:
    def holding(text: str, inner: str) -> str:
        held = f"<hp:tc><hp:subList>{said(text)}{paragraph(inner)}</hp:subList></hp:tc>"
        return table(held + cell("b", 0, 1))

    nested = table(cell("끝", 0, 0) + cell("b", 0, 1))
    for number in range(12):
        nested = holding(f"n{number}", nested)
    assert text_of(paragraph(nested)).count("끝") == 1


def test_a_table_of_one_column_is_a_frame_around_text() -> None:
    frame = table(f"<hp:tc><hp:subList>{said('하나')}{said('둘')}</hp:subList></hp:tc>")
    found = parsed(paragraph(frame))
    assert found.lines.text == "하나\n\n둘"
    assert {block.kind for block in found.blocks} == {BlockKind.PARAGRAPH}
    assert text_of(paragraph(table(cell("a", 0, 0) + cell("", 0, 1)))) == "a"


def test_a_table_without_a_paragraph_around_it_is_read() -> None:
    assert text_of(said("앞") + table(cell("a", 0, 0) + cell("b", 0, 1))) == "앞\n\n| a | b |"


def test_boxes_and_groups_of_boxes_are_read_once_behind_their_paragraph() -> None:
    inner = f"<hp:rect><hp:drawText><hp:subList>{said('안')}</hp:subList></hp:drawText></hp:rect>"
    outer = paragraph(f"<hp:t>밖</hp:t><hp:container>{inner}{inner.replace('안', '옆')}</hp:container>")
    assert text_of(outer) == "밖\n\n안\n\n옆"


def test_notes_and_memos_stand_at_the_end_and_heads_of_pages_are_left_out() -> None:
    def control(tag: str, text: str) -> str:
        name = tag.split()[0]
        return f"<hp:ctrl><hp:{tag}><hp:subList>{said(text)}</hp:subList></hp:{name}></hp:ctrl>"

    held = control("header", "머리말") + "<hp:t>매듭</hp:t>" + control("footNote", "각주")
    held += control('fieldBegin type="MEMO"', "확인할 것") + control("endNote", "미주")
    assert text_of(paragraph(held)) == "매듭[^1][^m2][^e3]\n\n[^1]: 각주\n\n[^m2]: 확인할 것\n\n[^e3]: 미주"


HEADS = (
    '<hh:numbering id="3"><hh:paraHead level="1" numFormat="DIGIT" start="1">^1.</hh:paraHead>'
    '<hh:paraHead level="2" numFormat="HANGUL_SYLLABLE" start="1">^1.^2)</hh:paraHead></hh:numbering>'
    '<hh:numbering id="4"><hh:paraHead level="1" numFormat="ROMAN_CAPITAL" start="4">^1.</hh:paraHead>'
    "</hh:numbering>"
    '<hh:paraPr id="1"><hh:heading type="OUTLINE" idRef="0" level="0"/></hh:paraPr>'
    '<hh:paraPr id="2"><hh:heading type="OUTLINE" idRef="0" level="1"/></hh:paraPr>'
    '<hh:paraPr id="5"><hh:heading type="NUMBER" idRef="4" level="0"/></hh:paraPr>'
    '<hh:paraPr id="6"><hh:heading type="BULLET" idRef="1" level="0"/></hh:paraPr>'
)


def test_outlines_are_headings_with_the_numbers_that_hangul_shows() -> None:
    section = '<hp:p><hp:run><hp:secPr outlineShapeIDRef="3"/></hp:run></hp:p>'
    forms = (("매듭", "1"), ("묶기", "2"), ("풀기", "2"), ("돛", "1"), ("접기", "2"))
    found = parsed(section + "".join(said(text, form) for text, form in forms), header=HEADS)
    assert [(block.level, block.heading) for block in found.blocks] == [
        (1, "1. 매듭"),
        (2, "1.가) 묶기"),
        (2, "1.나) 풀기"),
        (1, "2. 돛"),
        (2, "2.가) 접기"),
    ]


def test_lists_have_their_numbers_and_bullets() -> None:
    body = said("하나", "5") + said("둘", "5") + said("점", "6") + said("말")
    assert text_of(body, header=HEADS) == "IV. 하나\n\nV. 둘\n\n- 점\n\n말"


def test_title_author_and_day_come_from_the_package() -> None:
    package = (
        '<opf:package xmlns:opf="o"><opf:metadata><opf:title>보도 자료</opf:title>'
        '<opf:meta name="creator">미나</opf:meta><opf:meta name="date">2021년 11월 8일 월요일</opf:meta>'
        "</opf:metadata></opf:package>"
    )
    found = parsed(said("밧줄"), package=package)
    assert (found.title, found.metadata.created_at) == ("보도 자료", "2021-11-08")
    assert found.metadata.user == {"author": "미나"}
    assert parsed(said("밧줄"), package=package.replace("보도 자료", "3")).title == "report"


def test_locked_and_empty_documents_are_reported() -> None:
    assert "password" in reason(
        zipped({"META-INF/manifest.xml": "<m><encryption-data/></m>", "Contents/section0.xml": "\x01"})
    )
    assert reason(zipped({"mimetype": "application/hwp+zip"})) == "damaged, or no document of Hangul"
    assert reason(hwpx_parts(said(""))) == "it holds no text"


def test_the_newer_format_under_the_older_name_is_read_without_an_engine() -> None:
    found = FORMATS[".hwp"].parse(hwpx_parts(said("밧줄")), Defaults("report", extension=".hwp"))
    assert isinstance(found, Parsed)
    assert found.lines.text == "밧줄"
