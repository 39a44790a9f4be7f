"""Stored answers: the JSON they are kept as, and what changed when one is repeated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields

import msgspec

from kebab.domain.answers import Answer, AnswerChange, AnswerComparison, AnswerVersions
from kebab.errors import Corrupt


def to_json(answer: Answer) -> str:
    """Everything the answer holds, evidence included."""
    return msgspec.json.encode(answer).decode()


def from_json(body: str) -> Answer:
    """The answer that ``to_json`` wrote. Raises Corrupt when the text is something else."""
    try:
        return msgspec.json.decode(body, type=Answer)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise Corrupt(
            f"a stored answer cannot be read: {error}",
            hint="ask the question anew; it was stored by another version",
        ) from error


def compare(before: Answer, after: Answer) -> AnswerComparison:
    """What differs: verdict, text, cited places, evidence, gate, versions. Times and ids always do."""
    return AnswerComparison(before, after, tuple(_changes(before, after)))


def _changes(before: Answer, after: Answer) -> Iterator[AnswerChange]:
    pairs = {
        "grounded": (str(before.grounded), str(after.grounded)),
        "refusal": (str(before.refusal or "none"), str(after.refusal or "none")),
        "text": (before.text, after.text),
        "citations": (_places(before), _places(after)),
        "evidence": (_evidence(before), _evidence(after)),
        "gate.confidence": (_confidence(before), _confidence(after)),
    }
    for field in fields(AnswerVersions):
        pairs[f"versions.{field.name}"] = (
            str(getattr(before.versions, field.name)),
            str(getattr(after.versions, field.name)),
        )
    for what, (old, new) in pairs.items():
        if old != new:
            yield AnswerChange(what, old, new)


def _places(answer: Answer) -> str:
    return " ".join(quote.citation.uri for quote in answer.citations)


def _evidence(answer: Answer) -> str:
    return json.dumps(
        [f"{item.citation.uri} {item.chunk_id[:8]}" for item in answer.evidence], ensure_ascii=False
    )


def _confidence(answer: Answer) -> str:
    return f"{answer.gate.confidence:.4f}" if answer.gate else "none"
