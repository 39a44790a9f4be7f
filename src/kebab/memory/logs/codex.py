"""Codex's session logs (``~/.codex/sessions/**/rollout-*.jsonl``): each prompt and what followed is a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kebab.domain.executions import Execution
from kebab.memory.logs.turns import Turn, mapping, objects, text_of, when

SOURCE = "codex"
_USAGE = {"input_tokens": "input", "output_tokens": "output", "cached_input_tokens": "cache_read"}


def read(lines: Iterable[bytes]) -> Iterator[tuple[int, Execution | None]]:
    """The executions of one log with the line each began at; None for a line that cannot be read."""
    about: dict[str, Any] = {}
    turn: tuple[int, Turn] | None = None
    for number, line in objects(lines):
        if line is None:
            yield number, None
            continue
        kind, payload = line.get("type"), mapping(line.get("payload"))
        if kind in ("session_meta", "turn_context"):
            about |= payload
            continue
        prompt = _prompt(kind, payload)
        if prompt is not None and not (turn and turn[1].text == prompt and not turn[1].tools):
            parent = turn[1].id if turn else None
            if turn is not None:
                yield turn[0], turn[1].execution()
            turn = _opened(line, prompt, about, parent, number=number) or turn
        elif turn is not None:
            _add(turn[1], line, kind, payload)
    if turn is not None:
        yield turn[0], turn[1].execution()


def _prompt(kind: object, payload: dict[str, Any]) -> str | None:
    """What the user asked: told as an event, in older logs only as a message among others."""
    if kind == "event_msg" and payload.get("type") == "user_message":
        text = payload.get("message")
        return text.strip() if isinstance(text, str) and text.strip() else None
    if kind == "response_item" and payload.get("type") == "message" and payload.get("role") == "user":
        text = text_of(payload.get("content")).strip()
        return text if text and not text.startswith("<") and not text.startswith("# AGENTS.md") else None
    return None


def _opened(
    line: dict[str, Any], prompt: str, about: dict[str, Any], parent: str | None, *, number: int
) -> tuple[int, Turn] | None:
    moment, session = when(line.get("timestamp")), about.get("id")
    if moment is None or not isinstance(session, str):
        return None
    turn = Turn(
        source=SOURCE,
        session=session,
        key=str(line["timestamp"]),
        text=prompt,
        started=moment,
        ended=moment,
        agent=SOURCE,
        provider=str(about.get("model_provider") or "openai"),
        parent=parent,
        metadata={
            "model": str(about.get("model") or ""),
            "version": str(about.get("cli_version") or ""),
            "gitBranch": str(mapping(about.get("git")).get("branch") or ""),
        },
        project=str(about.get("cwd") or ""),
    )
    return number, turn


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
            return None
    found = mapping(given)
    code = mapping(found.get("metadata")).get("exit_code")
    if found.get("success") is False or (isinstance(code, int) and code != 0):
        return str(found.get("output") or found.get("content") or f"exit status {code}")
    return None
