"""A small Whisper model and a recording, which ``make test`` fetches; and recordings made here."""

from __future__ import annotations

import wave
from io import BytesIO
from pathlib import Path

import pytest

_FETCHED = Path(__file__).parents[1] / ".venv" / "speech" / "package"
WHISPER = _FETCHED / "models" / "Xenova" / "whisper-tiny"
RECORDING = _FETCHED / "lib" / "whisper.cpp" / "bindings" / "go" / "samples" / "jfk.wav"
"""Eleven seconds of a speech of 1961."""
needs_whisper = pytest.mark.skipif(
    not (WHISPER.is_dir() and RECORDING.is_file()),
    reason="no Whisper model and recording (npm): make .venv/.speech fetches them",
)


def wav_file(samples: bytes, *, rate: int = 16_000, channels: int = 1, width: int = 2) -> bytes:
    held = BytesIO()
    with wave.open(held, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(samples)
    return held.getvalue()
