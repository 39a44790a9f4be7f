"""Images, read by OCR where it is switched on: paragraphs, cited by their region in pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.places import Region
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ports import Recognised, Unopened

VERSION = "image-v1"

_LEAST_SURE = 35
"""Below this, what was recognised is mostly noise: textures, signs, handwriting."""


def parse_image(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    recogniser = defaults.reading.engines.ocr()
    if recogniser is None:
        return Unreadable("image: read by OCR only (ingest.ocr is off)")
    found = recogniser.read_file(content)
    if isinstance(found, Unopened):
        return Unreadable(found.reason)
    composer = Composer()
    sure = add_recognised(composer, found, lambda one: Region(one.left, one.top, one.width, one.height))
    metadata = Metadata(
        source_type=defaults.source_type,
        trust_level=defaults.trust_level,
        user={"ocr_confidence": sure, "ocr": recogniser.version},
    )
    return composer.parsed(defaults.stem, defaults, metadata=metadata)


FORMAT = Format(Media.IMAGE, VERSION, parse_image, by_place.CHUNKER, isolated=True)


def add_recognised(
    composer: Composer, found: Sequence[Recognised], place: Callable[[Recognised], Region]
) -> int:
    """Adds what is sure enough; returns how sure that is on average, in percent."""
    sure = [one for one in found if one.confidence >= _LEAST_SURE and any(map(str.isalnum, one.text))]
    for one in sure:
        composer.block(BlockKind.PARAGRAPH, " ".join(one.text.split()), place(one))
    return round(sum(one.confidence for one in sure) / len(sure)) if sure else 0
