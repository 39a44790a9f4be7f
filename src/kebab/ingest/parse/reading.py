"""What parsers are given beside the bytes: engines, and limits for what comes from strangers."""

from __future__ import annotations

from dataclasses import dataclass

from kebab.domain.documents import Media
from kebab.errors import EngineUnavailable
from kebab.ports import DocumentEngines


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """How much one file may turn into. Time and memory are limited by the worker process."""

    pages: int = 5000
    """What lies behind this page, slide, chapter or message is left out, with a warning."""
    nesting: int = 200
    """Levels of XML, JSON, or of messages inside messages; what is nested deeper is not read."""
    expanded_bytes: int = 256 << 20
    """What an archive may hold unpacked."""
    expansion: int = 200
    """How many times larger than the file that may be, once it is above ``FREE_BYTES``."""
    ocr_seconds: float = 60
    """After so long no further page of a file is read by OCR, and no further stretch of a recording is
    listened to; what was read is kept."""


FREE_BYTES = 16 << 20
"""An archive may unpack to this size whatever its ratio: a sheet of zeros packs a thousandfold."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The engines and limits of a run; picklable, since worker processes read."""

    installed: DocumentEngines | None = None
    limits: ReadLimits = ReadLimits()
    chosen: tuple[tuple[Media, str], ...] = ()
    """What the settings choose that shapes what is read of a kind of file, such as a model."""

    def choice(self, media: Media) -> str:
        """In the fingerprint of its files: another choice reads them again. Empty where nothing is chosen."""
        return " ".join(words for kind, words in self.chosen if kind is media)

    @property
    def engines(self) -> DocumentEngines:
        """Raises EngineUnavailable where none were given."""
        if self.installed is None:
            raise EngineUnavailable("needs an engine", hint="pip install 'kebab[documents]'")
        return self.installed


BARE = Reading()
"""No engines, and the limits that hold where nobody says otherwise."""
