"""Session logs and spans, read as executions."""

# ruff: noqa: E501  # lines of logs and of a table are easier to read whole

from __future__ import annotations

import json
from typing import Any

import pytest

from kebab.errors import InvalidInput
from tests.unit.memory.conftest import Bench

CLAUDE = [
    {"type": "summary", "summary": "Login", "leafUuid": "x"},
    {
        "type": "user", "uuid": "u1", "sessionId": "s1", "cwd": "/home/me/shop", "gitBranch": "main", "version": "1.0",
        "timestamp": "2026-03-01T10:00:00.000Z", "message": {"role": "user", "content": "Fix the flaky login test"},
    },
    {
        "type": "assistant", "uuid": "a1", "sessionId": "s1", "timestamp": "2026-03-01T10:00:05.000Z",
        "message": {
            "model": "some-model", "role": "assistant", "usage": {"input_tokens": 900, "output_tokens": 50},
            "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "tests/login.py"}}],
        },
    },
    {
        "type": "user", "uuid": "r1", "sessionId": "s1", "timestamp": "2026-03-01T10:00:06.000Z",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "no such file"}]},
    },
    {
        "type": "user", "uuid": "u9", "sessionId": "s1", "isSidechain": True, "timestamp": "2026-03-01T10:00:07.000Z",
        "message": {"role": "user", "content": "Look for the login test"},
    },
    {
        "type": "assistant", "uuid": "a2", "sessionId": "s1", "timestamp": "2026-03-01T10:00:09.000Z",
        "message": {"model": "some-model", "content": [{"type": "text", "text": "The file is missing."}], "usage": {"output_tokens": 7}},
    },
    {
        "type": "user", "uuid": "u2", "sessionId": "s1", "cwd": "/home/me/shop", "timestamp": "2026-03-01T10:01:00.000Z",
        "message": {"role": "user", "content": [{"type": "text", "text": "It is in e2e/ now"}]},
    },
    {
        "type": "assistant", "uuid": "a3", "sessionId": "s1", "timestamp": "2026-03-01T10:01:30.000Z",
        "message": {"model": "some-model", "content": [{"type": "text", "text": "Fixed. password=hunter2hunter2"}]},
    },
]  # fmt: skip

CODEX = [
    {"timestamp": "2026-03-02T08:00:00.000Z", "type": "session_meta", "payload": {"id": "c1", "cwd": "/home/me/api", "cli_version": "0.9", "git": {"branch": "dev"}}},
    {"timestamp": "2026-03-02T08:00:00.100Z", "type": "turn_context", "payload": {"model": "gpt-x"}},
    {"timestamp": "2026-03-02T08:00:01.000Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>…</environment_context>"}]}},
    {"timestamp": "2026-03-02T08:00:02.000Z", "type": "event_msg", "payload": {"type": "user_message", "message": "Add paging to the API"}},
    {"timestamp": "2026-03-02T08:00:05.000Z", "type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "k"}},
    {"timestamp": "2026-03-02T08:00:09.000Z", "type": "response_item", "payload": {"type": "function_call_output", "call_id": "k", "output": json.dumps({"output": "2 failed", "metadata": {"exit_code": 1}})}},
    {"timestamp": "2026-03-02T08:00:10.000Z", "type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": {"input_tokens": 10, "output_tokens": 3}}}},
    {"timestamp": "2026-03-02T08:00:11.000Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two tests fail."}]}},
    {"timestamp": "2026-03-02T08:05:00.000Z", "type": "event_msg", "payload": {"type": "user_message", "message": "Go on"}},
    {"timestamp": "2026-03-02T08:05:09.000Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}},
]  # fmt: skip


def attribute(key: str, value: Any) -> dict[str, Any]:
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {"key": key, "value": {kind: str(value)}}


def span(key: str, parent: str, name: str, *, failed: bool = False, **given: Any) -> dict[str, Any]:
    return {
        "traceId": "t" * 32,
        "spanId": key,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": "1772352000000000000",
        "endTimeUnixNano": "1772352001500000000",
        "attributes": [
            attribute(f"gen_ai.{name_}".replace("__", "."), value) for name_, value in given.items()
        ],
        "status": {"code": 2, "message": "rate limited"} if failed else {},
    }


OTEL = {
    "resourceSpans": [
        {
            "resource": {"attributes": [attribute("service.name", "shop")]},
            "scopeSpans": [
                {
                    "spans": [
                        span("a", "", "invoke_agent helper", operation__name="invoke_agent", agent__name="helper", conversation__id="c"),
                        span("b", "a", "http"),
                        span(
                            "c", "b", "chat", failed=True, operation__name="chat", request__model="m", provider__name="acme",
                            usage__input_tokens=12,
                            input__messages=json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Sum up the orders"}]}]),
                        ),
                    ]
                }
            ],
        }
    ]
}  # fmt: skip


def lines(items: list[Any]) -> list[bytes]:
    return [json.dumps(item).encode() + b"\n" for item in items]


def test_each_prompt_of_claude_code_is_a_run(bench: Bench) -> None:
    report = bench.memory.import_from("claude-code", [lines(CLAUDE)])
    runs = {run.task_description: run for run in bench.store.every()}
    first, second = runs["Fix the flaky login test"], runs["It is in e2e/ now"]

    assert (report.new, report.failures, report.redacted) == (3, (), 1)
    assert (first.success, first.error, first.agent_id) == (False, "no such file", "claude-code")
    assert first.documents_used == ("tests/login.py",)
    assert (first.tokens, first.latency_ms) == ({"input": 900, "output": 57}, 9000)
    assert first.scope == {"session": "s1", "project": "/home/me/shop"}
    assert first.metadata == {"gitBranch": "main", "version": "1.0", "model": "some-model"}
    assert (second.success, second.parent, second.result) == (True, first.id, "Fixed. password=[redacted]")
    aside = runs["Look for the login test"]
    assert (aside.agent_role, aside.parent) == ("subagent", first.id)


def test_each_prompt_of_codex_is_a_run(bench: Bench) -> None:
    report = bench.memory.import_from("codex", [lines(CODEX)])
    first, second = sorted(bench.store.every(), key=lambda run: run.started_at)

    assert (report.new, report.failures) == (2, ())
    assert (first.task_description, first.success, first.error) == (
        "Add paging to the API",
        False,
        "2 failed",
    )
    assert (first.tokens, first.result, first.approach) == (
        {"input": 10, "output": 3},
        "Two tests fail.",
        "tools: shell ×1",
    )
    assert (second.parent, second.success, second.metadata["model"]) == (first.id, True, "gpt-x")


def codex(kind: str, stamp: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-02-23T11:41:{stamp}Z", "type": kind, "payload": payload}


def said(stamp: str, text: str, role: str = "user") -> dict[str, Any]:
    return codex("response_item", stamp, type="message", role=role, content=[{"type": "text", "text": text}])


def test_context_that_codex_adds_to_a_prompt_is_no_prompt(bench: Bench) -> None:
    log = [
        codex("session_meta", "00", id="s"),
        said("01", "Rules of this folder"),
        said("01", "More rules"),
        said("01", "Count the ships"),
        codex("event_msg", "01", type="user_message", message="Count the ships"),
        said("02", "Seven.", role="assistant"),
        said("03", "A note of the program"),
        said("03", "And the boats?"),
        codex("event_msg", "03", type="user_message", message="And the boats?"),
        codex("event_msg", "03", type="user_message", message="Quickly"),
        said("04", "Nine.", role="assistant"),
    ]
    report = bench.memory.import_from("codex", [lines(log)])
    runs = {run.task_description: run for run in bench.store.every()}

    assert (report.new, report.failures) == (3, ())
    assert sorted(runs) == ["And the boats?", "Count the ships", "Quickly"]
    assert [run.parent for run in (runs["Quickly"], runs["And the boats?"], runs["Count the ships"])] == [
        runs["And the boats?"].id,
        runs["Count the ships"].id,
        None,
    ]


def test_a_command_that_failed_in_codex_is_told_by_the_head_of_its_output(bench: Bench) -> None:
    def ended(head: str) -> list[Any]:
        return [
            codex("session_meta", "00", id=head),
            codex("event_msg", "01", type="user_message", message=head),
            codex("response_item", "02", type="function_call", name="exec_command"),
            codex(
                "response_item", "03", type="function_call_output", output=f"{head}\nOutput:\nExit code: 9"
            ),
        ]

    heads = [
        "Exit code: 1",
        "Chunk ID: a1\nProcess exited with code 2",
        "Exit code: 0\nWall time: 0.1 seconds",
    ]
    bench.memory.import_from("codex", [lines(ended(head)) for head in heads])
    failed = {run.task_description for run in bench.store.every() if not run.success}

    assert failed == set(heads[:2])


def test_spans_of_models_are_runs_with_their_parents(bench: Bench) -> None:
    report = bench.memory.import_from("otel", [[json.dumps(OTEL).encode()]])
    runs = {run.task_type: run for run in bench.store.every()}
    agent, chat = runs["invoke_agent"], runs["chat"]

    assert (report.new, report.failures) == (2, ())
    assert (agent.agent_id, agent.scope) == ("helper", {"session": "c", "project": "shop"})
    assert (chat.parent, chat.provider, chat.tokens) == (agent.id, "acme", {"input": 12})
    assert (chat.task_description, chat.success, chat.error) == ("Sum up the orders", False, "rate limited")
    assert chat.latency_ms == 1500


@pytest.mark.parametrize(
    ("form", "content"),
    [("claude-code", lines(CLAUDE)), ("codex", lines(CODEX)), ("otel", [json.dumps(OTEL).encode()])],
)
def test_reading_a_log_twice_records_nothing_twice_and_a_dry_run_records_nothing(
    bench: Bench, form: str, content: list[bytes]
) -> None:
    dry = bench.memory.import_from(form, [content], dry_run=True)
    assert (dry.new > 0, bench.memory.stats().executions) == (True, 0)
    first = bench.memory.import_from(form, [content])
    second = bench.memory.import_from(form, [content])

    assert (first.new, second.new, second.same) == (dry.new, 0, dry.new)


@pytest.mark.parametrize("form", ["claude-code", "codex", "otel"])
def test_a_line_that_cannot_be_read_costs_no_other(bench: Bench, form: str) -> None:
    logs: dict[str, list[Any]] = {"claude-code": CLAUDE, "codex": CODEX, "otel": [OTEL]}
    good = logs[form]
    report = bench.memory.import_from(form, [[b"oops\n", b"[1]\n", *lines(good)]])

    assert report.new == {"claude-code": 3, "codex": 2, "otel": 2}[form]
    assert 1 in {failure.line for failure in report.failures}


def test_an_unknown_form_is_refused(bench: Bench) -> None:
    with pytest.raises(InvalidInput, match="no format 'notes'"):
        bench.memory.import_from("notes", [[b"x"]])
