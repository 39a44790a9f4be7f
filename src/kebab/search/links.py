"""The links of a note: out, back and broken."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from kebab.domain.citations import Citation, cite
from kebab.domain.connections import BackLink, LinkReport, LinkStatus, NoteRef, OutLink
from kebab.domain.documents import LineSpan
from kebab.domain.hits import Degradation
from kebab.domain.ids import DocId
from kebab.domain.links import Link, LinkKind, Names, NoteNames
from kebab.domain.queries import SearchFilters
from kebab.errors import DocNotFound
from kebab.ports import DocumentStore, LinkStore, SourceFiles, StoreState
from kebab.search.anchors import anchor_span
from kebab.search.read import SEE_ALL, Reader

LONGEST_LINE = 240
_FILE = re.compile(r"\.(?!md$|markdown$|mdx$|html?$)[A-Za-z][A-Za-z0-9]{0,4}$", re.IGNORECASE)

Allowed = frozenset[DocId] | None


@dataclass(slots=True)
class _Latest:
    """The names as of one state of the store and one filter: made anew when either differs."""

    held: tuple[tuple[StoreState, Allowed], Names] | None = None


@dataclass(frozen=True, slots=True)
class Linker:
    """Resolves links when they are read.

    Links are looked up by what they call their note, so that a note's backlinks cost what there is of them,
    whatever the size of the knowledge base. What all notes are called is read once for each state of the
    store.
    """

    store: DocumentStore
    links: LinkStore
    reader: Reader
    files: SourceFiles
    _latest: _Latest = field(default_factory=_Latest)

    def report(self, reference: str, *, filters: SearchFilters | None = None) -> LinkReport:
        """The links of the note that a reference names; notes that the filters leave out do not exist.

        A reference is an id, a beginning of one, a path, or what a wikilink to the note would say. Raises
        DocNotFound, and InvalidInput where it names several.
        """
        with self.store.at_one_moment():
            names = self.names(filters or SearchFilters())
            note = self.note(reference, names)
            links = self.links.links_from([note.doc_id])
            out = tuple(self._out(placed.link, note, names) for placed in links)
            return LinkReport(ref(note), out, tuple(self._back(note, names)), self.degraded())

    def names(self, filters: SearchFilters) -> Names:
        """What the documents that the filters let through are called."""
        at = (self.store.state(), self.store.matching(filters))
        held = self._latest.held
        if held is not None and held[0] == at:
            return held[1]
        allowed = at[1]
        names = Names(note for note in self.links.names() if allowed is None or note.doc_id in allowed)
        self._latest.held = (at, names)
        return names

    def note(self, reference: str, names: Names) -> NoteNames:
        """The note among these that a reference names."""
        try:
            found = self.reader.document(reference).doc_id
        except DocNotFound:
            nowhere = NoteNames(DocId(""), "", "", "")
            meant = names.meant(Link(LinkKind.WIKILINK, reference, 1), within=nowhere)
            if meant is None or meant is nowhere:
                raise
            return meant
        if found not in names.notes:
            raise DocNotFound(f"no document is called {reference!r}", hint=SEE_ALL)
        return names.notes[found]

    def targets(self, doc_ids: Iterable[DocId], names: Names) -> dict[DocId, set[DocId]]:
        """The documents that each of these links to, itself left out."""
        found: dict[DocId, set[DocId]] = {doc_id: set() for doc_id in doc_ids}
        for placed in self.links.links_from(list(found)):
            meant = names.meant(placed.link, within=names.notes[placed.doc_id])
            if meant is not None and meant.doc_id != placed.doc_id:
                found[placed.doc_id].add(meant.doc_id)
        return found

    def linking(self, note: NoteNames, names: Names) -> list[tuple[NoteNames, Link]]:
        """The links of other documents that mean the note, by the path of the document."""
        found = []
        for placed in self.links.links_called(sorted(note.keys)):
            within = names.notes.get(placed.doc_id)
            if within is not None and within.doc_id != note.doc_id:
                meant = names.meant(placed.link, within=within)
                if meant is not None and meant.doc_id == note.doc_id:
                    found.append((within, placed.link))
        return sorted(found, key=lambda pair: (pair[0].source_id, pair[0].path, pair[1].line))

    def degraded(self) -> tuple[Degradation, ...]:
        unread = self.links.unread()
        if not unread:
            return ()
        message = f"{unread} documents were stored before links were kept"
        return (Degradation("links", "not_read", message, "run `kebab ingest`"),)

    def _out(self, link: Link, note: NoteNames, names: Names) -> OutLink:
        meant = names.meant(link, within=note)
        citation = self._cite(note, LineSpan(link.line, link.line))
        if meant is None:
            is_file = _FILE.search(link.path) is not None
            status = LinkStatus.FILE if is_file else LinkStatus.BROKEN
            reason = None if is_file else f"no note is called {link.path!r}"
            return OutLink(link.kind, link.target, citation, status, anchor=link.anchor, reason=reason)
        span = anchor_span(self.store, meant.doc_id, link.anchor) if link.anchor else None
        missing = link.anchor and span is None
        return OutLink(
            link.kind,
            link.target,
            citation,
            LinkStatus.RESOLVED,
            note=ref(meant),
            anchor=link.anchor,
            place=self._cite(meant, span) if span else None,
            reason=f"{meant.path} has no heading or block {link.anchor!r}" if missing else None,
        )

    def _back(self, note: NoteNames, names: Names) -> Iterable[BackLink]:
        lines: list[str] = []
        read = None
        for within, link in self.linking(note, names):
            if read != within.doc_id:
                read, lines = within.doc_id, (self.store.source_text(within.doc_id) or "").split("\n")
            text = lines[link.line - 1].strip() if link.line <= len(lines) else ""
            citation = self._cite(within, LineSpan(link.line, link.line))
            short = text[:LONGEST_LINE]
            yield BackLink(ref(within), link.kind, link.target, citation, short, link.anchor)

    def _cite(self, note: NoteNames, span: LineSpan) -> Citation:
        return cite(note.path, (span,), state=self.files.state(note.source_id, note.path))


def ref(note: NoteNames) -> NoteRef:
    return NoteRef(note.doc_id, note.source_id, note.path, note.title)
