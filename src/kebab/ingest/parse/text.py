"""Plain text: paragraphs between blank lines."""

from __future__ import annotations

from itertools import groupby

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.language import detect
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, ParsedBlock

VERSION = "text-v1"
TITLE_CHARS = 80


def parse_text(text: str, defaults: Defaults) -> Parsed:
    """One block a paragraph; the title is the first words, or the file's name."""
    return Parsed(
        title=first_words(text) or defaults.stem,
        lang=detect(text),
        metadata=Metadata(source_type=defaults.source_type, trust_level=defaults.trust_level),
        blocks=tuple(_paragraphs(text)),
    )


def first_words(line: str) -> str:
    """The first line that is not blank, cut at a word to fit a list."""
    words = next((part.strip() for part in line.split("\n", 50) if part.strip()), "")
    words = words.split("\n", 1)[0]
    if len(words) <= TITLE_CHARS:
        return words
    return words[:TITLE_CHARS].rsplit(" ", 1)[0].rstrip() + "…"


def _paragraphs(text: str) -> list[ParsedBlock]:
    numbered = enumerate(text.split("\n"), start=1)
    blocks = []
    for blank, group in groupby(numbered, key=lambda line: not line[1].strip()):
        if not blank:
            numbers = [number for number, _ in group]
            blocks.append(ParsedBlock(BlockKind.PARAGRAPH, numbers[0], numbers[-1], ()))
    return blocks


FORMAT = Format(Media.TEXT, VERSION, parse_text)
