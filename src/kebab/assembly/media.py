"""The models that describe images and write recordings down, as the settings name them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.assembly.providers import secret
from kebab.config.sections import SpeechModel, VisionModel
from kebab.errors import ConfigInvalid
from kebab.ingest.parse.audio import OFF
from kebab.ports import Captioner, Transcriber

if TYPE_CHECKING:
    from kebab.adapters.documents.openai_endpoint import OpenAiEndpoint

_SHARE = 0.9
"""Of the time of a file, for a server to answer in: whoever gives up first can say why."""


@dataclass(frozen=True, slots=True)
class SpeechChoice:
    """How recordings are written down, where what was heard is kept, and how long a file may take."""

    model: SpeechModel
    cache: Path
    seconds: float


@dataclass(frozen=True, slots=True)
class CaptionChoice:
    """How images are described, where captions are kept, and how long a file may take."""

    model: VisionModel
    cache: Path
    seconds: float


@cache
def build_transcriber(choice: SpeechChoice) -> Transcriber:
    """One a process: a model is loaded once, and a server that is away is remembered.

    Raises ModelUnavailable, ConfigInvalid, and ImportError without the package of a local model.
    """
    from kebab.adapters.documents.kept import Kept

    model, kept = choice.model, Kept(choice.cache)
    if model.provider == "whisper":
        from kebab.adapters.documents.whisper_speech import WhisperTranscriber

        folder = Path(model.path)
        return WhisperTranscriber(folder, language=model.language, threads=model.threads, kept=kept)
    from kebab.adapters.documents.openai_speech import OpenAiTranscriber

    endpoint = _endpoint(model, "audio/transcriptions", section="models.speech", seconds=choice.seconds)
    return OpenAiTranscriber(model.model, language=model.language, endpoint=endpoint, kept=kept)


@cache
def build_captioner(choice: CaptionChoice) -> Captioner:
    """One a process. Raises ModelUnavailable, ConfigInvalid."""
    from kebab.adapters.documents.kept import Kept
    from kebab.adapters.documents.openai_captions import OpenAiCaptioner

    model = choice.model
    endpoint = _endpoint(model, "chat/completions", section="models.vision", seconds=choice.seconds)
    return OpenAiCaptioner(model.model, prompt=model.prompt, endpoint=endpoint, kept=Kept(choice.cache))


def why_no_speech(model: SpeechModel) -> str | None:
    """Why recordings are not written down here; None where they are. Nothing is loaded."""
    if model.provider == "none":
        return OFF
    if model.provider == "openai":
        return _why_no_endpoint(model.endpoint, "models.speech")
    if find_spec("onnx_asr") is None:
        return "recordings need onnx-asr, which is not installed: pip install 'kebab[speech]'"
    if not model.path or not Path(model.path, "vocab.json").is_file():
        return f"no Whisper model in models.speech.path: {model.path or 'it is empty'}"
    return None


def why_no_captions(model: VisionModel) -> str | None:
    """Why images are not described here; None where they are."""
    if model.provider == "none":
        return "images are described by a model only (models.vision.provider is none)"
    return _why_no_endpoint(model.endpoint, "models.vision")


def _why_no_endpoint(endpoint: str, section: str) -> str | None:
    if find_spec("httpx") is None:
        return f"{section} needs httpx, which is not installed: pip install 'kebab[remote]'"
    return None if endpoint else f"{section}.endpoint is empty"


def _endpoint(model: SpeechModel | VisionModel, path: str, *, section: str, seconds: float) -> OpenAiEndpoint:
    from kebab.adapters.documents.openai_endpoint import OpenAiEndpoint

    if not model.endpoint:
        raise ConfigInvalid(f"{section}.endpoint is empty", hint='for example "http://127.0.0.1:8080/v1"')
    return OpenAiEndpoint(
        f"{model.endpoint.rstrip('/')}/{path}",
        section=section,
        timeout_s=min(model.timeout_s, _SHARE * seconds),
        api_key=secret(model.api_key_env),
    )
