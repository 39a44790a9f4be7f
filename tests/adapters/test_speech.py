"""Speech on a real model in a folder: heard, cited by time, and recordings that lie about themselves."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kebab.adapters.documents.kept import Kept
from kebab.adapters.documents.recorded_audio import LONGEST_S, Audio, decode
from kebab.adapters.documents.whisper_speech import WhisperTranscriber, _stretches, whisper_version
from kebab.domain.citations import CitationKind
from kebab.domain.ingests import Outcome
from kebab.errors import ModelUnavailable
from kebab.ports import Heard, Unopened
from tests.faults.conftest import make_base
from tests.speech_files import RECORDING, WHISPER, needs_whisper, wav_file

TONE = (np.sin(np.arange(16_000) / 10) * 9000).astype("<i2")


def heard(content: bytes, ending: str = ".wav") -> Audio:
    audio = decode(content, ending, seconds=20)
    assert isinstance(audio, Audio), audio
    return audio


@needs_whisper
@pytest.mark.slow
def test_a_recording_is_heard_cited_by_time_and_heard_once(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=1)
    base.write("speech.wav", RECORDING.read_bytes())
    base.write("still.wav", wav_file(b"\0\0" * 32_000))
    settings: dict[str, Any] = {
        "models__embedding__provider": "none",
        "models__speech__provider": "whisper",
        "models__speech__path": str(WHISPER),
    }
    with base.open(**settings) as kb:
        report = kb.ingest()
        (still,) = [item for item in report.items if item.outcome is Outcome.SKIPPED]
        assert (still.path, still.reason) == ("still.wav", "nothing is said in it")
        (hit,) = kb.search("what your country can do for you", k=1).hits
        assert (hit.doc_path, hit.citation.kind) == ("speech.wav", CitationKind.TIME)
        assert hit.citation.uri == "speech.wav#t=0.000,11.000"
        text = kb.fetch_citation(hit.citation.uri).text
        assert text.startswith("And so my fellow Americans")
        kept = sorted((file.name, file.stat().st_mtime_ns) for file in (base.data / "ocr").iterdir())
        assert len(kept) == 1
        assert kb.ingest(force=True).run.indexed == 2
        assert kept == sorted((file.name, file.stat().st_mtime_ns) for file in (base.data / "ocr").iterdir())
        assert kb.doctor().healthy


@needs_whisper
def test_what_was_not_heard_in_time_is_told_and_heard_the_next_time(tmp_path: Path) -> None:
    model = WhisperTranscriber(WHISPER, language="en", threads=1, kept=Kept(tmp_path))
    late = model.listen(RECORDING.read_bytes(), ending=".wav", seconds=-1)
    assert late == Heard((), 11_000)


@needs_whisper
@pytest.mark.slow
def test_a_model_that_is_too_large_for_a_worker_names_the_setting(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=0)
    base.write("speech.wav", RECORDING.read_bytes())
    settings: dict[str, Any] = {
        "models__embedding__provider": "none",
        "models__speech__provider": "whisper",
        "models__speech__path": str(WHISPER),
        "ingest__worker_memory_mb": 460,
    }
    with base.open(**settings) as kb:
        (item,) = kb.ingest().items
    assert (item.outcome, item.reason) == (
        Outcome.FAILED,
        "needs more memory than ingest.worker_memory_mb allows",
    )


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"vocab\.json is missing"):
        WhisperTranscriber(tmp_path, language="", threads=0, kept=Kept(tmp_path))
    (tmp_path / "vocab.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match="encoder_model"):
        WhisperTranscriber(tmp_path, language="", threads=0, kept=Kept(tmp_path))


def test_another_model_in_the_same_folder_is_another_version(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"one")
    before = whisper_version(tmp_path, "ko")
    (tmp_path / "model.onnx").write_bytes(b"three")
    assert whisper_version(tmp_path, "ko") != before
    assert whisper_version(tmp_path, "ko") != whisper_version(tmp_path, "en")


def test_a_model_that_is_damaged_fails_the_file_with_the_folder(tmp_path: Path) -> None:
    for name in ("encoder_model.onnx", "decoder_model_merged.onnx", "vocab.json", "added_tokens.json"):
        (tmp_path / name).write_text("{}")
    model = WhisperTranscriber(tmp_path, language="", threads=0, kept=Kept(tmp_path))
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        model.listen(wav_file(TONE.tobytes()), ending=".wav", seconds=9)


def test_all_widths_rates_and_channels_of_wav_give_the_same_sound() -> None:
    wide = (TONE.astype("<i4") << 16).tobytes()
    three = np.frombuffer(wide, np.uint8).reshape(-1, 4)[:, 1:].tobytes()
    eight = (TONE // 256 + 128).astype(np.uint8).tobytes()
    both = np.repeat(TONE, 2).tobytes()
    plain = heard(wav_file(TONE.tobytes())).samples
    assert np.array_equal(heard(wav_file(wide, width=4)).samples, plain)
    assert np.array_equal(heard(wav_file(three, width=3)).samples, plain)
    assert np.array_equal(heard(wav_file(both, channels=2)).samples, plain)
    assert np.abs(heard(wav_file(eight, width=1)).samples - plain).max() <= 256
    for rate in (8_000, 22_050, 44_100, 48_000, 96_000):
        audio = heard(wav_file(np.repeat(TONE, 3).tobytes(), rate=rate))
        assert len(audio.stretch(0, len(audio.samples))) == pytest.approx(48_000 * 16_000 / rate, abs=1)


def test_a_recording_is_cut_where_it_is_quietest() -> None:
    loud = np.tile(TONE, 70)
    loud[16_000 * 23 : 16_000 * 24] = 0
    ((first, cut), (again, second), (third, end)) = _stretches(Audio(loud, 16_000))
    assert (first, again, third, end) == (0, cut, second, len(loud))
    assert 23 * 16_000 < cut < 24 * 16_000
    assert all(b - a <= 28 * 16_000 for a, b in ((first, cut), (again, second), (third, end)))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"RIFF",
        b"RIFF\xff\xff\xff\xffWAVE",
        wav_file(TONE.tobytes(), rate=1),
        wav_file(TONE.tobytes(), rate=2**31 - 1),
        wav_file(TONE.tobytes()).replace(struct.pack("<HH", 1, 1), struct.pack("<HH", 1, 0), 1),
        wav_file(TONE.tobytes()).replace(struct.pack("<HH", 1, 1), struct.pack("<HH", 1, 65535), 1),
    ],
)
def test_a_head_that_makes_no_sense_is_refused(content: bytes) -> None:
    assert isinstance(decode(content, ".wav", seconds=5), Unopened)


def test_a_recording_that_lies_about_its_length_has_the_length_that_is_there() -> None:
    whole = wav_file(TONE.tobytes())
    size = struct.pack("<I", len(TONE) * 2)
    for lie in (0x7FFFFFFE, 0xFFFFFFFE):
        long = whole.replace(b"data" + size, b"data" + struct.pack("<I", lie))
        audio = decode(long, ".wav", seconds=5)
        assert isinstance(audio, Unopened) or audio.milliseconds <= 1000
    short = heard(whole.replace(b"data" + size, b"data" + struct.pack("<I", 3200)))
    assert short.milliseconds == 100


def test_what_lies_behind_three_hours_is_left_out_and_counted() -> None:
    audio = heard(wav_file(b"\x80" * (4_000 * (LONGEST_S + 7)), rate=4_000, width=1))
    assert (audio.milliseconds, audio.cut) == (1000 * LONGEST_S, 7000)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg: apt install ffmpeg")
@pytest.mark.parametrize("ending", [".mp3", ".flac", ".ogg", ".m4a", ".webm"])
def test_other_formats_are_heard_through_ffmpeg(tmp_path: Path, ending: str) -> None:
    source, made = tmp_path / "a.wav", tmp_path / f"a{ending}"
    source.write_bytes(wav_file(TONE.tobytes()))
    subprocess.run(["ffmpeg", "-v", "error", "-i", str(source), str(made)], check=True)
    audio = heard(made.read_bytes(), ending)
    assert audio.milliseconds == pytest.approx(1000, abs=150)
    assert isinstance(decode(made.read_bytes()[:60], ending, seconds=9), Unopened)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg: apt install ffmpeg")
def test_a_playlist_in_the_dress_of_a_recording_opens_nothing(tmp_path: Path) -> None:
    real = tmp_path / "real.wav"
    real.write_bytes(wav_file(TONE.tobytes()))
    for text in (f"#EXTM3U\n#EXTINF:1,\n{real}\n", f"ffconcat version 1.0\nfile '{real}'\n"):
        for ending in (".mp3", ".mp4", ".ogg", ".wav"):
            assert isinstance(decode(text.encode(), ending, seconds=9), Unopened)
