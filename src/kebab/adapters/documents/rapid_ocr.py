"""Text in images through RapidOCR: models in ONNX that come with the package, and read no Hangul."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import cv2
import numpy as np
from rapidocr import RapidOCR

from kebab.ports import Picture, Recognised, Unopened

_NEAR = 0.8
"""Lines belong together where the gap between them is smaller than so much of their height."""


class _Line(NamedTuple):
    text: str
    left: int
    top: int
    right: int
    bottom: int
    confidence: float


class RapidRecogniser:
    """Reads paragraphs in Latin, Chinese and Japanese letters."""

    version = "rapidocr"

    @cached_property
    def _engine(self) -> Any:
        # Without the model that turns lines: it takes time, and pages that stand on their head are rare.
        return RapidOCR(params={"Global.log_level": "error", "Global.use_cls": False})

    def read_file(self, image: bytes) -> list[Recognised] | Unopened:
        """The image is decoded in this process: a worker, under its limits."""
        try:
            pixels = cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_COLOR)
        except cv2.error:
            pixels = None
        return Unopened("damaged, or no image") if pixels is None else self._paragraphs(pixels)

    def read_picture(self, picture: Picture) -> list[Recognised]:
        gray = np.frombuffer(picture.gray, np.uint8).reshape(picture.height, picture.width)
        return self._paragraphs(np.repeat(gray[:, :, None], 3, axis=2))

    def _paragraphs(self, pixels: Any) -> list[Recognised]:
        found = self._engine(pixels)
        if not found.txts:
            return []
        lines = [_line(*one) for one in zip(found.txts, found.boxes, found.scores, strict=True)]
        return [_paragraph(group) for group in _groups(lines)]


def _line(text: str, box: Any, score: float) -> _Line:
    left, top = (max(0, int(value)) for value in box.min(axis=0))
    right, bottom = (int(value) for value in box.max(axis=0))
    return _Line(text, left, top, right, bottom, score)


def _groups(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    group: list[_Line] = []
    for line in lines:
        if group and not _goes_on(group[-1], line):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _goes_on(before: _Line, line: _Line) -> bool:
    across = line.left < before.right and before.left < line.right
    beside = line.top < before.bottom and before.top < line.bottom
    return beside or (across and line.top - before.bottom < _NEAR * (before.bottom - before.top))


def _paragraph(lines: Sequence[_Line]) -> Recognised:
    left, top = min(line.left for line in lines), min(line.top for line in lines)
    right, bottom = max(line.right for line in lines), max(line.bottom for line in lines)
    sure = round(100 * sum(line.confidence for line in lines) / len(lines))
    return Recognised("\n".join(line.text for line in lines), left, top, right - left, bottom - top, sure)
