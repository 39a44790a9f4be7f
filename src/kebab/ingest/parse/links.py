"""The links of a Markdown text, noted while its blocks are cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kebab.domain.ids import encodable, nfc
from kebab.domain.links import Link, LinkKind, is_external
from kebab.ingest.parse.lines import Lines

MOST_LINKS = 10_000
_LONGEST_TARGET = 1000
_EXTERNAL = ("https://", "http://")
_IN_FRONT_MATTER = re.compile(r"\[\[([^\[\]\n|]{1,1000})(?:\|[^\[\]\n]{0,1000})?\]\]")


class LinkNotes:
    """Is shown what a parser's events open, and keeps what links there are among it.

    External addresses, and links beyond MOST_LINKS, are not kept.
    """

    def __init__(self, lines: Lines, *, front: int) -> None:
        """``front`` lines at the top are front matter, whose wikilinks count too."""
        self._lines = lines
        self._front = front
        self.links: list[Link] = list(_front_links(lines, front))

    def see(self, tag: dict[str, Any], start: int) -> None:
        """An event that opens something of a kind, with where it stands in bytes."""
        if "Link" in tag:
            self._keep(tag["Link"], start, embeds=False)
        elif "Image" in tag:
            self._keep(tag["Image"], start, embeds=True)

    def _keep(self, tag: dict[str, Any], start: int, *, embeds: bool) -> None:
        target: str = tag["dest_url"]
        if target.startswith(_EXTERNAL):  # as most are, in most notes
            return
        wiki = type(tag["link_type"]) is dict
        # In a table the bar of [[note\|alias]] is escaped, and the parser leaves the backslash behind.
        target = target.rstrip("\\") if wiki else target
        if not _is_internal(target) or len(self.links) >= MOST_LINKS:
            return
        kind = LinkKind.EMBED if embeds else LinkKind.WIKILINK if wiki else LinkKind.MARKDOWN
        self.links.append(Link(kind, _stored(target), self._lines.at_byte(start, after=self._front)))


def _is_internal(target: str) -> bool:
    return bool(target.strip()) and len(target) <= _LONGEST_TARGET and not is_external(target)


def _stored(target: str) -> str:
    return encodable(nfc(target)).strip()


def _front_links(lines: Lines, front: int) -> Iterator[Link]:
    """Wikilinks in properties, as Obsidian reads them."""
    for number in range(1, front + 1):
        for found in _IN_FRONT_MATTER.finditer(lines.slice(number, number)):
            if _is_internal(found[1]):
                yield Link(LinkKind.WIKILINK, _stored(found[1]), number)
