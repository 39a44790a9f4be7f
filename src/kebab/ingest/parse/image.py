"""Images: what is written in them, by OCR, cited by its region in pixels; what they show, by a model.

Both are off until somebody switches them on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.places import Caption, Region
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ports import Recognised, Unopened

VERSION = "image-v1"

OFF = "image: read by OCR or described by a model only (ingest.ocr is off, models.vision.provider is none)"
_LEAST_SURE = 35
"""Below this, what was recognised is mostly noise: textures, signs, handwriting."""


def parse_image(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    """What can be read of it and what is said about it; Unreadable where there is neither."""
    engines = defaults.reading.engines
    recogniser, captioner = engines.ocr(), engines.captioner()
    if recogniser is None and captioner is None:
        return Unreadable(OFF)
    composer, reasons = Composer(), []
    user: dict[str, object] = {}
    if captioner is not None:
        said = captioner.caption(content)
        if isinstance(said, Unopened):
            reasons.append(said.reason)
        else:
            composer.block(BlockKind.PARAGRAPH, " ".join(said.split()), Caption())
            user["caption"] = captioner.version
    if recogniser is not None:
        found = recogniser.read_file(content)
        if isinstance(found, Unopened):
            reasons.append(found.reason)
        else:
            sure = add_recognised(composer, found, _region)
            user |= {"ocr_confidence": sure, "ocr": recogniser.version}
    metadata = Metadata(source_type=defaults.source_type, trust_level=defaults.trust_level, user=user)
    return composer.parsed(defaults.stem, defaults, metadata=metadata, warnings=reasons)


def _region(one: Recognised) -> Region:
    return Region(one.left, one.top, one.width, one.height)


FORMAT = Format(Media.IMAGE, VERSION, parse_image, by_place.CHUNKER, isolated=True)


def add_recognised(
    composer: Composer, found: Sequence[Recognised], place: Callable[[Recognised], Region]
) -> int:
    """Adds what is sure enough; returns how sure that is on average, in percent."""
    sure = [one for one in found if one.confidence >= _LEAST_SURE and any(map(str.isalnum, one.text))]
    for one in sure:
        composer.block(BlockKind.PARAGRAPH, " ".join(one.text.split()), place(one))
    return round(sum(one.confidence for one in sure) / len(sure)) if sure else 0
