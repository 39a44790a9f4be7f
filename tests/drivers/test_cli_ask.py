"""Asking from the shell: answers, refusals, streams, explanations, repetition."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from contextlib import closing
from typing import Any

import pytest

from tests.adapters.llms.servers import OpenAiHandler, Script, serving
from tests.drivers.conftest import Cli

QUESTION = "How long are idempotency keys kept?"
NOWHERE = "Who painted the ceiling of the Sistine Chapel?"


def test_an_answer_shows_its_sentences_and_where_they_stand(library: Cli) -> None:
    result = library("ask", QUESTION)
    assert result.code == 0
    assert "72 hours" in result.out
    assert "[#1] work/" in result.out
    assert ".md#L" in result.out
    assert "trace ans_" in result.out


def test_a_question_without_an_answer_is_refused_with_what_came_nearest(library: Cli) -> None:
    result = library("ask", NOWHERE)
    assert result.code == 1
    assert "no answer" in result.out
    assert "not grounded" in result.out


def test_a_korean_refusal_is_korean(library: Cli) -> None:
    result = library("ask", "임진왜란은 왜 일어났나요?", "--json")
    assert result.code == 1
    assert (result.json["grounded"], result.json["lang"]) == (False, "ko")
    assert "찾지 못했습니다" in result.json["answer"]
    assert len(result.json["nearest"]) <= 3


def test_programs_get_an_answer_object(library: Cli) -> None:
    answer = library("ask", QUESTION, "--json").json
    assert answer["schema_version"] == "answer.v1"
    assert answer["grounded"]
    assert answer["refusal_reason"] is None
    assert answer["citations"][0]["citation"]["uri"].startswith("work/")
    assert "evidence" not in answer


def test_explain_adds_evidence_gate_and_timings(library: Cli) -> None:
    answer = library("ask", QUESTION, "--json", "--explain").json
    assert answer["steps"][0]["gate"]["features"]["coverage"] > 0.5
    assert answer["evidence"][0]["marker"] == 1
    assert "gate passed" in library("ask", QUESTION, "--explain").out


def test_a_stream_is_one_event_a_line_and_ends_with_the_answer(library: Cli) -> None:
    events = library("ask", QUESTION, "--stream", "--json").lines
    assert {event["schema_version"] for event in events} == {"answer_event.v1"}
    kinds = [event["kind"] for event in events]
    assert (kinds[0], kinds[-1], kinds.count("final")) == ("retrieval_done", "final", 1)
    said = "".join(event.get("delta", "") for event in events)
    assert said.strip() == events[-1]["answer"]["answer"]


def test_a_streamed_answer_reads_like_one_that_is_not(library: Cli) -> None:
    result = library("ask", QUESTION, "--stream")
    assert result.code == 0
    assert "72 hours" in result.out
    assert "[#1] work/" in result.out


def test_filters_bind_what_is_answered_from(library: Cli) -> None:
    assert library("ask", QUESTION, "--path", "recipes/**").code == 1


def test_an_answer_is_repeated_by_its_trace_id(library: Cli) -> None:
    trace = library("ask", QUESTION, "--json").json["trace_id"]
    again = library("ask", "--again", trace, "--json").json
    assert again["schema_version"] == "answer_comparison.v1"
    assert again["changes"] == []
    assert "nothing changed" in library("ask", "--again", trace).out


def test_an_unknown_trace_id_and_a_question_beside_one_are_errors(library: Cli) -> None:
    assert library("ask", "--again", "ans_nope", "--json").error["code"] == "invalid_input"
    assert library("ask", "--again", "ans_nope", "what?").code == 2


def test_an_empty_question_is_an_error(library: Cli) -> None:
    assert library("ask", " ").code == 2


def test_read_only_asking_works_and_stores_nothing(library: Cli) -> None:
    answer = library("ask", QUESTION, "--readonly", "--json")
    assert answer.code == 0
    assert library("ask", "--again", answer.json["trace_id"]).code == 2


def test_asking_where_nothing_was_ingested_says_so(cli: Cli) -> None:
    assert cli("ask", "anything", "--json").error["code"] == "not_indexed"


def test_a_model_that_is_not_there_is_an_error_with_a_hint(library: Cli) -> None:
    result = library(
        "ask",
        QUESTION,
        KEBAB_MODELS__LLM__PROVIDER="ollama",
        KEBAB_MODELS__LLM__MODEL="absent",
        KEBAB_MODELS__LLM__ENDPOINT="http://127.0.0.1:9",
    )
    assert result.code == 2
    assert "cannot be reached" in result.err
    assert "hint:" in result.err


def test_an_empty_key_variable_is_an_error_that_names_it(library: Cli) -> None:
    result = library(
        "ask",
        QUESTION,
        KEBAB_MODELS__LLM__PROVIDER="openai",
        KEBAB_MODELS__LLM__ENDPOINT="http://127.0.0.1:9/v1",
        KEBAB_MODELS__LLM__API_KEY_ENV="NO_SUCH_KEY",
    )
    assert result.code == 2
    assert "NO_SUCH_KEY" in result.err


def slow_model(address: str) -> dict[str, str]:
    return {
        "KEBAB_MODELS__LLM__PROVIDER": "openai",
        "KEBAB_MODELS__LLM__ENDPOINT": f"{address}/v1",
        "PYTHONUNBUFFERED": "1",
    }


def start(library: Cli, address: str) -> subprocess.Popen[str]:
    """``kebab ask --stream`` on a model that takes its time, after its first words have come out."""
    process = subprocess.Popen(
        library.command("ask", QUESTION, "--stream", "--json"),
        cwd=library.cwd,
        env=library.environ | slow_model(address),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["kind"] == "token":
            return process
    raise AssertionError("nothing was streamed")


def newest_answer(library: Cli) -> Any:
    database = next(library.home.rglob("kebab.sqlite"), None) or next(library.cwd.rglob("kebab.sqlite"))
    with closing(sqlite3.connect(database)) as connection:
        query = "SELECT answer_json FROM answers ORDER BY created_at DESC LIMIT 1"
        return json.loads(connection.execute(query).fetchone()[0])


@pytest.mark.parametrize("how", ["closed pipe", "ctrl-c"])
def test_leaving_a_stream_stops_the_model_and_keeps_what_had_arrived(library: Cli, how: str) -> None:
    script = Script(pieces=["They are kept "] * 500, pause_s=0.02)
    with serving(OpenAiHandler, script) as address:
        process = start(library, address)
        assert process.stdout is not None
        assert process.stderr is not None
        if how == "ctrl-c":
            process.send_signal(signal.SIGINT)
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=60) != 0
        assert script.hung_up.wait(10)
    assert "Traceback" not in said
    stored = newest_answer(library)
    assert (stored["refusal"], stored["partial"]) == ("cancelled", True)
    assert stored["text"].startswith("They are kept")


def test_what_stands_below_its_name_defines_it_without_naming_it(cli: Cli) -> None:
    said = {
        "fastphp": "An opinionated directive that proxies requests to a PHP server such as php-fpm.",
        "fastlog": "Enables and configures logging of HTTP requests, also known as access logs.",
    }
    for name, text in said.items():
        more = f"The `{name}` directive is not usually enough on its own."
        (cli.cwd / f"{name}.md").write_text(f"# {name}\n\n{text}\n\n{more}\n", encoding="utf-8")
    notes = "A line such as `fastlog a` leads to errors. A line such as `fastphp a` leads to errors."
    (cli.cwd / "upgrade.md").write_text(f"# Upgrade\n\n{notes}\n", encoding="utf-8")
    model = {"KEBAB_MODELS__EMBEDDING__PROVIDER": "static"}
    assert cli("init", ".").code == 0
    assert cli("ingest", **model).code == 0
    for name, text in said.items():
        assert text in cli("ask", f"What is {name}?", "--json", **model).json["answer"]
