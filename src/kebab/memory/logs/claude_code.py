"""Claude Code's session logs (``~/.claude/projects/*/*.jsonl``): each prompt and what followed is a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kebab.domain.executions import Execution
from kebab.memory.logs.turns import Turn, mapping, objects, text_of, when

SOURCE = "claude-code"
_PATHS = ("file_path", "notebook_path", "path")
_USAGE = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_input_tokens": "cache_read",
    "cache_creation_input_tokens": "cache_write",
}


def read(lines: Iterable[bytes]) -> Iterator[tuple[int, Execution | None]]:
    """The executions of one log with the line each began at; None for a line that cannot be read.

    A prompt of a sub-agent is a run whose parent is the turn that started it; the parent of another turn is
    the one before it.
    """
    turns: dict[bool, tuple[int, Turn]] = {}
    last: str | None = None
    for number, line in objects(lines):
        if line is None:
            yield number, None
            continue
        aside = bool(line.get("isSidechain"))
        prompt = _prompt(line)
        if prompt is not None:
            if aside in turns:
                begun, turn = turns.pop(aside)
                yield begun, turn.execution()
            parent = turns[False][1].id if aside and False in turns else last
            if (opened := _opened(line, prompt, parent, aside=aside)) is not None:
                turns[aside] = number, opened
                last = last if aside else opened.id
        elif aside in turns:
            _add(turns[aside][1], line)
    for begun, turn in turns.values():
        yield begun, turn.execution()


def _prompt(line: dict[str, Any]) -> str | None:
    """What the user asked; None for tool results, commands and notes of the program itself."""
    if line.get("type") != "user" or line.get("isMeta"):
        return None
    content = mapping(line.get("message")).get("content")
    if isinstance(content, list) and any(mapping(part).get("type") == "tool_result" for part in content):
        return None
    text = text_of(content).strip()
    return text if text and not text.startswith(("<command-", "<local-command", "Caveat:")) else None


def _opened(line: dict[str, Any], prompt: str, parent: str | None, *, aside: bool) -> Turn | None:
    moment = when(line.get("timestamp"))
    session, key = line.get("sessionId"), line.get("uuid")
    if moment is None or not isinstance(session, str) or not isinstance(key, str):
        return None
    details = {name: str(line.get(name) or "") for name in ("gitBranch", "version")}
    return Turn(
        source=SOURCE,
        session=session,
        key=key,
        text=prompt,
        started=moment,
        ended=moment,
        agent=SOURCE,
        provider="anthropic",
        parent=parent,
        role="subagent" if aside else None,
        metadata=details,
        project=str(line.get("cwd") or ""),
    )


def _add(turn: Turn, line: dict[str, Any]) -> None:
    turn.ended = max(turn.ended, when(line.get("timestamp")) or turn.ended)
    message = mapping(line.get("message"))
    content = message.get("content")
    if line.get("type") == "assistant":
        usage = mapping(message.get("usage"))
        for name, short in _USAGE.items():
            if isinstance(count := usage.get(name), int):
                turn.tokens[short] += count
        turn.metadata["model"] = str(message.get("model") or turn.metadata.get("model", ""))
        turn.answer = text_of(content).strip() or turn.answer
        turn.failure = turn.answer if line.get("isApiErrorMessage") else turn.failure
    for part in content if isinstance(content, list) else []:
        _add_part(turn, mapping(part))


def _add_part(turn: Turn, part: dict[str, Any]) -> None:
    if part.get("type") == "tool_use":
        turn.tools[str(part.get("name"))] += 1
        given = mapping(part.get("input"))
        turn.documents |= {
            given[name]: None for name in _PATHS if isinstance(given.get(name), str) and given[name]
        }
    elif part.get("type") == "tool_result":
        # The last word counts: a tool that failed and then succeeded is no failure of the run.
        turn.failure = text_of(part.get("content")) or "a tool failed" if part.get("is_error") else None
