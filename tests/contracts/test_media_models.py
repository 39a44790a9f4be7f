"""What every model that sees or hears promises: those behind an address, in a folder, and their fakes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kebab.adapters.documents.kept import Kept
from kebab.adapters.documents.openai_captions import OpenAiCaptioner
from kebab.adapters.documents.openai_endpoint import OpenAiEndpoint
from kebab.adapters.documents.openai_speech import OpenAiTranscriber
from kebab.adapters.documents.whisper_speech import WhisperTranscriber
from kebab.ports import Captioner, Heard, Transcriber, Unopened
from tests.document_fakes import FakeCaptioner, FakeTranscriber
from tests.media_server import media_server
from tests.speech_files import RECORDING, WHISPER, needs_whisper

PNG = b"\x89PNG\r\n\x1a\n and so on"


@dataclass(frozen=True, slots=True)
class Seeing:
    model: Captioner
    image: bytes


@dataclass(frozen=True, slots=True)
class Hearing:
    model: Transcriber
    recording: bytes
    ending: str = ".wav"


@pytest.fixture(params=["fake", "openai"])
def seeing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Seeing]:
    if request.param == "fake":
        yield Seeing(FakeCaptioner(), b"image: a rope")
        return
    with media_server() as server:
        endpoint = OpenAiEndpoint(
            f"{server.endpoint}/chat/completions", section="models.vision", timeout_s=20
        )
        yield Seeing(OpenAiCaptioner("m", prompt="Say.", endpoint=endpoint, kept=Kept(tmp_path)), PNG)


@pytest.fixture(params=["fake", "openai", pytest.param("whisper", marks=[needs_whisper, pytest.mark.slow])])
def hearing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Hearing]:
    kept = Kept(tmp_path)
    if request.param == "fake":
        yield Hearing(FakeTranscriber(), b"sound: one\ntwo\nthree")
    elif request.param == "whisper":
        model = WhisperTranscriber(WHISPER, language="", threads=1, kept=kept)
        yield Hearing(model, RECORDING.read_bytes())
    else:
        with media_server() as server:
            url = f"{server.endpoint}/audio/transcriptions"
            endpoint = OpenAiEndpoint(url, section="models.speech", timeout_s=20)
            yield Hearing(OpenAiTranscriber("m", language="", endpoint=endpoint, kept=kept), b"ID3", ".mp3")


def test_an_image_is_described_the_same_each_time(seeing: Seeing) -> None:
    said = seeing.model.caption(seeing.image)
    assert isinstance(said, str)
    assert said == said.strip() != ""
    assert seeing.model.caption(seeing.image) == said


def test_what_is_no_image_is_not_described(seeing: Seeing) -> None:
    assert isinstance(seeing.model.caption(b"%PDF-1.7"), Unopened)


def test_what_is_said_comes_in_order_and_has_a_time(hearing: Hearing) -> None:
    heard = hearing.model.listen(hearing.recording, ending=hearing.ending, seconds=60)
    assert isinstance(heard, Heard)
    assert heard.spoken
    assert heard.unheard == 0
    assert all(one.text == " ".join(one.text.split()) != "" for one in heard.spoken)
    assert all(0 <= one.start <= one.end for one in heard.spoken)
    assert [one.start for one in heard.spoken] == sorted(one.start for one in heard.spoken)
    assert hearing.model.listen(hearing.recording, ending=hearing.ending, seconds=60) == heard


def test_models_say_what_they_are(seeing: Seeing, hearing: Hearing) -> None:
    assert ":" in seeing.model.version
    assert ":" in hearing.model.version


def test_after_its_time_nothing_further_is_listened_to() -> None:
    heard = FakeTranscriber().listen(b"sound: one\ntwo\nthree", ending=".wav", seconds=1)
    assert isinstance(heard, Heard)
    assert (len(heard.spoken), heard.unheard) == (1, 20_000)
