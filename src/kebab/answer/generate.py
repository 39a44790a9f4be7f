"""Writing an answer: what a writer is, and the one that asks a language model."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import ClassVar, Protocol

from kebab.answer.decline import REFUSALS
from kebab.answer.prompt import PromptTemplate
from kebab.answer.question import Question
from kebab.answer.rank import Scored
from kebab.answer.structured import answer_schema, as_text
from kebab.domain.answers import Budget, Evidence
from kebab.domain.tokens import estimate_tokens
from kebab.ports import Ending, LanguageModel

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

    def overhead(self, question: Question) -> int:
        """Tokens that the writer reads besides the evidence."""
        ...

    def write(
        self,
        question: Question,
        evidence: Sequence[Evidence],
        chosen: Sequence[Scored],
        *,
        seconds: float | None = None,
    ) -> Generator[str, None, Ending]:
        """The answer as it is written, and why it ended; closing the iterator stops the writer.

        ``chosen`` are the passages that answer best, for a writer that only quotes. After ``seconds`` the
        writer stops, whatever it has.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """Fills the prompt and passes on what the model writes."""

    model: LanguageModel
    template: PromptTemplate
    max_answer_tokens: int = 1024

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

    def overhead(self, question: Question) -> int:
        return self.template.overhead(question)

    def write(
        self,
        question: Question,
        evidence: Sequence[Evidence],
        chosen: Sequence[Scored],
        *,
        seconds: float | None = None,
    ) -> Generator[str, None, Ending]:
        prompt = self.template.fill(question, evidence)
        used = estimate_tokens(prompt.system) + estimate_tokens(prompt.user)
        left = self.model.context_tokens - int(used * 1.125)
        room = min(self.max_answer_tokens, max(_LEAST_ANSWER_TOKENS, left))
        schema = answer_schema([item.marker for item in evidence]) if self.template.structured else None
        stream = self.model.stream(prompt, max_tokens=room, schema=schema, seconds=seconds)
        with closing(stream):
            heard = Heard(stream)
            yield from as_text(without_thoughts(heard), none=REFUSALS[question.lang])
        return heard.ending

    def _answer_room(self) -> int:
        return min(self.max_answer_tokens, self.model.context_tokens // 4)


@dataclass(slots=True)
class Heard:
    """The pieces of a generator and, once they are read, what it returned."""

    pieces: Generator[str, None, Ending]
    ending: Ending = Ending.DONE

    def __iter__(self) -> Generator[str, None, None]:
        self.ending = yield from self.pieces


def spent(budget: Budget, ending: Ending) -> str:
    """Which part of the budget stopped the writer, in words."""
    if ending is Ending.SECONDS:
        return f"stopped after {budget.seconds:g} s (rag.max_seconds)"
    return f"stopped at {budget.completion_tokens} tokens (rag.max_answer_tokens)"


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
