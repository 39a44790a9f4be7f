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
        return plain(text), ()
    from kebab.web.markdown import render

    page = render(text, path=path)
    return page.html, page.outline


def plain(text: str) -> str:
    """A text as it is, each line a block of its own so that lines can be marked."""
    lines = enumerate(text.split("\n"), start=1)
    rows = (f'<span class="line" data-lines="{n}-{n}">{escape(line)}\n</span>' for n, line in lines)
    return f'<pre class="plain" tabindex="0">{"".join(rows)}</pre>'
