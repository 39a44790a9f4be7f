"""Where in a document the anchor of a link stands: a heading, a block or lines."""

from __future__ import annotations

import re

from kebab.domain.documents import LineSpan
from kebab.domain.ids import DocId
from kebab.ports import DocumentStore

_LINES = re.compile(r"L(\d{1,9})(?:-L?(\d{1,9}))?")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.{1,1000})")
_COUNTED = re.compile(r"-\d+$")


def anchor_span(store: DocumentStore, doc_id: DocId, anchor: str) -> LineSpan | None:
    """The lines that an anchor names: ``Heading``, ``A#B``, ``a-slug``, ``^block``, ``L12-L34``; maybe none.

    A heading names the line that it stands in.
    """
    lines = (store.source_text(doc_id) or "").split("\n")
    if found := _LINES.fullmatch(anchor):
        first, last = int(found[1]), int(found[2] or found[1])
        return LineSpan(first, last) if 1 <= first <= last <= len(lines) else None
    name = anchor.rpartition("#")[2]
    if name.startswith("^"):
        return _block(lines, name)
    return _heading(store, doc_id, lines, name) or _heading(store, doc_id, lines, _COUNTED.sub("", name))


def _block(lines: list[str], name: str) -> LineSpan | None:
    for number, line in enumerate(lines, start=1):
        if line.rstrip().endswith(name) and (line.strip() == name or f" {name}" in line):
            return LineSpan(number, number)
    return None


def _heading(store: DocumentStore, doc_id: DocId, lines: list[str], name: str) -> LineSpan | None:
    wanted = _letters(name)
    if not wanted:
        return None
    for number, line in enumerate(lines, start=1):
        if (found := _HEADING.match(line)) and _letters(found[1]) == wanted:
            return LineSpan(number, number)
    # Underlined headings, and headings with markup, are known by their words.
    for stored in store.chunks_of(doc_id):
        if stored.chunk.spans and any(_letters(heading) == wanted for heading in stored.chunk.heading_path):
            return LineSpan(stored.chunk.spans[0].start, stored.chunk.spans[0].start)
    return None


def _letters(heading: str) -> str:
    """A heading without what slugs drop or change: signs, gaps and case."""
    return "".join(char for char in heading.casefold() if char.isalnum())
