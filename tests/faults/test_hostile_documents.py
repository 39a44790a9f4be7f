"""Documents made to hurt: each ends in an outcome that is told, within limits, and the notes are indexed."""

from __future__ import annotations

import socket
import tarfile
import time
from pathlib import Path
from threading import Thread

import pytest

from kebab.domain.ingests import RunStatus
from tests.document_files import (
    SAID,
    docx_file,
    docx_paragraph,
    epub_file,
    jex_file,
    joplin_record,
    mail_file,
    odt_file,
    pdf_file,
    pdf_page,
    xlsx_file,
    zipped,
)
from tests.faults.conftest import make_base

pytestmark = pytest.mark.slow

LAUGHS = "<!DOCTYPE x [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10)
)


def laughing(tag: str) -> str:
    return f"{LAUGHS}]><{tag}>&a9;</{tag}>"


def tar_header(name: str, *, size: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size = size
    return member.tobuf(format=tarfile.GNU_FORMAT)


def hostile_files(address: str) -> dict[str, bytes | str]:
    page = pdf_file([pdf_page(SAID)])
    outside = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{address}/e">]>'
    return {
        "laughs.docx": zipped({"word/document.xml": laughing("document")}),
        "laughs.odt": zipped({"content.xml": laughing("document-content")}),
        "laughs.opml": laughing("opml"),
        "laughs.enex": laughing("en-export"),
        "laughs.xlsx": zipped({"xl/workbook.xml": laughing("workbook")}),
        "laughs.html": laughing("p"),
        "outside.docx": zipped({"word/document.xml": f"{outside}<document>&e;</document>"}),
        "outside.opml": f'<!DOCTYPE opml SYSTEM "{address}/dtd"><opml><body><outline text="x"/></body>'
        "</opml>",
        "outside.html": f'<img src="{address}/i"><iframe src="{address}/f"></iframe>'
        f'<link rel=stylesheet href="{address}/c"><script src="{address}/s"></script><p>{SAID}</p>',
        "outside.eml": mail_file(body=f"{address}/mail"),
        "outside.epub": epub_file([f'<img src="{address}/i"/><p>{SAID}</p>']),
        "bomb.docx": zipped({"word/document.xml": b" " * (300 << 20)}),
        "bomb.epub": zipped({"META-INF/container.xml": b" " * (300 << 20)}),
        "bomb.xlsx": zipped({"xl/workbook.xml": "<w/>", "xl/worksheets/sheet1.xml": b" " * (300 << 20)}),
        "bomb.textpack": zipped({"a/text.md": b" " * (300 << 20)}),
        "deep.bearnote": zipped({"a/text.md": SAID, "a/info.json": "[" * 200_000}),
        "outside.textpack": zipped({"../../../text.md": f"![x]({address}/i) {SAID}", "/etc/text.md": SAID}),
        "huge.jex": tar_header("a.md", size=1 << 40) + b"\0" * 1024,
        "backwards.jex": tar_header("a.md", size=-512) * 3,
        "outside.jex": jex_file(joplin_record("x", f"![x]({address}/i) {SAID}", name="a")).replace(
            b"0" * 32 + b".md", b"../../../../../../../../tmp/a.md".ljust(35, b"x")[:35]
        ),
        "links.jex": jex_file(*(joplin_record("x", "[x](:/" * 5000, name="a") for _ in range(99))),
        "wide.xlsx": xlsx_file(
            {"One": [["a"]]}, more='<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
        ),
        "deep.html": "<div>" * 10_000 + SAID,
        "deep.odt": odt_file("<text:list>" * 10_000 + "</text:list>" * 10_000),
        "deep.ipynb": "[" * 200_000,
        "deep.canvas": '{"nodes":' * 50_000,
        "deep.jsonl": '{"content":' * 50_000 + "1" + "}" * 50_000,
        "loop.pdf": page.replace(b"/Kids[10 0 R]", b"/Kids[2 0 R ]"),
        "loop2.pdf": page.replace(b"/Parent 2 0 R", b"/Parent 10 0 R"),
        "many.pdf": page.replace(b"/Count 1", b"/Count 99999999"),
        "large.pdf": page.replace(b"/MediaBox[0 0 600 800]", b"/MediaBox[0 0 9e9 9e9]"),
        "cut.pdf": page[: len(page) // 2],
        "macro.docm": docx_file(
            docx_paragraph(SAID), parts={"word/vbaProject.bin": b"\xd0\xcf\x11\xe0" * 99}
        ),
        "many.eml": b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 50_000 + b"--b--\n",
        "many.mbox": b"From a b\nSubject: x\n\nwords\n\n" * 20_000,
        "quotes.csv": '"' * 2_000_000,
        "commas.csv": "," * 2_000_000,
        "stars.org": "* " * 500_000,
        "rulers.rst": "==\n" * 200_000,
    }


def test_hostile_documents_are_bounded_and_the_notes_beside_them_are_indexed(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=3)
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=_listen, args=(server, asked), daemon=True).start()
        for name, content in hostile_files(f"http://127.0.0.1:{server.getsockname()[1]}").items():
            base.write(name, content)
        (base.root / "passwd.html").symlink_to("/etc/passwd")
        (base.root / "loop.docx").symlink_to("loop.docx")
        begun = time.monotonic()
        with base.open(
            models__embedding__provider="none", ingest__file_timeout_s=30, ingest__worker_memory_mb=1024
        ) as kb:
            report = kb.ingest()
            taken = time.monotonic() - begun
            paths = {doc.path for doc in kb.list_docs()}
            assert kb.doctor().healthy
    assert report.run.status is RunStatus.COMPLETED
    assert {"n0.md", "n1.md", "n2.md", "macro.docm", "deep.html", "outside.html"} <= paths
    assert not paths & {"laughs.docx", "laughs.odt", "laughs.opml", "bomb.docx", "bomb.epub", "bomb.xlsx"}
    assert not paths & {"bomb.textpack", "huge.jex", "backwards.jex"}
    assert {"deep.bearnote", "links.jex"} <= paths
    assert "passwd.html" not in paths
    assert asked == []
    assert taken < 200
    told = {item.path for item in report.items}
    assert {file.name for file in base.root.iterdir()} <= told


def _listen(server: socket.socket, asked: list[bytes]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        asked.append(connection.recv(1000))
        connection.close()
