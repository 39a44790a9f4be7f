"""Office files: headings, lists, tables, notes, slides, sheets, and what is never read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kebab.assembly.documents import InstalledEngines
from kebab.domain.documents import TrustLevel
from kebab.domain.ingests import IngestItem, Outcome
from kebab.domain.places import Cells, Items, Slide
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.parse.parsed import Defaults, Parsed, Unreadable
from kebab.ingest.parse.reading import Reading, ReadLimits
from kebab.ingest.parse.tables import find_head
from kebab.ingest.prepare import FileTask, prepare
from tests.document_fakes import FakeDocumentEngines, FakeHwpReader
from tests.document_files import (
    KNOTS,
    LOCKED_OFFICE,
    SAID,
    docx_file,
    docx_heading,
    docx_paragraph,
    pptx_file,
    pptx_shape,
    xlsx_file,
    zipped,
)

READING = Reading(InstalledEngines())


def outcome(ending: str, content: bytes | str, reading: Reading = READING) -> Parsed | Unreadable:
    held = content.encode() if isinstance(content, str) else content
    return FORMATS[ending].parse(held, Defaults("report", extension=ending, reading=reading))


def read(ending: str, content: bytes | str) -> Parsed:
    found = outcome(ending, content)
    assert isinstance(found, Parsed), found
    return found


def reason(ending: str, content: bytes, reading: Reading = READING) -> str:
    found = outcome(ending, content, reading)
    assert isinstance(found, Unreadable), found
    return found.reason


def docx_text(body: str, **parts: str) -> str:
    files: dict[str, str | bytes] = {f"word/{name}.xml": text for name, text in parts.items()}
    return read(".docx", docx_file(body, parts=files)).lines.text


def test_headings_open_sections_and_paragraphs_are_counted() -> None:
    parsed = read(
        ".docx",
        docx_file(docx_heading(1, "A") + docx_paragraph("x") + docx_heading(2, "B") + docx_paragraph("y")),
    )
    assert parsed.lines.text == "# A\n\nx\n\n## B\n\ny"
    assert parsed.blocks[3].heading_path == ("A", "B")
    assert parsed.blocks[3].place == Items("par", 4, 4)
    assert parsed.title == "A"


def test_a_heading_is_known_by_its_outline_level_or_by_the_style_it_is_based_on() -> None:
    styles = (
        '<w:style w:styleId="Mine"><w:name w:val="mine"/><w:basedOn w:val="H1"/></w:style>'
        '<w:style w:styleId="H1"><w:name w:val="x"/><w:basedOn w:val="Mine"/>'
        '<w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    )
    body = docx_paragraph("by style", properties='<w:pStyle w:val="Mine"/>') + docx_paragraph(
        "by itself", properties='<w:outlineLvl w:val="0"/>'
    )
    assert read(".docx", docx_file(body, styles=styles)).lines.text == "## by style\n\n# by itself"


def test_lists_have_bullets_and_numbers() -> None:
    def item(text: str, number: int, level: int = 0) -> str:
        found = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
        return docx_paragraph(text, properties=found)

    numbering = (
        '<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0">'
        '<w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num></w:numbering>'
    )
    body = (
        item("dry", 1)
        + item("tie", 1)
        + docx_paragraph("then")
        + item("one", 2)
        + item("in", 2, 1)
        + item("two", 2)
    )
    assert docx_text(body, numbering=numbering) == "- dry\n- tie\n\nthen\n\n1. one\n  1. in\n2. two"


def test_tables_keep_their_cells_and_signs() -> None:
    row = "<w:tr>" + "".join(f"<w:tc>{docx_paragraph(cell)}</w:tc>" for cell in ("knot", "a|b")) + "</w:tr>"
    assert docx_text(f"<w:tbl>{row}{row}</w:tbl>") == "| knot | a\\|b |\n| --- | --- |\n| knot | a\\|b |"


def test_a_cell_that_takes_two_columns_leaves_the_next_one_where_it_stands() -> None:
    wide = "<w:tcPr><w:gridSpan w:val='2'/></w:tcPr>"
    head = f"<w:tr><w:tc>{wide}{docx_paragraph('2023')}</w:tc><w:tc>{docx_paragraph('2022')}</w:tc></w:tr>"
    row = "<w:tr>" + "".join(f"<w:tc>{docx_paragraph(cell)}</w:tc>" for cell in "123") + "</w:tr>"
    assert (
        docx_text(f"<w:tbl>{head}{row}</w:tbl>") == "| 2023 |  | 2022 |\n| --- | --- | --- |\n| 1 | 2 | 3 |"
    )


def test_a_table_of_one_cell_is_a_frame() -> None:
    assert (
        docx_text(f"<w:tbl><w:tr><w:tc>{docx_heading(1, 'A')}{docx_paragraph('x')}</w:tc></w:tr></w:tbl>")
        == "# A\n\nx"
    )


def test_footnotes_come_last_and_what_was_deleted_is_not_read() -> None:
    note = f'<w:footnote w:id="2">{docx_paragraph("see there")}</w:footnote>'
    notes = f'<w:footnotes xmlns:w="w">{note}</w:footnotes>'
    body = (
        "<w:p><w:r><w:t>kept</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>'
    )
    assert docx_text(body, footnotes=notes) == "kept[^2]\n\n[^2]: see there"


def test_a_text_box_is_read_once() -> None:
    box = f"<w:txbxContent>{docx_paragraph('boxed')}</w:txbxContent>"
    body = f"<w:p><w:r><w:t>beside</w:t><w:Choice>{box}</w:Choice><w:Fallback>{box}</w:Fallback></w:r></w:p>"
    assert docx_text(body) == "beside\n\nboxed"


def test_title_author_and_date_come_from_the_properties() -> None:
    properties = "<p><title>Ropes</title><creator>Mina</creator><created>2024-05-01T00:00:00Z</created></p>"
    parsed = read(".docx", docx_file(docx_paragraph("x"), parts={"docProps/core.xml": properties}))
    assert (parsed.title, parsed.metadata.created_at) == ("Ropes", "2024-05-01T00:00:00Z")
    assert parsed.metadata.user == {"author": "Mina"}


def test_a_slide_has_its_title_its_words_and_its_notes() -> None:
    slide = pptx_shape("7", kind="sldNum") + pptx_shape("Dry it") + pptx_shape("Ropes", kind="title")
    parsed = read(".pptx", pptx_file([slide, pptx_shape("second")], notes="say this"))
    assert parsed.lines.text == "## Ropes\n\nDry it\n\nNotes: say this\n\nsecond"
    assert [block.place for block in parsed.blocks] == [Slide(1), Slide(1), Slide(1), Slide(2)]
    assert parsed.blocks[-1].heading_path == ()


def test_rows_of_a_sheet_carry_their_head_and_cite_their_cells() -> None:
    parsed = read(".xlsx", xlsx_file({"Knots": [["The plan"], *KNOTS], "Other": [["a", 1.5], ["b", 2.0]]}))
    assert parsed.lines.text.startswith(
        "## Knots\n\nThe plan\n\n| knot | use | strength |\n| --- | --- | --- |\n| bowline 0 |"
    )
    assert parsed.lines.text.endswith("## Other\n\n| a | 1.5 |\n| b | 2 |")
    assert parsed.blocks[2].place == Cells("Knots", 1, 3, 3, 6)


def test_a_long_sheet_is_cut_into_blocks_that_each_carry_the_head() -> None:
    parsed = read(".csv", "knot,use\n" + f"bowline,{SAID}\n" * 100)
    assert len(parsed.blocks) > 3
    for block in parsed.blocks:
        assert parsed.lines.slice(block.start, block.start) == "| knot | use |"
    assert isinstance(parsed.blocks[0].place, Cells)
    assert parsed.blocks[0].place.top == 2


def test_a_quoted_cell_may_hold_lines_and_other_delimiters() -> None:
    text = 'name,note\na,"1; 2; 3\n\n4; 5; 6"\nb,"seven | eight\nnine"\n'
    assert read(".csv", text).lines.text == (
        "| name | note |\n| --- | --- |\n| a | 1; 2; 3 4; 5; 6 |\n| b | seven \\| eight nine |"
    )


def test_prose_of_which_a_row_holds_a_comma_is_one_column() -> None:
    assert read(".csv", "Lorem, ipsum\ndolor\nsit\n").lines.text == "| Lorem, ipsum |\n| dolor |\n| sit |"


def test_a_space_may_stand_before_a_quoted_cell() -> None:
    parsed = read(".csv", 'knot,use\nbowline, "a loop, dry"\n')
    assert parsed.lines.text.endswith("| bowline | a loop, dry |")
    assert '| bowline | "loop" or not |' in read(".csv", 'knot,use\nbowline, "loop" or not\n').lines.text


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    rows = "\n".join(delimiter.join(row) for row in (["knot", "use, or not"], ["bowline", "loop"]))
    if delimiter == ",":
        rows = rows.replace("use, or not", '"use, or not"')
    assert read(".csv", rows).lines.text.startswith("| knot | use, or not |")


def test_a_quote_that_is_never_closed_is_a_letter() -> None:
    assert '| 5" rope | x |' in read(".csv", 'knot,use\n5" rope,x\n"open,y\n').lines.text


@pytest.mark.parametrize(
    ("rows", "head"),
    [
        ([["a", "b"], ["1", "2"]], 0),
        ([["Title"], ["a", "b"], ["1", "2"]], 1),
        ([["1", "2"], ["3", "4"]], None),
        ([["a", "a"], ["b", "c"]], None),
        ([], None),
    ],
)
def test_a_head_is_a_row_of_different_words(rows: list[list[str]], head: int | None) -> None:
    assert find_head(rows) == head


@pytest.mark.parametrize("ending", [".docx", ".pptx", ".xlsx"])
def test_a_bomb_is_refused_before_it_is_unpacked(ending: str) -> None:
    bomb = zipped(dict.fromkeys(("word/document.xml", "ppt/presentation.xml", "xl/x.xml"), b" " * (20 << 20)))
    assert len(bomb) < 100_000
    assert "unpack" in reason(ending, bomb)


def test_an_archive_may_unpack_as_far_as_the_settings_say() -> None:
    large = docx_file(docx_paragraph("word " * 200_000))
    assert isinstance(outcome(".docx", large), Parsed)
    few = replace(READING, limits=ReadLimits(expanded_bytes=100_000))
    assert "max_expanded_mb" in reason(".docx", large, few)


@pytest.mark.parametrize(
    ("entities", "said"),
    [
        ('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>', "entities"),
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>', "entities"),
        ("<" + "w:x><" * 300, "damaged"),
    ],
)
def test_xml_that_would_expand_or_read_other_files_is_refused(entities: str, said: str) -> None:
    content = zipped({"word/document.xml": f"{entities}<w:document xmlns:w='w'>&a;</w:document>"})
    assert said in reason(".docx", content)


def test_xml_that_is_nested_too_deep_is_refused() -> None:
    deep = "<w:sdt>" * 5000 + "</w:sdt>" * 5000
    assert "max_nesting" in reason(".docx", docx_file(deep))


def test_a_locked_office_file_is_named_as_such() -> None:
    assert all("password" in reason(ending, LOCKED_OFFICE) for ending in (".docx", ".pptx"))


def test_links_out_of_the_archive_are_not_followed() -> None:
    outside = (
        '<Relationships><Relationship Id="s" Type="x/styles" Target="../../../etc/passwd"/></Relationships>'
    )
    body = docx_file(docx_paragraph("x"), parts={"word/_rels/document.xml.rels": outside})
    assert read(".docx", body).lines.text == "x"


def test_a_sheet_is_called_like_its_file_and_a_locked_one_is_named_as_such() -> None:
    assert read(".xlsx", xlsx_file({"Sheet1": KNOTS})).title == "report"
    assert "password" in reason(".xlsx", LOCKED_OFFICE + "EncryptedPackage".encode("utf-16-le"))


def test_a_document_of_hangul_loses_marks_and_indents_and_a_title_that_is_a_number() -> None:
    class Engines(InstalledEngines):
        def hwp(self) -> FakeHwpReader:
            return FakeHwpReader("3", "2021년 11월 8일 월요일 오전 8:40:50")

    text = "HWP **보도** 자료\n\n    1\\) 문화<br>행사\n\n![image](a.png)\n"
    parsed = outcome(".hwp", text, Reading(Engines()))
    assert isinstance(parsed, Parsed)
    assert parsed.lines.text == "보도 자료\n\n1) 문화 행사"
    assert (parsed.title, parsed.metadata.created_at) == ("report", "2021-11-08")


class FakeHangul(InstalledEngines):
    def hwp(self) -> FakeHwpReader:
        return FakeHwpReader()


def test_a_document_of_hangul_for_distribution_is_named_as_locked() -> None:
    notice = "HWP 이 문서는 상위 버전의 배포용 문서입니다. 문서를 읽으려면 최신 버전의 한글이 필요합니다."
    assert "배포용" in reason(".hwp", notice.encode(), Reading(FakeHangul()))
    about_it = f"{notice} {'이 문서는 그런 문서를 설명한다. ' * 40}"
    assert isinstance(outcome(".hwp", about_it, Reading(FakeHangul())), Parsed)


def test_rows_and_columns_of_hangul_tables_that_hold_nothing_go() -> None:
    frame = "HWP | | 수신 | | 장관 |\n| :--- | :--- | :--- | :--- |\n|  | | | |\n| | 제목 | | a \\| b |\n"
    frame += "\n|  |  |\n| :--- | :--- |\n|  |  |\n"
    parsed = outcome(".hwp", frame, Reading(FakeHangul()))
    assert isinstance(parsed, Parsed)
    assert parsed.lines.text == "| 수신 | 장관 |\n| --- | --- |\n| 제목 | a \\| b |"


@pytest.mark.parametrize(
    ("name", "engine"),
    [("a.pdf", "pdf"), ("a.html", "html"), ("a.xlsx", "sheets"), ("a.hwp", "hwp"), ("a.png", "ocr")],
)
def test_a_file_whose_engine_is_missing_is_skipped_with_the_command_that_installs_it(
    tmp_path: Path, name: str, engine: str
) -> None:
    file = tmp_path / name
    file.write_bytes(b"whatever")
    task = FileTask("notes", name, str(file), 8, 0, "note", TrustLevel.PRIMARY)
    found = prepare(task, ChunkPolicy(), reading=Reading(FakeDocumentEngines(engine)))
    assert isinstance(found, IngestItem)
    assert found.outcome is Outcome.SKIPPED
    assert found.reason == f"needs {engine}, which is not installed: pip install 'kebab[x]'"


def test_a_numbered_list_of_odt_keeps_its_numbers_and_goes_on_where_it_says() -> None:
    def item(words: str, more: str = "", start: str = "") -> str:
        return f"<text:list-item{start}><text:p>{words}</text:p>{more}</text:list-item>"

    inner = f"<text:list>{item('inner')}</text:list>"
    seventh = ' text:start-value="7"'
    on = ' text:continue-numbering="true"'
    body = (
        f'<text:list text:style-name="L">{item("one")}{item("two", inner)}</text:list>'
        "<text:p>between</text:p>"
        f'<text:list text:style-name="L"{on}>{item("three")}</text:list>'
        f'<text:list text:style-name="L">{item("seven", start=seventh)}</text:list>'
        f'<text:list text:style-name="B">{item("dash")}</text:list>'
    )
    levels = '<text:list-level-style-number text:level="1" text:num-format="1"/>'
    styles = f'<text:list-style text:name="L">{levels}<text:list-level-style-bullet text:level="2"/>'
    content = (
        f'<o:c xmlns:o="o" xmlns:text="t">{styles}</text:list-style><o:body><o:text>{body}'
        "</o:text></o:body></o:c>"
    )
    found = outcome(".odt", zipped({"content.xml": content}))
    assert isinstance(found, Parsed)
    assert found.lines.text.split("\n") == [
        "1. one", "2. two", "  - inner", "", "between", "", "3. three", "7. seven", "- dash",
    ]  # fmt: skip
