"""Plain text: paragraphs between blank lines."""

from __future__ import annotations

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.language import detect
from kebab.ingest.chunk import md_heading
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, ParsedBlock
from kebab.ingest.parse.textual import Decoding

VERSION = "text-v1"
TITLE_CHARS = 80


def parse_text(lines: Lines, defaults: Defaults) -> Parsed:
    """One block a paragraph; the title is the first words, or the file's name."""
    text = lines.text
    paragraphs = lines.runs(1, len(lines))
    return Parsed(
        title=first_words(text) or defaults.stem,
        lang=detect(text),
        metadata=Metadata(source_type=defaults.source_type, trust_level=defaults.trust_level),
        blocks=tuple(ParsedBlock(BlockKind.PARAGRAPH, start, end, ()) for start, end in paragraphs),
        lines=lines,
    )


def first_words(line: str) -> str:
    """The first line that is not blank, cut at a word to fit a list."""
    words = next((part.strip() for part in line.split("\n", 50) if part.strip()), "")
    words = words.split("\n", 1)[0]
    if len(words) <= TITLE_CHARS:
        return words
    return words[:TITLE_CHARS].rsplit(" ", 1)[0].rstrip() + "…"


FORMAT = Format(Media.TEXT, VERSION, Decoding(parse_text), md_heading.CHUNKER)
