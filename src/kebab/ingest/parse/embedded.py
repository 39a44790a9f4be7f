"""Texts inside other files: Markdown in a notebook or a canvas, a file attached to a message."""

from __future__ import annotations

from kebab.domain.links import Link
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.html_blocks import Placing
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.markdown import parse_markdown
from kebab.ingest.parse.parsed import Defaults, Parsed


def add_markdown(composer: Composer, text: str, placing: Placing) -> None:
    """Adds the blocks of a Markdown text, each at the place that is next; front matter is left out."""
    add_parsed(composer, parse_markdown(Lines(text), Defaults("")), placing)


def add_parsed(composer: Composer, parsed: Parsed, placing: Placing, *, deeper: int = 0) -> None:
    """Adds what another parser read, its headings ``deeper`` levels below their own."""
    for block in parsed.blocks:
        if block.level:
            composer.heading(block.level + deeper, block.heading, placing())
        else:
            composer.block(block.kind, parsed.lines.slice(block.start, block.end), placing())


def links_of(text: Lines) -> tuple[Link, ...]:
    """The links of a text that was composed, which is Markdown."""
    return parse_markdown(text, Defaults("")).links
