"""Language models behind an OpenAI-compatible address: llama.cpp's server, LM Studio, vLLM, hosted ones."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing

from kebab.adapters.llms.streaming import Event, LineStream, OutOfTime
from kebab.errors import ConfigInvalid
from kebab.ports import Ending, JsonSchema, Prompt


class OpenAiLanguageModel:
    """Chats with ``/chat/completions``: server-sent events, the last one ``[DONE]``."""

    def __init__(
        self,
        model: str,
        *,
        endpoint: str,
        api_key: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        timeout_s: float = 120.0,
        context_tokens: int = 8192,
    ) -> None:
        if not endpoint:
            raise ConfigInvalid("models.llm.endpoint is empty", hint='for example "http://127.0.0.1:8080/v1"')
        self.name = f"openai:{model or 'default'}"
        self.context_tokens = context_tokens
        # A server with a single model takes a request that names none.
        self._options: Event = {"model": model} if model else {}
        self._options |= {"temperature": temperature, "seed": seed, "stream": True}
        url = f"{endpoint.rstrip('/')}/chat/completions"
        self._stream = LineStream(url, model=model, timeout_s=timeout_s, api_key=api_key)

    def stream(
        self,
        prompt: Prompt,
        *,
        max_tokens: int,
        schema: JsonSchema | None = None,
        seconds: float | None = None,
    ) -> Generator[str, None, Ending]:
        messages = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        body = {**self._options, "messages": messages, "max_tokens": max_tokens}
        try:
            with closing(self._stream.formed(body, _form(schema), seconds=seconds)) as lines:
                return (yield from self._pieces(lines))
        except OutOfTime:
            return Ending.SECONDS

    def _pieces(self, lines: Iterable[str]) -> Generator[str, None, Ending]:
        reason = ""
        for line in lines:
            data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
            if data == "[DONE]":
                return _ending(reason)
            if data:
                choice = _choice(self._stream.parsed(data))
                if piece := choice.get("delta", {}).get("content"):
                    yield str(piece)
                reason = reason or str(choice.get("finish_reason") or "")
        if not reason:
            raise self._stream.failure("ended in the middle of the answer", hint="see the server's own log")
        return _ending(reason)


def _form(schema: JsonSchema | None) -> Event:
    if schema is None:
        return {}
    named = {"name": "answer", "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _ending(reason: str) -> Ending:
    return Ending.TOKENS if reason == "length" else Ending.DONE


def _choice(event: Event) -> Event:
    """The first choice; some servers end with an event that has none, only counts."""
    choices = event.get("choices") or [{}]
    return choices[0] if isinstance(choices[0], dict) else {}
