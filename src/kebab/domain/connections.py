"""How notes are connected: the links of one note, and the notes that are near to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kebab.domain.citations import Citation
from kebab.domain.hits import Degradation
from kebab.domain.ids import DocId
from kebab.domain.links import LinkKind


class LinkStatus(StrEnum):
    RESOLVED = "resolved"
    BROKEN = "broken"
    FILE = "file"
    """Names a file that is no document, such as a picture; whether it exists is not known."""


@dataclass(frozen=True, slots=True)
class NoteRef:
    """A document by name."""

    doc_id: DocId
    source_id: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class OutLink:
    """A link that stands in the note."""

    kind: LinkKind
    target: str
    """As written, its anchor included."""
    citation: Citation
    """The line of the note that it stands in."""
    status: LinkStatus
    note: NoteRef | None = None
    """The document that it means; None unless there is one."""
    anchor: str = ""
    place: Citation | None = None
    """Where the anchor stands in that document; None without one, and where it is not found."""
    reason: str | None = None
    """Why it is broken, in words."""


@dataclass(frozen=True, slots=True)
class BackLink:
    """A link of another document that means the note."""

    note: NoteRef
    kind: LinkKind
    target: str
    citation: Citation
    text: str
    """The line that it stands in, cut where it is long."""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class LinkReport:
    """What a note links to, in its order, and what links to it, by path."""

    note: NoteRef
    out: tuple[OutLink, ...]
    back: tuple[BackLink, ...]
    degraded: tuple[Degradation, ...] = ()

    @property
    def broken(self) -> tuple[OutLink, ...]:
        """The links that mean no document, and those whose heading or block is not there."""
        return tuple(link for link in self.out if link.reason is not None)


class ReasonKind(StrEnum):
    MEANING = "meaning"
    LINKS_TO = "links_to"
    LINKED_FROM = "linked_from"
    SHARED_LINKS = "shared_links"
    LINKED_TOGETHER = "linked_together"
    SHARED_TAGS = "shared_tags"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a note is related, in words, and what it adds to the score."""

    kind: ReasonKind
    text: str
    weight: float
    citations: tuple[Citation, ...] = ()
    """For meaning: the lines of the note and those of the related one that are nearest to each other."""


@dataclass(frozen=True, slots=True)
class RelatedNote:
    note: NoteRef
    score: float
    """From 0 to 1: 1 less the product of what each reason leaves to be wished for."""
    meaning: float | None
    """Cosine between the two whole documents; None where there are no vectors."""
    reasons: tuple[Reason, ...]
    """The strongest first, never empty."""


@dataclass(frozen=True, slots=True)
class RelatedReport:
    """The notes that are near, best first."""

    note: NoteRef
    related: tuple[RelatedNote, ...]
    embedding_model: str | None = None
    degraded: tuple[Degradation, ...] = ()
