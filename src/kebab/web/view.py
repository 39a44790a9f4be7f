"""A stored document, rendered for reading: safe HTML whose blocks know their lines."""

from __future__ import annotations

from html import escape

from kebab import wire
from kebab.app import Kebab
from kebab.domain.documents import Media
from kebab.wire.views import DocView, Heading

MOST_LINES = 20_000
"""More of a document is not shown; a browser would not scroll it well."""
MOST_CHARS = 2_000_000
AS_TYPED = frozenset({Media.TEXT, Media.CODE, Media.SHEET, Media.SUBTITLES, Media.MARKUP, Media.NOTEBOOK})
"""Kinds of files whose columns mean something; the text of others is set like a book's."""


def document_view(kebab: Kebab, reference: str) -> DocView:
    """Raises DocNotFound, and InvalidInput for a reference that names several documents."""
    inspection = kebab.inspect_doc(reference)
    doc = inspection.document
    text = kebab.fetch_doc(doc.doc_id).text
    shown = _beginning(text)
    html, outline = _rendered(shown, media=doc.media, path=doc.path)
    return DocView(
        inspection=wire.doc_inspection(inspection),
        html=html,
        outline=outline,
        lines=text.count("\n") + 1,
        truncated=len(shown) < len(text),
    )


def _beginning(text: str) -> str:
    lines = text[:MOST_CHARS].split("\n", MOST_LINES)
    return text[:MOST_CHARS] if len(lines) <= MOST_LINES else "\n".join(lines[:MOST_LINES])


def _rendered(text: str, *, media: str, path: str) -> tuple[str, tuple[Heading, ...]]:
    if media != Media.MARKDOWN:
        return plain(text, words=media not in AS_TYPED), ()
    from kebab.web.markdown import render

    page = render(text, path=path)
    return page.html, page.outline


def plain(text: str, *, words: bool = False) -> str:
    """A text as it is, each line a block of its own that can be marked; ``words`` are set for reading."""
    lines = enumerate(text.split("\n"), start=1)
    rows = (f'<span class="line" data-lines="{n}-{n}">{escape(line)}\n</span>' for n, line in lines)
    kind = "plain words" if words else "plain"
    return f'<pre class="{kind}" tabindex="0">{"".join(rows)}</pre>'
