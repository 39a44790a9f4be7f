"""Citations: where a text stands, as a value and as a URI that people can click and agents can resolve."""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import quote, unquote

from kebab.domain.controls import FORBIDDEN
from kebab.domain.documents import LineSpan
from kebab.domain.places import (
    Caption,
    Cells,
    CodeUnit,
    Items,
    Page,
    Place,
    Region,
    Slide,
    Time,
    fragment,
    parse_place,
)
from kebab.domain.values import dataclass

_ENDING = re.compile(rf"[#%?\s]|{FORBIDDEN.pattern}")
_LINES = re.compile(r"L(\d{1,9})(?:-L?(\d{1,9}))?")


class CitationKind(StrEnum):
    LINE = "line"
    PAGE = "page"
    REGION = "region"
    CAPTION = "caption"
    TIME = "time"
    CODE = "code"
    PART = "part"


class SourceState(StrEnum):
    """What became of a document's file since it was indexed."""

    CURRENT = "current"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Citation:
    """``start`` and ``end`` are lines (line, code), a page or slide (page), milliseconds (time), or
    items (part).

    Cells of a sheet are a region in columns and rows.
    """

    kind: CitationKind
    path: str
    start: int = 0
    end: int = 0
    region: tuple[int, int, int, int] | None = None
    source_state: SourceState | None = None
    """None while nothing can be known of the file: its source's folder is not here, or it has none."""
    fragment: str = ""
    """The place as the URI names it, where kind and numbers do not say it all: ``slide=4``."""

    @property
    def stale(self) -> bool:
        """Whether the file changed or is gone, so that the lines may not be where the citation says."""
        return self.source_state in (SourceState.CHANGED, SourceState.GONE)

    @property
    def uri(self) -> str:
        """``path#L12-L34``, ``path#p=3``, ``path#xywh=1,2,3,4``, ``path#caption``, ``path#t=0.000,1.500``,
        ``path#slide=4``, ``path#cell=Budget!B2:D9``, ``path#p=3&xywh=1,2,3,4``, ``path#par=3-7``,
        ``path#part=2&par=3``.

        ``#``, ``%``, ``?`` and spaces of the path are percent-encoded; letters of any script are not.
        """
        return f"{encode_path(self.path)}#{self.fragment or self._fragment()}"

    def _fragment(self) -> str:
        match self.kind:
            case CitationKind.LINE | CitationKind.CODE:
                return f"L{self.start}" if self.start == self.end else f"L{self.start}-L{self.end}"
            case CitationKind.PAGE:
                return f"p={self.start}"
            case CitationKind.REGION:
                return "xywh=" + ",".join(str(n) for n in self.region or (0, 0, 0, 0))
            case CitationKind.CAPTION:
                return "caption"
            case CitationKind.PART:
                return f"par={self.start}" if self.start == self.end else f"par={self.start}-{self.end}"
            case CitationKind.TIME:
                return f"t={self.start / 1000:.3f},{self.end / 1000:.3f}"


@dataclass(frozen=True, slots=True)
class CodeCitation(Citation):
    """Lines of source code; ``symbol`` is the function, class or the like that they belong to."""

    symbol: str = ""


def cite(
    path: str, spans: tuple[LineSpan, ...], *, place: Place | None = None, state: SourceState | None = None
) -> Citation:
    """The citation of a chunk: its place, else its first span, or line 1 when it has neither."""
    span = spans[0] if spans else LineSpan(1, 1)
    match place:
        case None:
            return Citation(CitationKind.LINE, path, span.start, span.end, source_state=state)
        case CodeUnit():
            return CodeCitation(
                CitationKind.CODE, path, span.start, span.end, source_state=state, symbol=place.symbol
            )
        case Page(number) | Slide(number):
            kind, start, end, region = CitationKind.PAGE, number, number, None
        case Time(start, end):
            kind, region = CitationKind.TIME, None
        case Region(x, y, width, height, page):
            kind, start, end, region = CitationKind.REGION, page, page, (x, y, width, height)
        case Cells(_, left, top, right, bottom):
            kind, start, end = CitationKind.REGION, 0, 0
            region = (left, top, right - left + 1, bottom - top + 1)
        case Items(_, start, end):
            kind, region = CitationKind.PART, None
        case Caption():
            kind, start, end, region = CitationKind.CAPTION, 0, 0, None
    return Citation(kind, path, start, end, region, state, fragment(place))


def encode_path(path: str) -> str:
    """Escape what would end a URI or be obeyed by a terminal; letters of any script stay readable."""
    return _ENDING.sub(lambda match: quote(match.group(), safe="", errors="replace"), path)


def parse_citation(uri: str) -> tuple[str, LineSpan | Place]:
    """The path and what is cited of it, lines or a place; raises ValueError for what is no citation."""
    path, mark, cited = uri.rpartition("#")
    if not mark or not path:
        raise ValueError(f"not a citation: {uri!r}")
    lines = _LINES.fullmatch(cited)
    if lines:
        return unquote(path), LineSpan(int(lines[1]), int(lines[2] or lines[1]))
    return unquote(path), parse_place(cited)
