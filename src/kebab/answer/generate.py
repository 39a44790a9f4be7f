"""Writing an answer: what a writer is, and the one that asks a language model."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import ClassVar, Protocol

from kebab.answer.prompt import PromptTemplate
from kebab.answer.question import Question
from kebab.answer.rank import Scored
from kebab.domain.answers import Evidence
from kebab.domain.tokens import estimate_tokens
from kebab.ports import LanguageModel

_ANSWER_TOKENS = 1024
_LEAST_ANSWER_TOKENS = 64


class Writer(Protocol):
    """Writes an answer with ``[#n]`` markers from numbered evidence."""

    @property
    def name(self) -> str: ...

    @property
    def prompt_version(self) -> str: ...

    @property
    def verbatim(self) -> bool:
        """True when every sentence is the source's own, so that none of them speaks for the writer."""
        ...

    def budget(self, question: Question, most: int) -> int:
        """How many tokens of evidence the writer can take, at most ``most``."""
        ...

    def write(
        self, question: Question, evidence: Sequence[Evidence], chosen: Sequence[Scored]
    ) -> Generator[str, None, None]:
        """The answer as it is written; closing the iterator stops the writer.

        ``chosen`` are the passages that answer best, for a writer that only quotes.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """Fills the prompt and passes on what the model writes."""

    model: LanguageModel
    template: PromptTemplate

    verbatim: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def prompt_version(self) -> str:
        return self.template.version

    def budget(self, question: Question, most: int) -> int:
        room = self.model.context_tokens - self.template.overhead(question)
        # An eighth is kept for what the estimate misses, and the rest must leave room for an answer.
        return max(0, min(most, int(room * 0.875) - self._answer_room()))

    def write(
        self, question: Question, evidence: Sequence[Evidence], chosen: Sequence[Scored]
    ) -> Generator[str, None, None]:
        prompt = self.template.fill(question, evidence)
        used = estimate_tokens(prompt.system) + estimate_tokens(prompt.user)
        left = self.model.context_tokens - int(used * 1.125)
        room = max(_LEAST_ANSWER_TOKENS, min(_ANSWER_TOKENS, left))
        with closing(self.model.stream(prompt, max_tokens=room)) as pieces:
            yield from without_thoughts(pieces)

    def _answer_room(self) -> int:
        return min(_ANSWER_TOKENS, self.model.context_tokens // 4)


def without_thoughts(pieces: Iterable[str]) -> Generator[str, None, None]:
    """The pieces after a leading ``<think>…</think>``: what a reasoning model says to itself is no answer."""
    held = ""
    open_tag, close_tag = "<think>", "</think>"
    passing = False
    for piece in pieces:
        if passing:
            yield piece
            continue
        held += piece
        start = held.lstrip()
        if start.startswith(open_tag):
            _, closed, rest = start.partition(close_tag)
            if not closed:
                continue
            held = rest.lstrip()
        elif open_tag.startswith(start):
            continue
        passing = True
        if held:
            yield held
    if not passing and not held.lstrip().startswith(open_tag) and held:
        yield held
