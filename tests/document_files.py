"""Small files of each format, made here: two units that say the same, and damaged ones."""

from __future__ import annotations

from kebab.domain.citations import CitationKind

SAID = "The rope is dry and the ship is ready to sail at noon today."
KOREAN = "밧줄은 그늘에서 말린다. 젖은 밧줄은 매듭이 풀리지 않는다."

PART = frozenset({CitationKind.PART})

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


def pdf_file(pages: list[list[Drawn]], *, outline: str = "", locked: bool = False, tail: str = "") -> bytes:
    """A PDF with a text layer; letters are drawn by an unembedded font that only says what they mean."""
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
    for at, page in enumerate(pages):
        drawn = "".join(
            f"BT /F {size} Tf {left} {bottom} Td <{''.join(f'{codes[sign]:04x}' for sign in words)}> Tj ET\n"
            for left, bottom, size, words in page
        )
        objects[10 + 2 * at] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>"
            f"/Contents {11 + 2 * at} 0 R>>"
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


DOCUMENTS: list[Made] = [
    (".html", html_page(), PART, (b"\0\0bad", b"<html><body><script>x</script></body></html>")),
    (
        ".pdf",
        pdf_file([pdf_page(SAID, KOREAN), pdf_page(SAID, "last words")]),
        frozenset({CitationKind.PAGE}),
        (b"%PDF-1.7 and no more", pdf_file([pdf_page(SAID)], locked=True), pdf_file([[]])),
    ),
    (".mhtml", mhtml_page(), PART, (b"Subject: nothing\n\nwords\n",)),
]
