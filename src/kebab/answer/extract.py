"""Answering without a model: the passages that answer the question, verbatim, cleaned for the eye."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import ClassVar

from kebab.answer.measured import FEATURES
from kebab.answer.prompt import inert
from kebab.answer.question import Question
from kebab.answer.rank import Scored
from kebab.answer.shapes import Shape
from kebab.answer.shown import show
from kebab.answer.words import pattern
from kebab.domain.answers import Evidence
from kebab.domain.ids import ChunkId
from kebab.domain.readable import readable
from kebab.domain.values import dataclass
from kebab.ports import Ending

_OWN, _CONTEXT = FEATURES.index("own"), FEATURES.index("context")
_BRIEF = 80
"""Characters of what may need its heading, and of a heading that may be shown with it."""
_LEANS = 0.25
"""Share of the question that the heading meets and the passage does not."""
_POINTS = 0.05
"""The same for one that begins with a pronoun: the heading may say what it is."""
# The last sign of all: a row of them is read once, not once a sign.
_SENTENCE = re.compile(r"[.!?。！？](?:(?![.!?。！？])\W)*$|[다요죠까]$")


@dataclass(frozen=True, slots=True)
class ExtractiveWriter:
    """Writes the chosen passages, each with its marker, in the source's language.

    Needs no model and gives the same answer every time.
    """

    name: ClassVar[str] = "extractive"
    prompt_version: ClassVar[str] = "extractive-v4"
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
            yield f"{written(one, item.marker)}\n"
        return Ending.DONE


def cited(chosen: Sequence[Scored], evidence: Sequence[Evidence]) -> list[tuple[Scored, Evidence]]:
    """Each passage with the evidence it stands in; one whose chunk was cut before it is left out."""
    items: Mapping[ChunkId, Evidence] = {item.chunk_id: item for item in evidence}
    pairs = [(one, items.get(one.chunk.chunk.chunk_id)) for one in chosen]
    return [(one, item) for one, item in pairs if item and one.passage.last <= item.text.count("\n")]


def told(one: Scored) -> str:
    """The passage for the eye, behind the heading or label without which it says too little: the keys below
    "Delete a line", the description below the name of a tool, "It is deprecated" below "Version 0".
    """
    passage, text = one.passage, show(one.passage)
    points = bool(pattern("pronoun").match(text))
    if (
        passage.shape not in (Shape.ITEM, Shape.SENTENCE, Shape.LIST)
        or (passage.shape is Shape.LIST and (passage.announced or passage.items))
        or (len(text) > _BRIEF and passage.shape is not Shape.LIST and not points)
        or passage.text in passage.below
    ):
        return text
    leans = one.features[_CONTEXT] - one.features[_OWN] >= (_POINTS if points else _LEANS)
    begins = passage.place == 0 and passage.shape is Shape.SENTENCE
    nameless = begins and not _SENTENCE.search(text) and not pattern("label").match(text)
    if leans or nameless:
        above = passage.below or (one.chunk.chunk.heading_path or (one.chunk.title,))[-1]
        head = readable(above).strip().rstrip(":：")
        return f"{head}: {text}" if head and len(head) <= _BRIEF and head not in text else text
    return text


def written(one: Scored, marker: int) -> str:
    """The passage as an answer shows it; several lines of code stand below what announces them."""
    passage = one.passage
    shown = inert(told(one))
    if passage.shape is not Shape.CODE:
        return f"{shown} [#{marker}]"
    code = inert(passage.code)
    lead = shown.removesuffix(inert(" ".join(passage.code.split()))).strip()
    if "\n" not in code.strip():
        return f"{lead} `{code.strip()}` [#{marker}]".strip()
    return f"{lead} [#{marker}]\n{code}" if lead else f"{code} [#{marker}]"
