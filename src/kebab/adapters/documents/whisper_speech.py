"""Speech written down by a Whisper model in a folder, through onnx-asr. Nothing is downloaded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kebab.adapters.documents.kept import Kept
from kebab.adapters.documents.recorded_audio import Audio, Samples, decode
from kebab.domain.ids import content_hash, digest
from kebab.errors import ModelUnavailable
from kebab.ports import Heard, Spoken, Unopened

_LONGEST_S = 28
"""The model hears thirty seconds at once."""
_PAUSE_WITHIN_S = 10
_FRAME_S = 0.1
_SILENT = 0.002
"""A model that hears nothing invents words."""


class WhisperTranscriber:
    """Listens stretch by stretch, cut where it is quietest; each is kept, so that a run can go on."""

    def __init__(self, folder: Path, *, language: str, threads: int, kept: Kept) -> None:
        """Raises ModelUnavailable where the folder holds no such model."""
        self._folder = folder
        self._kind, self._quantization = _form(folder)
        self._language = language
        self._threads = threads
        self._kept = kept

    @property
    def version(self) -> str:
        return whisper_version(self._folder, self._language)

    def listen(self, recording: bytes, *, ending: str, seconds: float) -> Heard | Unopened:
        until = time.monotonic() + seconds
        audio = decode(recording, ending, seconds=seconds)
        if isinstance(audio, Unopened):
            return audio
        spoken: list[Spoken] = []
        for start, end in _stretches(audio):
            if time.monotonic() > until:
                return Heard(tuple(spoken), audio.milliseconds + audio.cut - _ms(start, audio))
            if text := self._heard(audio.stretch(start, end)):
                spoken.append(Spoken(text, _ms(start, audio), _ms(end, audio)))
        return Heard(tuple(spoken), audio.cut)

    def _heard(self, samples: Samples) -> str:
        if not len(samples) or float(np.abs(samples).max()) < _SILENT:
            return ""
        key = digest("speech", self.version, content_hash(samples.tobytes()))
        kept = self._kept.read(key)
        if isinstance(kept, str):
            return kept
        options = {"language": self._language} if self._language else {}
        try:
            text = " ".join(str(self._model.recognize(samples, **options)).split())
        except RuntimeError as error:
            # So the engine says that the limit of this process is reached; others of its errors are its own.
            if "allocate memory" in str(error):
                raise MemoryError from error
            raise
        self._kept.write(key, text)
        return text

    @cached_property
    def _model(self) -> Any:
        import onnx_asr
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        try:
            return onnx_asr.load_model(
                self._kind,
                self._folder,
                quantization=self._quantization,
                sess_options=options,
                providers=["CPUExecutionProvider"],
            )
        # The engine has a family of errors of its own, and its runtime another.
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ModelUnavailable(
                f"the model in {self._folder} cannot be loaded: {error}", hint="see docs/formats.md"
            ) from error


def whisper_version(folder: Path, language: str) -> str:
    """The model by the names and sizes of its files; nothing is loaded."""
    files = sorted((file.name, file.stat().st_size) for file in folder.rglob("*") if file.is_file())
    about = digest("whisper", *(part for file in files for part in file))
    return f"whisper:{folder.name}:{about[:8]}:{language or 'any'}"


def _form(folder: Path) -> tuple[str, str | None]:
    """How the model is stored: its kind, as the engine calls it, and its quantization."""
    if not (folder / "vocab.json").is_file():
        raise ModelUnavailable(
            f"{folder} holds no Whisper model: vocab.json is missing",
            hint="set models.speech.path to a folder with encoder_model*.onnx and decoder_model_merged*.onnx",
        )
    if any(folder.glob("whisper-*_beamsearch*.onnx")):
        return "whisper-ort", None if any(folder.glob("whisper-*_beamsearch.onnx")) else "int8"
    for form in (None, "quantized", "int8", "uint8", "fp16"):
        ending = f"_{form}.onnx" if form else ".onnx"
        if any(folder.rglob(f"encoder_model{ending}")) and any(folder.rglob(f"decoder_model_merged{ending}")):
            return "whisper", form
    raise ModelUnavailable(
        f"{folder} holds no Whisper model: encoder_model*.onnx or decoder_model_merged*.onnx is missing",
        hint="see docs/formats.md",
    )


def _stretches(audio: Audio) -> Iterator[tuple[int, int]]:
    """Indexes of samples: each stretch ends where the last seconds of what fits are quietest."""
    start, total = 0, len(audio.samples)
    longest, within = _LONGEST_S * audio.rate, _PAUSE_WITHIN_S * audio.rate
    while total - start > longest:
        end = _quietest(audio, start + longest - within, start + longest)
        yield start, end
        start = end
    if start < total:
        yield start, total


def _quietest(audio: Audio, first: int, last: int) -> int:
    """The middle of the quietest tenth of a second."""
    frame = int(_FRAME_S * audio.rate)
    count = (last - first) // frame
    frames = audio.samples[first : first + count * frame].astype(np.float32).reshape(count, frame)
    return first + int(np.square(frames).mean(axis=1).argmin()) * frame + frame // 2


def _ms(sample: int, audio: Audio) -> int:
    return 1000 * sample // audio.rate
