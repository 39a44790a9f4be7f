"""Text in images through Tesseract."""

from __future__ import annotations

from tempfile import NamedTemporaryFile

from tesserocr import PSM, RIL, PyTessBaseAPI, iterate_level

from kebab.ports import Picture, Recognised, Unopened

_DPI = 200
_SPACED_WIDELY = frozenset({"kor", "jpn", "chi_sim", "chi_tra"})
"""Tesseract takes the gaps between their words for columns: with its own layout half of the signs are wrong,
as one column one in twenty (see docs/formats.md)."""


class TesseractRecogniser:
    """Reads paragraphs. ``folder`` holds the data of the languages, such as ``kor+eng``."""

    def __init__(self, languages: str, folder: str) -> None:
        self._languages = languages
        self._folder = folder

    @property
    def version(self) -> str:
        return f"tesseract:{self._languages}"

    def read_file(self, image: bytes) -> list[Recognised] | Unopened:
        """The image is decoded by the engine, in this process: a worker, under its limits."""
        with NamedTemporaryFile(prefix="kebab-") as file, self._engine() as engine:
            file.write(image)
            file.flush()
            try:
                engine.SetImageFile(file.name)
            except (RuntimeError, OSError, ValueError):
                return Unopened("damaged, or no image")
            return _paragraphs(engine)

    def read_picture(self, picture: Picture) -> list[Recognised]:
        with self._engine() as engine:
            engine.SetImageBytes(picture.gray, picture.width, picture.height, 1, picture.width)
            engine.SetSourceResolution(_DPI)
            return _paragraphs(engine)

    def _engine(self) -> PyTessBaseAPI:
        together = _SPACED_WIDELY.isdisjoint(self._languages.split("+"))
        engine = PyTessBaseAPI(
            path=self._folder, lang=self._languages, psm=PSM.AUTO if together else PSM.SINGLE_COLUMN
        )
        # Else it writes a space behind every syllable.
        engine.SetVariable("preserve_interword_spaces", "1")
        return engine


def _paragraphs(engine: PyTessBaseAPI) -> list[Recognised]:
    if not engine.Recognize():
        return []
    found = []
    for one in iterate_level(engine.GetIterator(), RIL.PARA):
        if one.Empty(RIL.PARA):
            continue
        text = one.GetUTF8Text(RIL.PARA).strip()
        left, top, right, bottom = one.BoundingBox(RIL.PARA)
        if text:
            sure = round(one.Confidence(RIL.PARA))
            found.append(Recognised(text, left, top, right - left, bottom - top, sure))
    return found
