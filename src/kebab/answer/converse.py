"""Follow-up questions: what was said before becomes one question that stands alone, and is shown.

A language model, where there is one, rewrites the question; what it wrote counts only if it brings in no
number and no name that the conversation does not hold. Otherwise the rules of ``follow`` do it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from string import Template

from kebab.answer.generate import Heard, without_thoughts
from kebab.answer.markers import read_markers
from kebab.answer.prompt import inert, printable, read_template
from kebab.answer.structured import QUESTION_SCHEMA, question_of
from kebab.domain.answers import Answer, Condenser, FollowUp
from kebab.domain.tokens import estimate_tokens
from kebab.domain.values import dataclass
from kebab.errors import InvalidInput
from kebab.ports import Analyzer, LanguageModel, Prompt

TURNS = 4
"""How far back a conversation is read."""
_QUESTION_TOKENS = 160
_LONGEST = 500
_MARKER = re.compile(r"\s?\[#\d{1,4}\]")
_SAID = 400
"""Characters of an earlier answer that are read."""


@dataclass(frozen=True, slots=True)
class Condensed:
    follow: FollowUp
    tokens: int = 0
    """What a model read and wrote for it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Condenses a question and the answers before it into one question."""

    analyzer: Analyzer
    model: LanguageModel | None = None
    structured: bool = False

    def condense(
        self,
        asked: str,
        trace_id: str,
        find: Callable[[str], Answer | None],
        *,
        seconds: float | None = None,
    ) -> Condensed:
        """Raises InvalidInput where there is no such answer, and what the model raises."""
        turns = _turns(trace_id, find)
        if not turns:
            raise InvalidInput(
                f"there is no stored answer {trace_id!r}", hint="the id stands below every answer"
            )
        last = turns[-1]
        if self.model is not None:
            question, tokens = self._written(self.model, asked, turns, seconds=seconds)
            if question:
                return Condensed(FollowUp(trace_id, question, Condenser.MODEL), tokens)
        from kebab.answer.follow import stand_alone  # its patterns are for follow-ups alone

        known = last.request.follow.topic if last.request.follow else ()
        text, topic = stand_alone(asked, earlier=last.request.asked, topic=known, analyzer=self.analyzer)
        return Condensed(FollowUp(trace_id, text, Condenser.RULES, topic))

    def _written(
        self, model: LanguageModel, asked: str, turns: Sequence[Answer], *, seconds: float | None
    ) -> tuple[str, int]:
        """What the model makes of the question, or nothing where it cannot be trusted; and what it cost."""
        from kebab.answer.facts import facts, missing_from

        history = "\n\n".join(_told(turn) for turn in turns)
        prompt = Prompt(
            read_template("follow-v1.system.txt").strip(),
            Template(read_template("follow-v1.user.txt"))
            .substitute(history=history, question=inert(asked))
            .strip(),
        )
        schema = QUESTION_SCHEMA if self.structured else None
        stream = model.stream(prompt, max_tokens=_QUESTION_TOKENS, schema=schema, seconds=seconds)
        with closing(stream):
            text = "".join(without_thoughts(Heard(stream)))
        cost = sum(map(estimate_tokens, (prompt.system, prompt.user, text)))
        question = printable(inert(_MARKER.sub("", question_of(text))))
        fits = 0 < len(question) <= _LONGEST and not missing_from(facts(question), f"{history}\n{asked}")
        return (question if fits else ""), cost


def _turns(trace_id: str, find: Callable[[str], Answer | None]) -> list[Answer]:
    """The answers of the conversation that ends with this one, oldest first, as far back as is read."""
    found: list[Answer] = []
    wanted: str | None = trace_id
    while wanted and len(found) < TURNS and (answer := find(wanted)):
        found.append(answer)
        wanted = answer.request.follow.continues if answer.request.follow else None
    return found[::-1]


def _told(turn: Answer) -> str:
    said = " ".join(sentence.text for sentence in read_markers(turn.text)) if turn.grounded else "(no answer)"
    return f"Question: {inert(turn.request.asked)}\nAnswer: {inert(said[:_SAID])}"
