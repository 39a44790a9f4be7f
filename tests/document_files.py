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


DOCUMENTS: list[Made] = [
    (".html", html_page(), PART, (b"\0\0bad", b"<html><body><script>x</script></body></html>")),
    (".mhtml", mhtml_page(), PART, (b"Subject: nothing\n\nwords\n",)),
]
