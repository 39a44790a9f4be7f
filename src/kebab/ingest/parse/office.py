"""What Office files share: their properties."""

from __future__ import annotations

from typing import NamedTuple

from kebab.domain.documents import Metadata
from kebab.ingest.parse.archive import Archive, Refused
from kebab.ingest.parse.parsed import Defaults

_PROPERTIES = "docProps/core.xml"


class About(NamedTuple):
    title: str
    metadata: Metadata


def about(archive: Archive, defaults: Defaults) -> About:
    """Title, dates and author; what cannot be read is left out."""
    values: dict[str, str] = {}
    if _PROPERTIES in archive.names:
        try:
            values = {found.tag: (found.text or "").strip() for found in archive.xml(_PROPERTIES)}
        except Refused:
            values = {}
    return About(values.get("title", ""), metadata_of(values, defaults))


def metadata_of(values: dict[str, str], defaults: Defaults) -> Metadata:
    """From Dublin Core names, as Office and OpenDocument files and books use them."""
    author = values.get("creator") or values.get("initial-creator") or ""
    made = values.get("created") or values.get("creation-date") or values.get("date") or ""
    return Metadata(
        source_type=defaults.source_type,
        trust_level=defaults.trust_level,
        tags=tuple(
            dict.fromkeys(tag.strip() for tag in values.get("keywords", "").split(",") if tag.strip())
        ),
        # A day in the first thousand years is how programs write that they know none.
        created_at=None if made.startswith("0") else made or None,
        user={"author": author} if author else {},
    )
