"""Books, OpenDocument, notebooks and messages: what is read of them, in which order, at which places."""

from __future__ import annotations

import json
from base64 import b64encode
from email.message import EmailMessage

from kebab.assembly.documents import InstalledEngines
from kebab.domain.places import Items, Slide
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.parse.parsed import Defaults, Parsed
from kebab.ingest.parse.reading import Reading
from tests.document_files import (
    SAID,
    docx_file,
    docx_paragraph,
    epub_file,
    mail_file,
    notebook_file,
    odt_file,
)

READING = Reading(InstalledEngines())


def read(ending: str, content: bytes | str) -> Parsed:
    held = content.encode() if isinstance(content, str) else content
    found = FORMATS[ending].parse(held, Defaults("file", extension=ending, reading=READING))
    assert isinstance(found, Parsed), found
    return found


def test_chapters_are_parts_and_sections_do_not_cross_them() -> None:
    parsed = read(".epub", epub_file(["<h1>One</h1><p>a</p><nav>kept</nav>", "<p>b</p>"]))
    assert parsed.lines.text == "# One\n\na\n\nkept\n\nb"
    assert [block.place for block in parsed.blocks][1::2] == [Items("par", 2, 2, 1), Items("par", 1, 1, 2)]
    assert parsed.blocks[-1].heading_path == ()
    assert (parsed.title, parsed.metadata.created_at) == ("Ropes", "2020-01-02")


def test_contents_and_the_day_that_stands_for_none_are_left_out_of_a_book() -> None:
    contents = '<div class="toc"><p>Contents</p></div><nav epub:type="toc">One</nav>'
    book = epub_file([f"{contents}<h1>One</h1><p>a</p>"], made="0101-01-01T00:00:00+00:00")
    parsed = read(".epub", book)
    assert parsed.lines.text == "# One\n\na"
    assert parsed.metadata.created_at is None


def test_a_book_of_several_titles_days_and_authors_has_the_first_ones_and_all_authors() -> None:
    more = (
        "2023-05-06</date><date>2024-01-01</date><title>A Story</title><creator>Jun</creator><date>2025-01-01"
    )
    parsed = read(".epub", epub_file(["<p>a</p>"], made=more))
    assert (parsed.title, parsed.metadata.created_at) == ("Ropes", "2023-05-06")
    assert parsed.metadata.user == {"author": "Mina, Jun"}


def test_open_documents_have_lists_tables_and_notes() -> None:
    body = (
        "<text:list><text:item><text:p>dry</text:p><text:list><text:item><text:p>well</text:p></text:item></text:list>"
        "</text:item><text:item><text:p>tie</text:p></text:item></text:list>"
        "<text:p>a<text:tab/>b<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>see</text:p></text:note-body></text:note> c</text:p>"
        "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell><table:table-cell>"
        "<text:p>y</text:p></table:table-cell></table:table-row></table:table>"
    )
    assert read(".odt", odt_file(body)).lines.text == (
        "- dry\n  - well\n- tie\n\na\tb[^1] c\n\n| x | y |\n\n[^1]: see"
    )


def test_boxes_and_tables_inside_of_others_are_read_once_however_deep() -> None:
    boxes = "<text:p>inmost</text:p>"
    for _ in range(12):
        boxes = f"<text:p><o:frame><o:text-box>{boxes}</o:text-box></o:frame></text:p>"
    held = "<table:table-row><table:table-cell><text:p>{}</text:p>{}</table:table-cell></table:table-row>"
    inner = f"<table:table>{held.format('y', '')}</table:table>"
    listed = held.format("x", inner) + held.format("x", "")
    rows = f"<table:table><table:table-rows>{listed}</table:table-rows></table:table>"
    assert read(".odt", odt_file(boxes + rows)).lines.text == "inmost\n\n| x y |\n| --- |\n| x |"


def test_slides_of_open_documents_are_places() -> None:
    body = "<o:page><text:p>one</text:p></o:page><o:page><text:p>two</text:p></o:page>"
    parsed = read(".odp", odt_file(body, kind="presentation"))
    assert [block.place for block in parsed.blocks] == [Slide(1), Slide(2)]


def test_the_title_of_an_open_slide_opens_it_wherever_it_is_drawn() -> None:
    shown = '<o:frame class="title"><o:text-box><text:list><text:list-header><text:p>Ropes</text:p>'
    title = f"{shown}</text:list-header></text:list></o:text-box></o:frame>"
    outline = '<o:frame class="outline"><o:text-box><text:p>dry</text:p></o:text-box></o:frame>'
    body = f"<o:page>{outline}{title}</o:page>"
    parsed = read(".odp", odt_file(body, kind="presentation", title=""))
    assert parsed.lines.text == "## Ropes\n\ndry"
    assert (parsed.title, parsed.blocks[-1].heading_path) == ("Ropes", ("Ropes",))


def test_a_style_made_from_that_of_titles_is_a_title_too() -> None:
    styles = '<o:style name="P1" parent-style-name="Title"/>'
    body = '<text:p style-name="P1">Ropes</text:p><text:h outline-level="1">One</text:h>'
    assert read(".odt", odt_file(body, styles=styles, title="")).title == "Ropes"


def test_what_heads_a_numbered_list_has_no_number() -> None:
    styles = '<o:list-style name="L"><o:list-level-style-number level="1" num-format="1"/></o:list-style>'
    items = "<text:list-header><text:p>wet</text:p></text:list-header>"
    items += "<text:list-item><text:p>dry</text:p></text:list-item>"
    parsed = read(".odt", odt_file(f'<text:list style-name="L">{items}</text:list>', styles=styles))
    assert parsed.lines.text == "- wet\n1. dry"


def test_cells_of_a_notebook_keep_code_text_and_what_was_printed() -> None:
    written = json.loads(notebook_file(("markdown", "# Ropes\n\ndry"), ("code", "dry()")))
    written["cells"][1]["outputs"] = [
        {"output_type": "stream", "text": ["done\n"]},
        {"output_type": "display_data", "data": {"image/png": "iVBOR", "text/plain": "<Figure>"}},
        {"output_type": "error", "ename": "ValueError", "evalue": "wet", "traceback": ["\x1b[31m"]},
    ]
    parsed = read(".ipynb", json.dumps(written))
    assert parsed.lines.text == (
        "# Ropes\n\ndry\n\n```python\ndry()\n```\n\n```\ndone\n```\n\n```\nValueError: wet\n```"
    )
    assert {block.place for block in parsed.blocks} == {Items("cell", 1, 1), Items("cell", 2, 2)}


def test_what_only_stands_for_a_picture_a_page_or_a_widget_is_no_output_of_a_notebook() -> None:
    written = json.loads(notebook_file(("code", "dry()")))
    bar = {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "Loading:   0%|   | 0/2"}
    written["cells"][0]["outputs"] = [
        {"output_type": "display_data", "data": {"text/html": "<b>a</b>", "text/plain": "<HTML object>"}},
        {"output_type": "pyout", "png": "iVBOR", "text": ["<Figure at 0x10>"]},
        {"output_type": "display_data", "data": bar},
        {"output_type": "display_data", "data": {"text/html": "<table>", "text/plain": "   a\n0  1"}},
        {"output_type": "execute_result", "data": {"text/plain": "<Rope of 3 m>"}},
    ]
    text = read(".ipynb", json.dumps(written)).lines.text
    assert text == "```python\ndry()\n```\n\n```\n   a\n0  1\n```\n\n```\n<Rope of 3 m>\n```"


def test_a_message_has_its_subject_people_and_words() -> None:
    parsed = read(".eml", mail_file("밧줄 안내"))
    assert parsed.title == "밧줄 안내"
    assert parsed.lines.text.startswith(
        "# 밧줄 안내\n\nFrom: Mina <mina@example.org>\nTo: all@example.org\nDate:"
    )
    assert parsed.metadata.created_at == "2024-05-01T10:00:00+09:00"


def test_what_is_attached_is_read_by_its_own_parser_and_the_rest_is_named() -> None:
    attached = (
        ("notes.docx", docx_file(docx_paragraph("attached words"))),
        ("virus.exe", b"MZ"),
        ("bad.pdf", b"x"),
    )
    parsed = read(".eml", mail_file(attached=attached))
    assert parsed.lines.text.endswith("## notes.docx\n\nattached words")
    assert parsed.warnings == (
        "attachment 'virus.exe' is not read: unsupported format .exe",
        "attachment 'bad.pdf' is not read: damaged, or no PDF",
    )


def test_a_message_of_html_alone_is_read_as_a_page() -> None:
    message = EmailMessage()
    message["Subject"] = "x"
    message.set_content("<p>one</p><script>no</script><p>two</p>", subtype="html")
    assert read(".eml", message.as_bytes()).lines.text == "# x\n\none\n\ntwo"


def test_messages_inside_messages_end_somewhere() -> None:
    inner = mail_file("0")
    for depth in range(1, 40):
        inner = _wrapped(str(depth), inner)
    parsed = read(".eml", inner)
    assert "# 39" in parsed.lines.text
    assert SAID not in parsed.lines.text


def _wrapped(subject: str, inner: bytes) -> bytes:
    edge = f"b{subject}"
    return (
        (
            f'Subject: {subject}\nContent-Type: multipart/mixed; boundary="{edge}"\n\n'
            f"--{edge}\nContent-Type: message/rfc822\n\n"
        ).encode()
        + inner
        + f"\n--{edge}--\n".encode()
    )


def test_each_message_of_a_mailbox_is_a_part() -> None:
    box = b"From a Mon\n" + mail_file("one") + b"\n\nFrom b Tue\n" + mail_file("two", body="From here on")
    parsed = read(".mbox", box)
    assert [block.heading for block in parsed.blocks if block.level] == ["one", "two"]
    assert {block.place.part for block in parsed.blocks if isinstance(block.place, Items)} == {1, 2}


def test_words_are_read_where_a_message_or_its_part_has_no_header() -> None:
    box = read(".mbox", b"From a Mon\n\ndry the rope\n\nFrom b Tue\n\ncoil it\n")
    assert [box.lines.slice(block.start, block.end) for block in box.blocks if not block.level] == [
        "dry the rope",
        "coil it",
    ]
    parts = b"--e\n\ndry the rope\n--e\nContent-Type: text/html\n\n<p>dry</p>\n--e--\n"
    mixed = b"Subject: x\nContent-Type: multipart/alternative; boundary=e\n\n" + parts
    assert read(".eml", mixed).lines.text == "# x\n\ndry the rope"


def test_a_message_that_is_attached_in_base64_is_read_all_the_same() -> None:
    head = b"Subject: x\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
    outer = b"Subject: out\nContent-Type: multipart/mixed; boundary=e\n\n--e\n" + head
    parsed = read(".eml", outer + b64encode(b"Subject: inner\n\ncoil it\n") + b"\n--e--\n")
    assert parsed.lines.text == "# out\n\n## inner\n\ncoil it"
    assert read(".eml", outer + b"A\n--e--\n").lines.text == "# out"
