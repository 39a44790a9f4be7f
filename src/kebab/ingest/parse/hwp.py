"""HWP 5 and HWPX, the formats of Hangul: headings, paragraphs and tables, counted in paragraphs."""

from __future__ import annotations

import re

from kebab.domain.documents import Media
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Archive, Refused
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.embedded import add_markdown
from kebab.ingest.parse.html import paragraphs
from kebab.ingest.parse.office import metadata_of
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ports import Unopened

VERSION = "hwp-v1"

_ZIP = b"PK"
_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,300}\)")
_ESCAPED = re.compile(r"\\([.)(#*_\[\]+~`>|-])")


def parse_hwp(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    if content.startswith(_ZIP):
        try:
            Archive(content, defaults.reading.limits).measure()
        except Refused as error:
            return Unreadable(str(error))
    found = defaults.reading.engines.hwp().read(content)
    if isinstance(found, Unopened):
        return Unreadable(found.reason)
    composer = Composer()
    add_markdown(composer, _plain(found.markdown), paragraphs())
    metadata = metadata_of({"creator": found.author, "created": found.created}, defaults)
    return composer.parsed(found.title, defaults, metadata=metadata)


FORMAT = Format(Media.DOCUMENT, VERSION, parse_hwp, by_place.CHUNKER, isolated=True)


def _plain(markdown: str) -> str:
    """Without images and the escapes of signs; a bar in a table stays escaped."""
    text = _IMAGE.sub("", markdown).replace("<br>", " ")
    return _ESCAPED.sub(lambda sign: sign[0] if sign[1] == "|" else sign[1], text)
