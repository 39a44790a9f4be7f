"""Shapes of how notes are connected: their links, and the notes that are near."""

from __future__ import annotations

from kebab.domain import connections as domain
from kebab.wire.search import Citation, Degradation
from kebab.wire.shape import Shape, of


class NoteRef(Shape, frozen=True):
    """A document by name."""

    doc_id: str
    source_id: str
    doc_path: str
    title: str


class OutLink(Shape, frozen=True):
    """A link that stands in the note, at ``citation``.

    ``kind`` is wikilink, markdown or embed; ``status`` is resolved, broken or file, the last for a file that
    is no document.
    """

    kind: str
    target: str
    citation: Citation
    status: str
    note: NoteRef | None = None
    anchor: str = ""
    place: Citation | None = None
    """Where the anchor stands in the note that is linked to."""
    reason: str | None = None
    """Why it is broken; a link to a note that exists is broken too where its heading does not."""


class BackLink(Shape, frozen=True):
    """A link of another note to this one; ``text`` is the line that it stands in."""

    note: NoteRef
    kind: str
    target: str
    citation: Citation
    text: str
    anchor: str = ""


class Links(Shape, frozen=True, tag_field="schema_version", tag="links.v1"):
    """What a note links to and what links to it; ``broken`` are links of ``out`` once more."""

    note: NoteRef
    out: tuple[OutLink, ...]
    back: tuple[BackLink, ...]
    broken: tuple[OutLink, ...]
    degraded: tuple[Degradation, ...]


class RelatedReason(Shape, frozen=True):
    """``kind`` is meaning, links_to, linked_from, shared_links, linked_together or shared_tags."""

    kind: str
    text: str
    weight: float
    citations: tuple[Citation, ...] = ()
    """For meaning: the lines of the note, and those of the related one, that are nearest to each other."""


class RelatedNote(Shape, frozen=True):
    """``meaning`` is the cosine between the two whole documents; null where there are no vectors."""

    note: NoteRef
    score: float
    meaning: float | None
    reasons: tuple[RelatedReason, ...]


class Related(Shape, frozen=True, tag_field="schema_version", tag="related.v1"):
    """The notes that are near to a note, best first."""

    note: NoteRef
    related: tuple[RelatedNote, ...]
    embedding_model: str | None
    degraded: tuple[Degradation, ...]


def links(report: domain.LinkReport) -> Links:
    return Links(
        note=_note(report.note),
        out=tuple(map(_out, report.out)),
        back=tuple(of(link, BackLink, note=_note(link.note)) for link in report.back),
        broken=tuple(map(_out, report.broken)),
        degraded=tuple(of(note, Degradation) for note in report.degraded),
    )


def related(report: domain.RelatedReport) -> Related:
    return of(
        report,
        Related,
        note=_note(report.note),
        related=tuple(of(found, RelatedNote, note=_note(found.note)) for found in report.related),
    )


def _out(link: domain.OutLink) -> OutLink:
    return of(link, OutLink, note=_note(link.note) if link.note else None)


def _note(note: domain.NoteRef) -> NoteRef:
    return of(note, NoteRef, doc_path=note.path)
