"""A language model without a model, for tests. The contract suite holds it to what real ones promise."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from kebab.errors import EngineError
from kebab.ports import Ending, JsonSchema, Prompt


@dataclass
class FakeLanguageModel:
    """Says its pieces, then fails if told so; remembers what it was asked and whether it was stopped."""

    pieces: Sequence[str] = ()
    error: EngineError | None = None
    name: str = "fake:model"
    context_tokens: int = 4096
    prompts: list[Prompt] = field(default_factory=list)
    stopped: bool = False
    ending: Ending = Ending.DONE
    given: list[tuple[int, JsonSchema | None, float | None]] = field(default_factory=list)
    """Tokens, schema and seconds of each call."""

    def stream(
        self,
        prompt: Prompt,
        *,
        max_tokens: int,
        schema: JsonSchema | None = None,
        seconds: float | None = None,
    ) -> Generator[str, None, Ending]:
        self.prompts.append(prompt)
        self.given.append((max_tokens, schema, seconds))
        try:
            yield from self.pieces
            if self.error:
                raise self.error
            return self.ending
        except GeneratorExit:
            self.stopped = True
            raise
