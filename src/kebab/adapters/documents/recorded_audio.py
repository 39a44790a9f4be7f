"""The samples of a recording: WAV by itself, everything else through ffmpeg where it is installed."""

from __future__ import annotations

import shutil
import subprocess
import wave
from io import BytesIO
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kebab.ports import Unopened

RATE = 16_000
"""Samples a second that models of speech take."""
LONGEST_S = 3 * 3600
"""What lies behind is not listened to."""

Samples = npt.NDArray[np.float32]

_RATES = range(4_000, 384_001)
_MOST_CHANNELS = 32
_DEMUXERS = {
    ".wav": "wav", ".mp3": "mp3", ".flac": "flac", ".aac": "aac", ".ogg": "ogg", ".oga": "ogg",
    ".opus": "ogg", ".m4a": "mov", ".mp4": "mov", ".mov": "mov", ".webm": "matroska", ".mkv": "matroska",
}  # fmt: skip
_DAMAGED = Unopened("damaged, or no recording")


class Audio(NamedTuple):
    """Samples of one channel as whole numbers, and how many of them make a second."""

    samples: npt.NDArray[np.int16]
    rate: int
    cut: int = 0
    """Milliseconds behind LONGEST_S, which are left out."""

    @property
    def milliseconds(self) -> int:
        return 1000 * len(self.samples) // self.rate

    def stretch(self, start: int, end: int) -> Samples:
        """The samples from one index to another, RATE of them a second, from -1 to 1."""
        found = self.samples[start:end].astype(np.float32) / np.float32(32768)
        return found if self.rate == RATE else _resampled(found, self.rate)


def decode(content: bytes, ending: str, *, seconds: float) -> Audio | Unopened:
    """The first sound track; Unopened for what is none, with the command that helps where there is one."""
    plain = _wav(content) if ending == ".wav" else None
    if plain is not None:
        return plain
    program = shutil.which("ffmpeg")
    if program is None:
        return Unopened(f"a recording in {ending} needs ffmpeg to be heard: apt install ffmpeg")
    return _converted(program, content, _DEMUXERS.get(ending, ""), seconds=seconds)


def _wav(content: bytes) -> Audio | Unopened | None:
    """None for a kind of WAV that is not plain numbers."""
    try:
        with wave.open(BytesIO(content)) as file:
            rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            if rate not in _RATES or not 1 <= channels <= _MOST_CHANNELS or width not in (1, 2, 3, 4):
                return _DAMAGED
            # What the head says of the length may be a lie: what is there is what counts.
            data = file.readframes(LONGEST_S * rate)
            held = max(0, min(file.getnframes(), len(content) // (width * channels)))
    except wave.Error:
        return None
    except (EOFError, ValueError, RuntimeError):
        return _DAMAGED
    samples = _mono(data, channels, width)
    return Audio(samples, rate, max(0, 1000 * (held - LONGEST_S * rate) // rate))


def _mono(data: bytes, channels: int, width: int) -> npt.NDArray[np.int16]:
    """The mean of all channels, of whatever width, as numbers of 16 bits."""
    frames = len(data) // (width * channels)
    raw = np.frombuffer(data, np.uint8, count=frames * width * channels).reshape(frames, channels, width)
    if width == 1:
        whole = (raw[:, :, 0].astype(np.int16) - 128) * 256
    else:
        high = raw[:, :, width - 2 :].copy()
        whole = high.view("<i2")[:, :, 0]
    return whole[:, 0] if channels == 1 else whole.mean(axis=1).astype(np.int16)


def _resampled(samples: Samples, rate: int) -> Samples:
    """By straight lines between samples; what is too high to be kept is smoothed away before."""
    width = rate // RATE
    if width > 1:
        samples = np.convolve(samples, np.full(width, 1 / width, np.float32), mode="same")
    wanted = np.arange(int(len(samples) * RATE / rate)) * (rate / RATE)
    found: Samples = np.interp(wanted, np.arange(len(samples)), samples).astype(np.float32)
    return found


def _converted(program: str, content: bytes, demuxer: str, *, seconds: float) -> Audio | Unopened:
    """The engine may open this one file, as this one format: a playlist that names others is none."""
    with NamedTemporaryFile(prefix="kebab-") as file:
        file.write(content)
        file.flush()
        command = [program, "-nostdin", "-v", "error", "-protocol_whitelist", "file"]
        command += ["-f", demuxer] if demuxer else []
        command += ["-i", f"file:{file.name}", "-map", "0:a:0", "-vn", "-t", str(LONGEST_S)]
        command += ["-ac", "1", "-ar", str(RATE), "-f", "s16le", "pipe:1"]
        try:
            done: Any = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=seconds, check=False
            )
        except (subprocess.TimeoutExpired, OSError):
            return Unopened("ffmpeg could not read it in time")
    if not done.stdout:
        return _DAMAGED
    return Audio(np.frombuffer(done.stdout, np.int16, count=len(done.stdout) // 2), RATE)
