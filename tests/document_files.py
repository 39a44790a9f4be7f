"""Small files of each format, made here: two units that say the same, and damaged ones."""

from __future__ import annotations

import json
import tarfile
from email.message import EmailMessage
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from kebab.domain.citations import CitationKind

SAID = "The rope is dry and the ship is ready to sail at noon today."
KOREAN = "밧줄은 그늘에서 말린다. 젖은 밧줄은 매듭이 풀리지 않는다."

PART = frozenset({CitationKind.PART})
LINE = frozenset({CitationKind.LINE})

Made = tuple[str, str | bytes, frozenset[CitationKind], tuple[bytes, ...]]
"""Extension, a file, the kinds of its citations, damaged files that must be reported."""


def html_page() -> str:
    return (
        "<!doctype html><html lang=ko><head><title>Ropes</title><script>alert('no')</script></head><body>"
        f"<nav><a href=/>Home</a></nav><main><h1>Ropes</h1><p>{SAID}<p>{KOREAN}</p><h2>Again</h2><p>{SAID}"
        "<ul><li>one<ul><li>inner</ul><li>two</ul><pre>a  = 1\nb = 2</pre>"
        "<table><tr><th>knot<th>use<tr><td>bowline<td>loop</table></main><footer>legal</footer></body></html>"
    )


def mhtml_page() -> bytes:
    return (
        "From: <Saved by a browser>\r\nSubject: Ropes\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/related; type="text/html"; boundary="--b"\r\n\r\n'
        "----b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
        f"{html_page()}\r\n----b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        "iVBORw0KGgo=\r\n----b--\r\n"
    ).encode()


Drawn = tuple[float, float, float, str]
"""Left, bottom and size of a line, and its words."""


def pdf_file(
    pages: list[list[Drawn]], *, outline: str = "", locked: bool = False, tail: str = "", filled: str = ""
) -> bytes:
    """A PDF with a text layer; letters are drawn by an unembedded font that only says what they mean.

    With ``filled`` its pages have a form field of that value, a hidden one, and a note beside the text.
    """
    signs = sorted({sign for page in pages for line in page for sign in line[3]})
    codes = {sign: code for code, sign in enumerate(signs, 1)}
    cmap = "begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange\n" + "".join(
        f"1 beginbfchar <{code:04x}> <{sign.encode('utf-16-be').hex()}> endbfchar\n"
        for sign, code in codes.items()
    )
    kids = " ".join(f"{10 + 2 * at} 0 R" for at in range(len(pages)))
    objects = {
        1: f"<</Type/Catalog/Pages 2 0 R{outline}>>",
        2: f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>",
        3: "<</Type/Font/Subtype/Type0/BaseFont/Rope/Encoding/Identity-H/DescendantFonts[4 0 R]"
        "/ToUnicode 5 0 R>>",
        4: "<</Type/Font/Subtype/CIDFontType2/BaseFont/Rope/CIDSystemInfo<</Registry(Adobe)"
        "/Ordering(Identity)/Supplement 0>>/DW 500/FontDescriptor 6 0 R>>",
        5: _stream(cmap + "endcmap"),
        6: "<</Type/FontDescriptor/FontName/Rope/Flags 4/Ascent 800/Descent -200/CapHeight 700/ItalicAngle 0"
        "/StemV 80/FontBBox[0 -200 1000 800]>>",
    }
    noted = ""
    if filled:
        objects[1] = f"<</Type/Catalog/Pages 2 0 R{outline}/AcroForm<</Fields[7 0 R 8 0 R]>>>>"
        noted = "/Annots[7 0 R 8 0 R 9 0 R]"
        field = "<</Type/Annot/Subtype/Widget/FT/Tx/Rect[60 600 200 615]"
        objects[7] = f"{field}/T(one)/F 4/V({filled})>>"
        objects[8] = f"{field}/T(two)/F 2/V(unseen)>>"
        objects[9] = f"<</Type/Annot/Subtype/Text/Rect[60 500 80 520]/Contents(a note on {filled})>>"
    for at, page in enumerate(pages):
        drawn = "".join(
            f"BT /F {size} Tf {left} {bottom} Td <{''.join(f'{codes[sign]:04x}' for sign in words)}> Tj ET\n"
            for left, bottom, size, words in page
        )
        objects[10 + 2 * at] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>"
            f"/Contents {11 + 2 * at} 0 R{noted}>>"
        )
        objects[11 + 2 * at] = _stream(drawn)
    body, places = "%PDF-1.7\n", {}
    for number, written in sorted(objects.items()):
        places[number] = len(body)
        body += f"{number} 0 obj\n{written}\nendobj\n"
    key = "0" * 64
    lock = f"/Encrypt<</Filter/Standard/V 1/R 2/O<{key}>/U<{key}>/P -4>>/ID[<00><00>]" if locked else ""
    rows = "".join(f"{n} 1\n{at:010} 00000 n \n" for n, at in places.items())
    trailer = f"trailer<</Size 999/Root 1 0 R{lock}>>\nstartxref\n{len(body)}\n%%EOF"
    return (body + "xref\n0 1\n0000000000 65535 f \n" + rows + trailer + tail).encode("latin-1")


def _stream(text: str) -> str:
    return f"<</Length {len(text)}>>stream\n{text}\nendstream"


def pdf_page(*paragraphs: str, size: float = 10, top: float = 700) -> list[Drawn]:
    return [(50, top - 40 * at, size, text) for at, text in enumerate(paragraphs)]


_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(files: dict[str, str | bytes]) -> bytes:
    """An archive; the same files give the same bytes."""
    held = BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    return held.getvalue()


def _links(**targets: str) -> str:
    return (
        "<Relationships>"
        + "".join(
            f'<Relationship Id="{key}" Type="{_RELATIONS}/{target.partition(" ")[0]}" '
            f'Target="{target.partition(" ")[2]}"/>'
            for key, target in targets.items()
        )
        + "</Relationships>"
    )


def docx_file(body: str, *, styles: str = "", parts: dict[str, str | bytes] | None = None) -> bytes:
    return zipped(
        {
            "_rels/.rels": _links(r1="officeDocument word/document.xml"),
            "word/document.xml": f'<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>',
            "word/_rels/document.xml.rels": _links(
                s="styles styles.xml", f="footnotes footnotes.xml", n="numbering numbering.xml"
            ),
            "word/styles.xml": f'<w:styles xmlns:w="w">{styles or HEADING_STYLES}</w:styles>',
            **(parts or {}),
        }
    )


HEADING_STYLES = "".join(
    f'<w:style w:styleId="H{n}"><w:name w:val="heading {n}"/></w:style>' for n in range(1, 5)
)


def docx_paragraph(text: str, *, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx_heading(level: int, text: str) -> str:
    return docx_paragraph(text, properties=f'<w:pStyle w:val="H{level}"/>')


def pptx_file(slides: list[str], *, notes: str = "") -> bytes:
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="s{n}"/>' for n in range(1, len(slides) + 1))
    names = {f"s{n}": f"slide slides/slide{n}.xml" for n in range(1, len(slides) + 1)}
    beside = {
        "ppt/slides/_rels/slide1.xml.rels": _links(n="notesSlide ../notes.xml"),
        "ppt/notes.xml": f'<p:notes xmlns:p="p" xmlns:a="a">{pptx_shape(notes, kind="body")}</p:notes>',
    }
    return zipped(
        {
            "_rels/.rels": _links(r1="officeDocument ppt/presentation.xml"),
            "ppt/presentation.xml": f'<p:presentation xmlns:p="p" xmlns:r="{_RELATIONS}">{listed}'
            "</p:presentation>",
            "ppt/_rels/presentation.xml.rels": _links(**names),
            **{
                f"ppt/slides/slide{n}.xml": f'<p:sld xmlns:p="p" xmlns:a="a">{slide}</p:sld>'
                for n, slide in enumerate(slides, 1)
            },
            **(beside if notes else {}),
        }
    )


def pptx_shape(text: str, *, kind: str = "") -> str:
    placeholder = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>' if kind else ""
    return f"<p:sp>{placeholder}<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"


def xlsx_file(sheets: dict[str, list[list[str | int | float]]], *, more: str = "") -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="s{n}"/>' for n, name in enumerate(sheets, 1))
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    names = {f"s{n}": f"worksheet worksheets/sheet{n}.xml" for n in range(1, len(sheets) + 1)}
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": _links(r1="officeDocument xl/workbook.xml").replace(
                "<Relationships>", f'<Relationships xmlns="{package}">'
            ),
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{_RELATIONS}"><sheets>{listed}</sheets>'
            "</workbook>",
            "xl/_rels/workbook.xml.rels": _links(**names).replace(
                "<Relationships>", f'<Relationships xmlns="{package}">'
            ),
            **{
                f"xl/worksheets/sheet{n}.xml": f'<worksheet xmlns="{main}">'
                f"<sheetData>{_rows(rows)}{more}</sheetData></worksheet>"
                for n, rows in enumerate(sheets.values(), 1)
            },
        }
    )


def _rows(rows: list[list[str | int | float]]) -> str:
    def cell(row: int, column: int, value: str | int | float) -> str:
        name = f"{chr(ord('A') + column)}{row}"
        if isinstance(value, str):
            return f'<c r="{name}" t="inlineStr"><is><t>{value}</t></is></c>' if value else ""
        return f'<c r="{name}"><v>{value}</v></c>'

    return "".join(
        f'<row r="{n}">' + "".join(cell(n, at, value) for at, value in enumerate(row)) + "</row>"
        for n, row in enumerate(rows, 1)
    )


KNOTS: list[list[str | int | float]] = [["knot", "use", "strength"]]
KNOTS += [[f"bowline {n}", SAID, n] for n in range(4)]
LOCKED_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def epub_file(chapters: list[str], *, made: str = "2020-01-02") -> bytes:
    items = "".join(
        f'<item id="c{n}" href="c%20{n}.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(len(chapters))
    )
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    about = f"<metadata><title>Ropes</title><creator>Mina</creator><date>{made}</date></metadata>"
    return zipped(
        {
            "META-INF/container.xml": '<c><rootfiles><rootfile full-path="o/b.opf"/></rootfiles></c>',
            "o/b.opf": f"<package>{about}<manifest>{items}</manifest><spine>{order}</spine></package>",
            **{f"o/c {n}.xhtml": f"<html><body>{body}</body></html>" for n, body in enumerate(chapters)},
        }
    )


def odt_file(body: str, *, kind: str = "text", styles: str = "", title: str = "Ropes") -> bytes:
    made = "<creation-date>2020-01-02</creation-date>"
    return zipped(
        {
            "content.xml": f'<o:c xmlns:o="o" xmlns:text="t" xmlns:table="b">{styles}<o:body><o:{kind}>{body}'
            f"</o:{kind}></o:body></o:c>",
            "meta.xml": f"<m><meta><title>{title}</title>{made}</meta></m>",
        }
    )


def hwpx_parts(body: str, *, header: str = "", package: str = "") -> bytes:
    """HWPX with this body in its one section, these definitions, and what it says of itself."""
    spaces = 'xmlns:hp="http://www.hancom.co.kr/hwpml/2011/paragraph" xmlns:hh="http://www.hancom.co.kr/hwpml/2011/head"'
    files: dict[str, str | bytes] = {
        "Contents/section0.xml": f'<hs:sec xmlns:hs="s" {spaces}>{body}</hs:sec>'
    }
    if header:
        files["Contents/header.xml"] = f"<hh:head {spaces}>{header}</hh:head>"
    if package:
        files["Contents/content.hpf"] = package
    return zipped(files)


def hwpx_file(*texts: str) -> bytes:
    space = 'xmlns:hp="http://www.hancom.co.kr/hwpml/2011/paragraph"'
    section = 'xmlns:hs="http://www.hancom.co.kr/hwpml/2011/section"'
    lines = "".join(
        f'<hp:p id="{n}" paraPrIDRef="0" styleIDRef="0"><hp:run charPrIDRef="0"><hp:t>{text}</hp:t></hp:run>'
        "</hp:p>"
        for n, text in enumerate(texts)
    )
    return zipped(
        {
            "mimetype": "application/hwp+zip",
            "version.xml": '<v xmlns="http://www.hancom.co.kr/hwpml/2011/version" major="5"/>',
            "META-INF/container.xml": '<c><rootfiles><rootfile full-path="Contents/content.hpf"/></rootfiles>'
            "</c>",
            "Contents/content.hpf": '<p><manifest><item id="s0" href="Contents/section0.xml"/></manifest>'
            '<spine><itemref idref="s0"/></spine></p>',
            "Contents/header.xml": '<hh:head xmlns:hh="http://www.hancom.co.kr/hwpml/2011/head"/>',
            "Contents/section0.xml": f"<hs:sec {section} {space}>{lines}</hs:sec>",
        }
    )


def notebook_file(*cells: tuple[str, str]) -> str:
    written = [
        {"cell_type": kind, "source": [source], **({"outputs": []} if kind == "code" else {})}
        for kind, source in cells
    ]
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": written}, ensure_ascii=False)


def mail_file(
    subject: str = "Ropes", *, body: str = SAID, attached: tuple[tuple[str, bytes], ...] = ()
) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "Mina <mina@example.org>", "all@example.org"
    message["Date"] = "Wed, 01 May 2024 10:00:00 +0900"
    message.set_content(f"{body}\n\n{KOREAN}\n\n{SAID}")
    for name, content in attached:
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    if attached:
        message.set_boundary("=rope=")
    return message.as_bytes()


def joplin_record(
    title: str, body: str, *, name: str, kind: int = 1, parent: str = "", more: str = ""
) -> str:
    """A record as Joplin writes it; ``name`` is one letter, of which its id is made."""
    tail = f"id: {name * 32}\nparent_id: {parent * 32}\ncreated_time: 2024-05-01T01:02:03.000Z\n"
    return f"{title}\n\n{body}\n\n{tail}{more}type_: {kind}"


def jex_file(*records: str) -> bytes:
    held = BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for number, record in enumerate(records):
            content = record.encode()
            member = tarfile.TarInfo(f"{number:032x}.md")
            member.size = len(content)
            archive.addfile(member, BytesIO(content))
    return held.getvalue()


def bear_note(text: str, *, folder: str = "Ropes.textbundle", **about: object) -> dict[str, str | bytes]:
    return {
        f"{folder}/text.md": text,
        f"{folder}/info.json": json.dumps({"version": 2, "net.shinyfrog.bear": about}),
    }


DOCUMENTS: list[Made] = [
    (".html", html_page(), PART, (b"\0\0bad", b"<html><body><script>x</script></body></html>")),
    (
        ".pdf",
        pdf_file([pdf_page(SAID, KOREAN), pdf_page(SAID, "last words")]),
        frozenset({CitationKind.PAGE}),
        (b"%PDF-1.7 and no more", pdf_file([pdf_page(SAID)], locked=True), pdf_file([[]])),
    ),
    (
        ".docx",
        docx_file(
            docx_heading(1, "Ropes") + docx_paragraph(SAID) + docx_heading(2, "밧줄") + docx_paragraph(SAID)
        ),
        PART,
        (b"PK and no more", LOCKED_OFFICE, docx_file("<w:p/>"), zipped({"other.txt": "x"})),
    ),
    (
        ".pptx",
        pptx_file([pptx_shape("Ropes", kind="title") + pptx_shape(SAID), pptx_shape(SAID)], notes=KOREAN),
        frozenset({CitationKind.PAGE}),
        (b"PK and no more", LOCKED_OFFICE, pptx_file([])),
    ),
    (
        ".xlsx",
        xlsx_file({"Knots": KNOTS, "밧줄": KNOTS}),
        frozenset({CitationKind.REGION}),
        (b"PK and no more", LOCKED_OFFICE, xlsx_file({"Empty": []})),
    ),
    (
        ".csv",
        "knot,use,strength\n" + "".join(f'bowline {n},"{SAID * 9}",{n}\n' for n in range(4)),
        frozenset({CitationKind.REGION}),
        (b"bad\0", b",,,\n,,\n"),
    ),
    (
        ".tsv",
        f"knot\tuse\nbowline\t{SAID * 30}\nreef\t{SAID * 30}\n",
        frozenset({CitationKind.REGION}),
        (b"\t\n",),
    ),
    (
        ".epub",
        epub_file([f"<h1>One</h1><p>{SAID}</p>", f"<h1>둘</h1><p>{SAID}</p>"]),
        PART,
        (b"PK and no more", epub_file([]), zipped({"META-INF/rights.xml": "<r/>"})),
    ),
    (
        ".odt",
        odt_file(
            f'<text:h text:outline-level="1">Ropes</text:h><text:p>{SAID}</text:p><text:h>둘</text:h>'
            f"<text:p>{SAID}</text:p>"
        ),
        PART,
        (b"PK and no more", odt_file(""), zipped({"META-INF/manifest.xml": "<m><encryption-data/></m>"})),
    ),
    (".hwpx", hwpx_file(SAID, KOREAN, SAID), PART, (b"PK and no more", LOCKED_OFFICE, hwpx_file())),
    (".hwp", hwpx_file(SAID, KOREAN, SAID), PART, (b"HWP Document File", LOCKED_OFFICE)),
    (
        ".ipynb",
        notebook_file(
            ("markdown", f"# Ropes\n\n{SAID}"), ("code", "dry(rope)"), ("markdown", f"# 둘\n\n{SAID}")
        ),
        PART,
        (b"{", b"[]", b"{}", b"[" * 100_000),
    ),
    (".eml", mail_file(), PART, (b"\n\nno header", b"")),
    (
        ".mbox",
        b"From a@example.org Mon\n" + mail_file() + b"\n\nFrom b@example.org Tue\n" + mail_file("둘"),
        PART,
        (b"no mailbox",),
    ),
    (".org", f"#+TITLE: Ropes\n* One\n{SAID}\n\n* TODO 둘 :knot:\n{SAID}\n", LINE, (b"bad\0",)),
    (".rst", f"Ropes\n=====\n\n{SAID}\n\n둘\n--\n\n{SAID}\n", LINE, (b"bad\0",)),
    (".adoc", f"= Ropes\n\n{SAID}\n\n== 둘\n\n----\n== no heading\n----\n{SAID}\n", LINE, (b"bad\0",)),
    (".tex", f"\\title{{Ropes}}\n\\section{{One}}\n{SAID}\n\n\\section{{둘}}\n{SAID}\n", LINE, (b"bad\0",)),
    (
        ".canvas",
        json.dumps(
            {"nodes": [{"id": str(n), "type": "text", "text": f"# {n}\n\n{SAID}", "y": n} for n in range(3)]}
        ),
        PART,
        (b"{", b"[]", b'{"nodes": 3}', b"[" * 100_000),
    ),
    (
        ".opml",
        (
            f"<opml><head><title>Ropes</title></head><body>"
            f'<outline text="One"><outline text="{SAID}"/></outline>'
            f'<outline text="둘"><outline text="{SAID}" _note="x"/></outline></body></opml>'
        ),
        PART,
        (b"<opml>", b'<!DOCTYPE x [<!ENTITY a "b">]><opml/>', b"<opml/>"),
    ),
    (
        ".jsonl",
        "".join(json.dumps({"role": "user", "content": f"{SAID} {n}"}) + "\n" for n in range(3)),
        PART,
        (b"no json", b"{}\n[]\n"),
    ),
    (
        ".enex",
        "<!DOCTYPE en-export SYSTEM 'http://example.org/x.dtd'><en-export>"
        + f"<note><title>Rope</title><content><![CDATA[<en-note><p>{SAID}</p></en-note>]]></content></note>"
        * 2
        + "</en-export>",
        PART,
        (b"<en-export>", b"<en-export/>"),
    ),
    (
        ".textpack",
        zipped(bear_note(f"# Ropes\n\n{SAID}\n\n## 둘\n\n{SAID}\n")),
        PART,
        (b"PK and no more", zipped({"other.txt": "x"}), zipped({"a/text.md": b"\0\0"})),
    ),
    (
        ".bear2bk",
        zipped({**bear_note(f"# Ropes\n\n{SAID}", folder="a"), **bear_note(SAID, folder="b")}),
        PART,
        (b"PK and no more", zipped({"text.md": ""})),
    ),
    (
        ".jex",
        jex_file(
            joplin_record("Ropes", SAID, name="a", parent="c"),
            joplin_record("둘", SAID, name="b", parent="c"),
            joplin_record("Harbour", "", name="c", kind=2),
        ),
        PART,
        (b"no tar", jex_file(), jex_file("no record"), jex_file(joplin_record("One", "x", name="a"))[:700]),
    ),
    (
        ".png",
        f"image: {SAID}\n{KOREAN}\n{SAID}",
        frozenset({CitationKind.REGION, CitationKind.CAPTION}),
        (b"no image",),
    ),
    (".wav", f"sound: {SAID}\n{KOREAN}\n{SAID}", frozenset({CitationKind.TIME}), (b"no sound", b"sound: ")),
    (".mhtml", mhtml_page(), PART, (b"Subject: nothing\n\nwords\n",)),
]
