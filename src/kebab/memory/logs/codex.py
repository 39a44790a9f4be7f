"""Codex's session logs (``~/.codex/sessions/**/rollout-*.jsonl``): each prompt and what followed is a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from kebab.domain.executions import Execution
from kebab.memory.logs.turns import Turn, mapping, objects, text_of, when

SOURCE = "codex"
_EXITED = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d{1,9})$", re.MULTILINE)
"""How newer versions head the output of a command."""
_HEAD = 300
_USAGE = {"input_tokens": "input", "output_tokens": "output", "cached_input_tokens": "cache_read"}


def read(lines: Iterable[bytes]) -> Iterator[tuple[int, Execution | None]]:
    """The executions of one log with the line each began at; None for a line that cannot be read."""
    log = _Log()
    for number, line in objects(lines):
        if line is None:
            yield number, None
            continue
        yield from log.take(number, line)
    yield from log.end()


@dataclass(slots=True)
class _Log:
    """What was read of one log so far, and the turn that is being gathered."""

    about: dict[str, Any] = field(default_factory=dict)
    turn: tuple[int, Turn] | None = None
    last: str | None = None
    events: bool = False
    keys: set[str] = field(default_factory=set)

    def take(self, number: int, line: dict[str, Any]) -> Iterator[tuple[int, Execution]]:
        kind, payload = line.get("type"), mapping(line.get("payload"))
        if kind in ("session_meta", "turn_context"):
            self.about |= payload
        elif (prompt := self._prompt(kind, payload)) is not None:
            yield from self._begin(number, line, prompt)
        elif self.turn is not None:
            _add(self.turn[1], line, kind, payload)

    def end(self) -> Iterator[tuple[int, Execution]]:
        if self.turn is not None:
            number, turn = self.turn
            yield number, turn.execution()
            self.last, self.turn = turn.id, None
            self.keys.add(turn.key)

    def _prompt(self, kind: object, payload: dict[str, Any]) -> str | None:
        """What the user asked. Newer logs tell it as an event: what else the user is said to have written
        there is context that the program added."""
        if kind == "event_msg" and payload.get("type") == "user_message":
            text = payload.get("message")
            return text.strip() if isinstance(text, str) and text.strip() else None
        return None if self.events else _message(kind, payload)

    def _begin(self, number: int, line: dict[str, Any], prompt: str) -> Iterator[tuple[int, Execution]]:
        # A message that nothing was done about was context, or is told again by the event that follows.
        if not self.events and self.turn is not None and not self.turn[1].answered:
            self.turn = None
        self.events = self.events or line.get("type") == "event_msg"
        yield from self.end()
        self.turn = self._opened(number, line, prompt)

    def _opened(self, number: int, line: dict[str, Any], prompt: str) -> tuple[int, Turn] | None:
        moment, session = when(line.get("timestamp")), self.about.get("id")
        if moment is None or not isinstance(session, str):
            return None
        turn = Turn(
            source=SOURCE,
            session=session,
            key=self._key(str(line["timestamp"])),
            text=prompt,
            started=moment,
            ended=moment,
            agent=SOURCE,
            provider=str(self.about.get("model_provider") or "openai"),
            parent=self.last,
            metadata={
                "model": str(self.about.get("model") or ""),
                "version": str(self.about.get("cli_version") or ""),
                "gitBranch": str(mapping(self.about.get("git")).get("branch") or ""),
            },
            project=str(self.about.get("cwd") or ""),
        )
        return number, turn

    def _key(self, stamp: str) -> str:
        """Several prompts can carry one time: the second of them needs an id of its own."""
        keys = chain([stamp], (f"{stamp}#{number}" for number in count(2)))
        return next(key for key in keys if key not in self.keys)


def _message(kind: object, payload: dict[str, Any]) -> str | None:
    """What the user asked, in logs that have only messages."""
    if kind == "response_item" and payload.get("type") == "message" and payload.get("role") == "user":
        text = text_of(payload.get("content")).strip()
        return text if text and not text.startswith(("<", "# AGENTS.md")) else None
    return None


def _add(turn: Turn, line: dict[str, Any], kind: object, payload: dict[str, Any]) -> None:
    turn.ended = max(turn.ended, when(line.get("timestamp")) or turn.ended)
    what = payload.get("type")
    if kind == "response_item" and what == "message" and payload.get("role") == "assistant":
        turn.answer = text_of(payload.get("content")).strip() or turn.answer
    elif what in ("function_call", "custom_tool_call", "local_shell_call"):
        turn.tools[str(payload.get("name") or what)] += 1
    elif what in ("function_call_output", "custom_tool_call_output"):
        turn.failure = _failure(payload.get("output"))
    elif what == "token_count":
        usage = mapping(mapping(payload.get("info")).get("last_token_usage"))
        for name, short in _USAGE.items():
            if isinstance(count := usage.get(name), int):
                turn.tokens[short] += count
    elif what in ("error", "turn_aborted", "stream_error"):
        turn.failure = str(payload.get("message") or payload.get("reason") or what)


def _failure(output: object) -> str | None:
    """Why a command failed, where it says so: the last word counts."""
    given = output
    if isinstance(output, str):
        try:
            given = json.loads(output)
        except (ValueError, RecursionError):
            return _exited(output)
    found = mapping(given)
    code = mapping(found.get("metadata")).get("exit_code")
    if found.get("success") is False or (isinstance(code, int) and code != 0):
        return str(found.get("output") or found.get("content") or f"exit status {code}")
    return None


def _exited(output: str) -> str | None:
    found = _EXITED.search(output[:_HEAD])
    return output if found and int(found[1]) != 0 else None
