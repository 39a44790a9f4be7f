"""Captions of images by a model behind an OpenAI-compatible address."""

from __future__ import annotations

from base64 import b64encode

from kebab.adapters.documents.kept import Kept
from kebab.adapters.documents.openai_endpoint import OpenAiEndpoint, Refusal
from kebab.domain.ids import content_hash, digest
from kebab.ports import Unopened

_MOST_TOKENS = 500


class OpenAiCaptioner:
    """Asks ``/chat/completions`` once for each image; what it said is kept."""

    def __init__(self, model: str, *, prompt: str, endpoint: OpenAiEndpoint, kept: Kept) -> None:
        self._model = model
        self._prompt = prompt
        self._endpoint = endpoint
        self._kept = kept

    @property
    def version(self) -> str:
        return f"openai:{self._model or 'default'}:{digest('prompt', self._prompt)[:8]}"

    def caption(self, image: bytes) -> str | Unopened:
        kind = _kind(image)
        if not kind:
            return Unopened("not described: models take PNG, JPEG, GIF and WebP images only")
        key = digest("caption", self.version, content_hash(image))
        kept = self._kept.read(key)
        if isinstance(kept, str):
            return kept
        found = self._asked(f"data:image/{kind};base64,{b64encode(image).decode()}")
        if isinstance(found, str):
            self._kept.write(key, found)
        return found

    def _asked(self, address: str) -> str | Unopened:
        content = [
            {"type": "text", "text": self._prompt},
            {"type": "image_url", "image_url": {"url": address}},
        ]
        body: dict[str, object] = {"model": self._model} if self._model else {}
        body |= {"messages": [{"role": "user", "content": content}], "temperature": 0}
        try:
            reply = self._endpoint.post(json={**body, "max_tokens": _MOST_TOKENS})
            said = reply["choices"][0]["message"]["content"]
        except Refusal as refused:
            raise refused.error from None
        except (KeyError, IndexError, TypeError) as error:
            raise self._endpoint.failure("answered without a caption") from error
        return said.strip() if isinstance(said, str) else ""


def _kind(image: bytes) -> str:
    """By its first bytes, as names lie; empty for what models do not take."""
    if image.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if image.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if image.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    return "webp" if image[:4] == b"RIFF" and image[8:12] == b"WEBP" else ""
