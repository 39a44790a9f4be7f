"""Captions and speech by a server on loopback: cited, kept, and every failure told without its key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kebab.app import Kebab
from kebab.domain.citations import CitationKind
from kebab.domain.ingests import Outcome
from tests.faults.conftest import Base, make_base
from tests.media_server import SEEN, MediaServer, media_server
from tests.speech_files import wav_file

PNG = b"\x89PNG\r\n\x1a\n and so on"
KEY = "sk-very-secret-0123456789"


def seeing(base: Base, server: MediaServer, **more: Any) -> Kebab:
    return base.open(
        models__embedding__provider="none",
        models__vision__provider="openai",
        models__vision__endpoint=server.endpoint,
        models__vision__model="eyes",
        **more,
    )


def hearing(base: Base, server: MediaServer, **more: Any) -> Kebab:
    return base.open(
        models__embedding__provider="none",
        models__speech__provider="openai",
        models__speech__endpoint=server.endpoint,
        models__speech__model="ears",
        **more,
    )


def failures(kb: Kebab, *, force: bool = False) -> dict[str, str]:
    report = kb.ingest(force=force)
    return {item.path: item.reason or "" for item in report.items if item.outcome is Outcome.FAILED}


def test_an_image_is_described_cited_by_its_caption_and_sent_once(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=1)
    base.write("photo.png", PNG)
    base.write("twin.png", PNG)
    with media_server() as server, seeing(base, server) as kb:
        assert kb.ingest().run.indexed == 3
        (hit,) = [hit for hit in kb.search("부두에 밧줄").hits if hit.doc_path == "photo.png"]
        assert (hit.citation.kind, hit.citation.uri) == (CitationKind.CAPTION, "photo.png#caption")
        assert kb.fetch_citation("photo.png#caption").text == SEEN
        assert not failures(kb, force=True)
        assert kb.doctor().healthy
    (asked,) = server.script.asked
    assert asked["body"]["model"] == "eyes"
    (text, image) = asked["body"]["messages"][0]["content"]
    assert text["text"].startswith("Describe this image")
    assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


def test_another_prompt_describes_images_again_and_other_settings_do_not(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=1)
    base.write("photo.png", PNG)
    with media_server() as server:
        with seeing(base, server) as kb:
            kb.ingest()
        with seeing(base, server, models__vision__timeout_s=7) as kb:
            assert kb.ingest().run.indexed == 0
        with seeing(base, server, models__vision__prompt="무엇이 보이는가?") as kb:
            assert kb.ingest().run.indexed == 1
    assert len(server.script.asked) == 2


def test_a_recording_is_written_down_cited_by_time_and_sent_once(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=1)
    base.write("secret name.mp3", b"ID3 sound")
    with media_server() as server, hearing(base, server, models__speech__language="en") as kb:
        assert kb.ingest().run.indexed == 2
        hit = next(hit for hit in kb.search("when does the ship sail").hits if hit.doc_path.endswith("mp3"))
        assert hit.citation.kind is CitationKind.TIME
        assert hit.citation.uri == "secret%20name.mp3#t=0.000,70.250"
        assert kb.fetch_citation(hit.citation.uri).text == "The rope is dry.\nThe ship sails at noon."
        assert kb.fetch_citation("secret%20name.mp3#t=3").text.endswith("The ship sails at noon.")
        assert not failures(kb, force=True)
        assert kb.doctor().healthy
    (asked,) = server.script.asked
    assert (asked["model"], asked["language"], asked["response_format"]) == ("ears", "en", "verbose_json")
    assert asked["file"] == ("recording.mp3", b"ID3 sound")


def test_a_server_without_times_gives_one_text_for_the_whole_recording(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=0)
    base.write("talk.m4a", b"sound")
    with media_server(times=False) as server, hearing(base, server) as kb:
        kb.ingest()
        assert kb.fetch_citation("talk.m4a#t=0").text == "The rope is dry. The ship sails at noon."
    assert [asked["response_format"] for asked in server.script.asked] == ["verbose_json", "json"]


def test_times_that_make_no_sense_do_not_break_a_recording(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=0)
    base.write("talk.mp3", b"sound")
    strange = [
        {"start": "x", "end": -5, "text": "one"},
        {"start": 9e99, "end": 1, "text": "two"},
        {"start": 5, "end": 2, "text": "three"},
        {"start": 1, "text": 7},
    ]
    with media_server(stretches=strange[:3]) as server, hearing(base, server) as kb:
        assert kb.ingest().run.indexed == 1
        assert kb.fetch_citation("talk.mp3#t=0").text == "one\nthree"


def test_silence_is_a_reported_skip(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=0)
    base.write("still.mp3", b"sound")
    with media_server(stretches=[]) as server, hearing(base, server) as kb:
        (item,) = kb.ingest().items
    assert (item.outcome, item.reason) == (Outcome.SKIPPED, "nothing is said in it")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ({"status": 500}, "answered 500"),
        ({"status": 413}, "larger than the server takes"),
        ({"status": 404}, "models.vision.model"),
        ({"body": b"<html>"}, "no JSON"),
        ({"body": b"[1]"}, "something unexpected"),
        ({"body": b"{}"}, "without a caption"),
        ({"body": b"[" * 100_000}, "no JSON"),
        ({"key": KEY + "!"}, "models.vision.api_key_env"),
    ],
)
def test_what_goes_wrong_at_the_server_fails_the_file_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: dict[str, object], said: str
) -> None:
    monkeypatch.setenv("EYES_KEY", KEY)
    base = make_base(tmp_path, notes=1)
    base.write("photo.png", PNG)
    with (
        media_server(**script) as server,
        seeing(base, server, models__vision__api_key_env="EYES_KEY") as kb,
    ):
        told = failures(kb)
    assert said in told["photo.png"]
    assert KEY not in told["photo.png"]


def test_a_server_that_is_away_fails_images_and_the_next_run_reads_them(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=1)
    for number in range(3):
        base.write(f"photo{number}.png", PNG + bytes([number]))
    with media_server() as server:
        pass
    with seeing(base, server) as kb:
        told = failures(kb)
        assert len(told) == 3
        assert all("cannot be reached; is the server running there?" in reason for reason in told.values())
        assert kb.fetch_citation("n0.md#L1").text == "# Note 0"
    with media_server() as back, seeing(base, back) as kb:
        assert not failures(kb)


def test_a_server_that_points_elsewhere_is_not_followed(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=0)
    base.write("photo.png", PNG)
    with (
        media_server() as other,
        media_server(status=307, moved_to=f"{other.endpoint}/x") as server,
        seeing(base, server) as kb,
    ):
        assert "answered 307" in failures(kb)["photo.png"]
    assert other.script.asked == []


def test_the_key_is_sent_and_stands_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EYES_KEY", KEY)
    base = make_base(tmp_path, notes=0)
    base.write("photo.png", PNG)
    with media_server(key=KEY) as server:
        with seeing(base, server, models__vision__api_key_env="EYES_KEY") as kb:
            assert not failures(kb)
        with seeing(base, server, models__vision__api_key_env="NOT_THERE") as kb:
            assert "NOT_THERE is empty" in failures(kb, force=True)["photo.png"]
    held = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert held
    assert not [file for file in held if KEY.encode() in file.read_bytes()]


def test_the_doctor_lists_the_addresses(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=0)
    with base.open(
        models__vision__provider="openai",
        models__vision__endpoint="http://name:word@192.0.2.1/v1",
        models__speech__provider="openai",
        models__speech__endpoint="http://192.0.2.2/v1",
    ) as kb:
        listed = " ".join(kb.doctor().endpoints)
    assert "192.0.2.1/v1" in listed
    assert "192.0.2.2/v1" in listed
    assert "word" not in listed


def test_without_a_model_recordings_are_skipped_with_the_setting(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=0)
    base.write("talk.wav", wav_file(b"\0\0" * 16_000))
    with base.open(models__embedding__provider="none") as kb:
        (item,) = kb.ingest().items
    assert item.outcome is Outcome.SKIPPED
    assert "models.speech.provider is none" in (item.reason or "")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"models__speech__provider": "openai"}, "models.speech.endpoint is empty"),
        ({"models__speech__provider": "whisper"}, "no Whisper model in models.speech.path: it is empty"),
        ({"models__speech__provider": "whisper", "models__speech__path": "/nowhere"}, "/nowhere"),
    ],
)
def test_a_model_that_is_not_there_is_told_before_any_file_is_opened(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    base = make_base(tmp_path, notes=0)
    base.write("talk.wav", b"x")
    with base.open(models__embedding__provider="none", **settings) as kb:
        (item,) = kb.ingest().items
    assert said in (item.reason or "")
