"""Composing the text of a document whose file is no text: block after block, written as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from kebab.domain.documents import BlockKind, Metadata
from kebab.domain.ids import encodable, nfc
from kebab.domain.language import detect
from kebab.domain.places import Place
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Parsed, ParsedBlock, Unreadable

NO_TEXT = "it holds no text"
_DEEPEST_HEADING = 6
_GONE = {ord(sign): None for sign in "\0\x01\x02\x03\x04\x05\x06\x07\x08\ufeff\xad\u200b"} | {
    ord(sign): "\n" for sign in "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
}


class Composer:
    """Collects blocks and joins them by blank lines; knows which headings a block stands under."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._blocks: list[ParsedBlock] = []
        self._open: list[tuple[int, str]] = []
        self._path: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self._blocks)

    def heading(self, level: int, words: str, place: Place | None) -> None:
        """Opens a section; a heading without words opens none."""
        text = " ".join(_clean(words).split())
        if not text:
            return
        level = max(1, min(level, _DEEPEST_HEADING))
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, text))
        self._path = tuple(words for _, words in self._open)
        self._append(BlockKind.HEADING, ["#" * level + " " + text], place, level, text)

    def close_sections(self) -> None:
        """What follows stands under no heading."""
        self._open, self._path = [], ()

    def block(self, kind: BlockKind, text: str, place: Place | None, *, tight: bool = False) -> bool:
        """Adds a text as it is, but for blank lines around it; ``tight`` without a blank line before it.

        Returns whether there was anything to add.
        """
        lines = [line.rstrip() for line in _clean(text).split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        first = next((at for at, line in enumerate(lines) if line), None)
        if first is None:
            return False
        self._append(kind, lines[first:], place, tight=tight)
        return True

    def code(self, text: str, place: Place | None, *, language: str = "") -> bool:
        if not text.strip():
            return False
        fence = "```"
        while fence in text:
            fence += "`"
        return self.block(BlockKind.CODE, f"{fence}{language}\n{text.strip(chr(10))}\n{fence}", place)

    def table(self, rows: Sequence[Sequence[str]], place: Place | None, *, header: bool = True) -> bool:
        """Rows as a table of Markdown; the first is its head."""
        written = [["" if cell is None else _cell(cell) for cell in row] for row in rows]
        written = [row for row in written if any(row)]
        if not written:
            return False
        lines = ["| " + " | ".join(row) + " |" for row in written]
        if header and len(lines) > 1:
            lines.insert(1, "|" + " --- |" * len(written[0]))
        return self.block(BlockKind.TABLE, "\n".join(lines), place)

    def parsed(
        self,
        title: str,
        defaults: Defaults,
        *,
        metadata: Metadata | None = None,
        lang: str = "",
        warnings: Sequence[str] = (),
    ) -> Parsed | Unreadable:
        """The document; Unreadable where nothing was added. Without a title the first heading counts."""
        if not self._blocks:
            return Unreadable("; ".join(warnings) or NO_TEXT)
        text = "\n".join(self._lines)
        heading = next((block.heading for block in self._blocks if block.level), "")
        return Parsed(
            title=" ".join(_clean(title).split()) or heading or defaults.stem,
            lang=(lang or detect(text)).lower(),
            metadata=metadata or Metadata(source_type=defaults.source_type, trust_level=defaults.trust_level),
            blocks=tuple(self._blocks),
            warnings=tuple(warnings),
            lines=Lines(text),
        )

    def _append(
        self,
        kind: BlockKind,
        lines: list[str],
        place: Place | None,
        level: int = 0,
        heading: str = "",
        *,
        tight: bool = False,
    ) -> None:
        if self._lines and not tight:
            self._lines.append("")
        start = len(self._lines) + 1
        self._lines += lines
        self._blocks.append(ParsedBlock(kind, start, len(self._lines), self._path, level, heading, place))


def _clean(text: str) -> str:
    """Composed, storable, and with no sign that only steers a machine."""
    return nfc(encodable(text.replace("\r\n", "\n").translate(_GONE)))


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
