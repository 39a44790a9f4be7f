"""What was recognised before: kept by the content of the image and by what read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kebab.adapters.documents.kept import Kept
from kebab.domain.ids import content_hash, digest
from kebab.ports import Picture, Recognised, TextRecogniser, Unopened


@dataclass(frozen=True, slots=True)
class CachedRecogniser:
    """Asks ``inner`` once for each image. A cache that cannot be read or written is passed over."""

    inner: TextRecogniser
    folder: Path

    @property
    def version(self) -> str:
        return self.inner.version

    def read_file(self, image: bytes) -> list[Recognised] | Unopened:
        return self._kept(
            digest("ocr", self.version, content_hash(image)), lambda: self.inner.read_file(image)
        )

    def read_picture(self, picture: Picture) -> list[Recognised]:
        size = (picture.width, picture.height)
        key = digest("ocr", self.version, *size, content_hash(picture.gray))
        found = self._kept(key, lambda: self.inner.read_picture(picture))
        return [] if isinstance(found, Unopened) else found

    def _kept(self, key: str, read: Callable[[], list[Recognised] | Unopened]) -> list[Recognised] | Unopened:
        kept = Kept(self.folder)
        try:
            return [Recognised(*one) for one in kept.read(key)]  # type: ignore[attr-defined]
        except TypeError:
            found = read()
        if not isinstance(found, Unopened):
            kept.write(key, found)
        return found
