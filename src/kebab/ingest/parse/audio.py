"""Recordings, written down where a model for speech is configured: what is said, cited by its time."""

from __future__ import annotations

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.places import Time
from kebab.ingest.chunk import cues
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ports import Heard, Unopened

VERSION = "audio-v1"
OFF = "recording: written down by a model only (models.speech.provider is none)"


def parse_audio(content: bytes, defaults: Defaults) -> Parsed | Unreadable:
    transcriber = defaults.reading.engines.speech()
    if transcriber is None:
        return Unreadable(OFF)
    limit = defaults.reading.limits.ocr_seconds
    heard = transcriber.listen(content, ending=defaults.extension, seconds=limit)
    if isinstance(heard, Unopened):
        return Unreadable(heard.reason)
    composer = Composer()
    for one in heard.spoken:
        composer.block(BlockKind.PARAGRAPH, one.text, Time(one.start, one.end), tight=True)
    if not composer:
        return Unreadable("; ".join(_unheard(heard)) or "nothing is said in it")
    metadata = Metadata(
        source_type=defaults.source_type,
        trust_level=defaults.trust_level,
        user={"speech": transcriber.version},
    )
    return composer.parsed(defaults.stem, defaults, metadata=metadata, warnings=_unheard(heard))


FORMAT = Format(Media.AUDIO, VERSION, parse_audio, cues.CHUNKER, isolated=True)


def _unheard(heard: Heard) -> list[str]:
    if not heard.unheard:
        return []
    minutes, seconds = divmod(heard.unheard // 1000, 60)
    last = f"the last {minutes} min {seconds} s are not written down"
    return [f"{last}, for want of time; kebab ingest --force goes on"]
