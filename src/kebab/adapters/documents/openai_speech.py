"""Speech written down by a model behind an OpenAI-compatible address."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from kebab.adapters.documents.kept import Kept
from kebab.adapters.documents.openai_endpoint import OpenAiEndpoint, Refusal, Reply
from kebab.domain.ids import content_hash, digest
from kebab.ports import Heard, Spoken, Unopened

_LONGEST_S = 1_000_000


class OpenAiTranscriber:
    """Sends a recording once to ``/audio/transcriptions``; what it replied is kept.

    Stretches with times are asked for; a server that has none gives one text for the whole recording.
    """

    def __init__(self, model: str, *, language: str, endpoint: OpenAiEndpoint, kept: Kept) -> None:
        self._model = model
        self._language = language
        self._endpoint = endpoint
        self._kept = kept

    @property
    def version(self) -> str:
        return f"openai:{self._model or 'default'}:{self._language or 'any'}"

    def listen(self, recording: bytes, *, ending: str, seconds: float) -> Heard | Unopened:
        key = digest("speech", self.version, content_hash(recording))
        kept = self._kept.read(key)
        if isinstance(kept, list):
            return Heard(tuple(Spoken(*one) for one in kept))
        reply = self._asked(recording, ending)
        spoken = tuple(_spoken(reply))
        self._kept.write(key, spoken)
        return Heard(spoken)

    def _asked(self, recording: bytes, ending: str) -> Reply:
        try:
            return self._sent(recording, ending, form="verbose_json")
        except Refusal:
            pass
        try:
            return self._sent(recording, ending, form="json")
        except Refusal as refused:
            raise refused.error from None

    def _sent(self, recording: bytes, ending: str, *, form: str) -> Reply:
        # The name says the format, as the server knows no other; that of the user's file stays here.
        data = {"response_format": form, "temperature": "0"}
        data |= {"model": self._model} if self._model else {}
        data |= {"language": self._language} if self._language else {}
        return self._endpoint.post(data=data, files={"file": (f"recording{ending}", recording)})


def _spoken(reply: Reply) -> Iterator[Spoken]:
    """The stretches of a reply in order of time, or its text as one."""
    stretches = reply.get("segments")
    if isinstance(stretches, list) and stretches:
        found = (_stretch(one) for one in stretches if isinstance(one, dict))
        yield from sorted((one for one in found if one.text), key=lambda one: (one.start, one.end))
    elif isinstance(text := reply.get("text"), str) and text.strip():
        yield Spoken(" ".join(text.split()), 0, _milliseconds(reply.get("duration")))


def _stretch(one: Reply) -> Spoken:
    start, end = _milliseconds(one.get("start")), _milliseconds(one.get("end"))
    text = one.get("text")
    return Spoken(" ".join(text.split()) if isinstance(text, str) else "", start, max(start, end))


def _milliseconds(seconds: object) -> int:
    """0 for what is no time."""
    if isinstance(seconds, str):
        try:
            seconds = float(seconds)
        except ValueError:
            return 0
    if not isinstance(seconds, (int, float)) or not isfinite(seconds):
        return 0
    return round(1000 * min(max(seconds, 0), _LONGEST_S))
