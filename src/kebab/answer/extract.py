"""Answering without a model: the passages that answer the question, verbatim, cleaned for the eye."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import ClassVar

from kebab.answer.passages import Passage, Shape
from kebab.answer.prompt import inert
from kebab.answer.question import Question
from kebab.answer.rank import Scored, show
from kebab.domain.answers import Evidence
from kebab.domain.ids import ChunkId
from kebab.domain.values import dataclass
from kebab.ports import Ending


@dataclass(frozen=True, slots=True)
class ExtractiveWriter:
    """Writes the chosen passages, each with its marker, in the source's language.

    Needs no model and gives the same answer every time.
    """

    name: ClassVar[str] = "extractive"
    prompt_version: ClassVar[str] = "extractive-v2"
    verbatim: ClassVar[bool] = True

    def budget(self, question: Question, most: int) -> int:
        return most

    def overhead(self, question: Question) -> int:
        return 0

    def write(
        self,
        question: Question,
        evidence: Sequence[Evidence],
        chosen: Sequence[Scored],
        *,
        seconds: float | None = None,
    ) -> Generator[str, None, Ending]:
        for one, item in cited(chosen, evidence):
            yield f"{written(one.passage, item.marker)}\n"
        return Ending.DONE


def cited(chosen: Sequence[Scored], evidence: Sequence[Evidence]) -> list[tuple[Scored, Evidence]]:
    """Each passage with the evidence it stands in; one whose chunk was cut before it is left out."""
    items: Mapping[ChunkId, Evidence] = {item.chunk_id: item for item in evidence}
    pairs = [(one, items.get(one.chunk.chunk.chunk_id)) for one in chosen]
    return [(one, item) for one, item in pairs if item and one.passage.last <= item.text.count("\n")]


def written(passage: Passage, marker: int) -> str:
    """The passage as an answer shows it; several lines of code stand below what announces them."""
    shown = inert(show(passage))
    if passage.shape is not Shape.CODE:
        return f"{shown} [#{marker}]"
    code = inert(passage.code)
    lead = shown.removesuffix(inert(" ".join(passage.code.split()))).strip()
    if "\n" not in code.strip():
        return f"{lead} `{code.strip()}` [#{marker}]".strip()
    return f"{lead} [#{marker}]\n{code}" if lead else f"{code} [#{marker}]"
