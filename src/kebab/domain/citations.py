"""Citations: where a text stands, as a value and as a URI that people can click and agents can resolve."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, unquote

from kebab.domain.documents import LineSpan

_LINES = re.compile(r"\A(.+)#L(\d{1,9})(?:-L?(\d{1,9}))?\Z", re.DOTALL)


class CitationKind(StrEnum):
    LINE = "line"
    PAGE = "page"
    REGION = "region"
    CAPTION = "caption"
    TIME = "time"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Citation:
    """``start`` and ``end`` are lines (line, code), a page (page) or milliseconds (time)."""

    kind: CitationKind
    path: str
    start: int = 0
    end: int = 0
    region: tuple[int, int, int, int] | None = None
    stale: bool = False
    """True when the file changed since it was indexed, so that the lines may have moved."""

    @property
    def uri(self) -> str:
        """``path#L12-L34``, ``path#p=3``, ``path#xywh=1,2,3,4``, ``path#caption``, ``path#t=0.000,1.500``.

        ``#``, ``%``, ``?`` and spaces of the path are percent-encoded; letters of any script are not.
        """
        return f"{encode_path(self.path)}#{self._fragment()}"

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
            case CitationKind.TIME:
                return f"t={self.start / 1000:.3f},{self.end / 1000:.3f}"


def cite(path: str, spans: tuple[LineSpan, ...], *, stale: bool = False) -> Citation:
    """The citation of a chunk: its first span, or line 1 when it has none."""
    span = spans[0] if spans else LineSpan(1, 1)
    return Citation(CitationKind.LINE, path, span.start, span.end, stale=stale)


def encode_path(path: str) -> str:
    """Escape what would end or break a URI, and nothing else, so that Korean names stay readable."""
    return re.sub(r"[#%?\s\x00-\x1f]", lambda match: quote(match.group(), safe=""), path)


def parse_line_citation(uri: str) -> tuple[str, LineSpan]:
    """The path and lines of a ``path#L12-L34`` URI; raises ValueError for any other form."""
    match = _LINES.match(uri)
    if not match:
        raise ValueError(f"not a line citation: {uri!r}")
    start = int(match[2])
    return unquote(match[1]), LineSpan(start, int(match[3] or start))
