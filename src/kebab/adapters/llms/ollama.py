"""Language models served by Ollama, through its own API."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing

from kebab.adapters.llms.streaming import LineStream, OutOfTime
from kebab.errors import ConfigInvalid
from kebab.ports import Ending, JsonSchema, Prompt


class OllamaLanguageModel:
    """Chats with ``/api/chat``: one JSON object a line, the last one ``done``."""

    def __init__(
        self,
        model: str,
        *,
        endpoint: str = "http://127.0.0.1:11434",
        temperature: float = 0.0,
        seed: int = 0,
        timeout_s: float = 120.0,
        context_tokens: int = 8192,
    ) -> None:
        if not model:
            raise ConfigInvalid("models.llm.model is empty", hint='name one that "ollama list" shows')
        self.name = f"ollama:{model}"
        self.context_tokens = context_tokens
        self._model = model
        self._options = {"temperature": temperature, "seed": seed, "num_ctx": context_tokens}
        self._stream = LineStream(f"{endpoint.rstrip('/')}/api/chat", model=model, timeout_s=timeout_s)

    def stream(
        self,
        prompt: Prompt,
        *,
        max_tokens: int,
        schema: JsonSchema | None = None,
        seconds: float | None = None,
    ) -> Generator[str, None, Ending]:
        body = {
            "model": self._model,
            "stream": True,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "options": {**self._options, "num_predict": max_tokens},
        }
        form = {"format": dict(schema)} if schema is not None else {}
        try:
            with closing(self._stream.formed(body, form, seconds=seconds)) as lines:
                return (yield from self._pieces(lines))
        except OutOfTime:
            return Ending.SECONDS

    def _pieces(self, lines: Iterable[str]) -> Generator[str, None, Ending]:
        for line in filter(None, lines):
            event = self._stream.parsed(line)
            if piece := event.get("message", {}).get("content"):
                yield str(piece)
            if event.get("done"):
                return Ending.TOKENS if event.get("done_reason") == "length" else Ending.DONE
        raise self._stream.failure("ended without saying that it is done", hint="see Ollama's own log")
