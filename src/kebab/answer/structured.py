"""Answers as JSON, for servers that can hold a model to a form: every sentence with the evidence it rests on.

A server that offers no such thing writes free text, which passes through unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Sequence

from kebab.ports import JsonSchema

_OPENED = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*"sentences"\s*:\s*\[')
_MAYBE = re.compile(r"\s*(?:`{0,3}|```[a-z]*\s*)(?:\{[^}]{0,40})?")
_CLOSED = re.compile(r"\s{0,40}\]\s{0,40}\}")
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


def answer_schema(markers: Sequence[int]) -> JsonSchema:
    """The form of an answer: sentences, each with markers of the evidence given; none means no answer."""
    cited = {"type": "array", "items": {"type": "integer", "enum": list(markers)}}
    sentence = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "evidence": cited},
        "required": ["text", "evidence"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"sentences": {"type": "array", "items": sentence}},
        "required": ["sentences"],
        "additionalProperties": False,
    }


QUESTION_SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
    "additionalProperties": False,
}


def as_text(pieces: Iterable[str], *, none: str) -> Generator[str, None, None]:
    """The answer as text with markers: each sentence as soon as it is whole; free text as it comes.

    ``none`` is said for a list that holds no sentence.
    """
    held, passing, at, count = "", False, -1, 0
    for piece in pieces:
        if passing:
            yield piece
            continue
        held += piece
        if at < 0 and (opened := _OPENED.match(held)):
            at = opened.end()
        if at >= 0:
            written, at = _sentences(held, at)
            yield from written
            count += len(written)
        elif not _MAYBE.fullmatch(held):
            passing = True
            yield held
    if at < 0 and not passing and held:
        yield held
    if not count and _CLOSED.match(held, max(at, 0)):
        yield none


def _sentences(held: str, at: int) -> tuple[list[str], int]:
    """The sentences that are whole from ``at`` on, and where the rest begins."""
    written: list[str] = []
    while True:
        begin = _BETWEEN.match(held, at).end()  # type: ignore[union-attr]  # matches the empty text too
        try:
            sentence, at = _DECODER.raw_decode(held, begin)
        except ValueError:
            return written, at
        if isinstance(sentence, dict) and isinstance(sentence.get("text"), str):
            written.append(_marked(sentence))


def _marked(sentence: dict[str, object]) -> str:
    markers = sentence.get("evidence")
    numbers = [n for n in markers if isinstance(n, int)] if isinstance(markers, list) else []
    text = " ".join(str(sentence["text"]).split())
    return text + "".join(f" [#{n}]" for n in dict.fromkeys(numbers)) + "\n"


def question_of(text: str) -> str:
    """The question of a reply that is JSON, or the first line of one that is not; empty for neither."""
    found = text.strip().removeprefix("```json").removeprefix("```").strip()
    if found.startswith("{"):
        try:
            value, _ = _DECODER.raw_decode(found)
        except ValueError:
            return ""
        asked = value.get("question") if isinstance(value, dict) else None
        return " ".join(asked.split()) if isinstance(asked, str) else ""
    return found.split("\n", 1)[0].strip().strip('"').strip()
