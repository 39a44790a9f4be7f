"""Spreadsheets (XLSX, XLSM, XLSB, XLS, ODS): rows under their head, cited by their cells."""

from __future__ import annotations

from kebab.domain.documents import Media, Metadata
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Archive, Refused
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.office import About, about
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.tables import add_rows
from kebab.ports import Unopened

VERSION = "sheets-v1"

_ZIP = b"PK"
_OLD = b"\xd0\xcf\x11\xe0"
_LOCKED = "EncryptedPackage".encode("utf-16-le")


def parse_sheets(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    try:
        known = _looked_into(content, defaults)
    except Refused as error:
        return Unreadable(str(error))
    if content.startswith(_OLD) and _LOCKED in content:
        return Unreadable("encrypted: it opens with a password only; save a copy without one")
    composer = Composer()
    for sheet in defaults.reading.engines.sheets().sheets(content):
        if isinstance(sheet, Unopened):
            return Unreadable(sheet.reason)
        composer.close_sections()
        add_rows(composer, sheet.rows, sheet=sheet.name, top=sheet.top, left=sheet.left, headed=True)
    return composer.parsed(known.title or defaults.stem, defaults, metadata=known.metadata)


FORMAT = Format(Media.SHEET, VERSION, parse_sheets, by_place.CHUNKER, isolated=True)


def _looked_into(content: bytes, defaults: Defaults) -> About:
    """Title and dates. The engine unpacks the file itself, so what it would unpack is counted before."""
    if not content.startswith(_ZIP):
        return About("", Metadata(source_type=defaults.source_type, trust_level=defaults.trust_level))
    archive = Archive(content, defaults.reading.limits)
    archive.measure()
    return about(archive, defaults)
