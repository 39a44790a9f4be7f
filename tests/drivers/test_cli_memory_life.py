"""``kebab memory get|update|feedback|delete|advise|…`` as a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.drivers.conftest import Cli

pytest.importorskip("surrealdb", reason="the memory extra is not installed")


def record(cli: Cli, description: str, *options: str) -> str:
    done = cli("memory", "record", description, "--agent", "ann", "--json", *options)
    assert done.code == 0, done.err
    return str(done.json["id"])


def test_a_run_is_followed_through_its_life(cli: Cli) -> None:
    key = record(
        cli, "Deploy the shop", "--id", "d1", "--tag", "prod", "--scope", "project=shop", "--meta", "try=2",
        "--tokens", "input=900", "--cost-cents", "0.25", "--approach", "blue and green",
    )  # fmt: skip
    known = cli("memory", "get", key, "--json").json
    assert (known["tags"], known["scope"], known["metadata"]) == (["prod"], {"project": "shop"}, {"try": 2})
    assert (known["tokens"], known["cost_cents"], known["exact_cost_cents"]) == ({"input": 900}, 0, 0.25)

    judged = cli("memory", "feedback", key, "--failure", "--note", "reverted", "--by", "ci", "--json").json
    assert (judged["success"], judged["quality_score"]) == (False, 0.0)
    assert [each["note"] for each in judged["feedback"]] == ["reverted"]
    changed = cli("memory", "update", key, "lesson=drain first", 'tags=["prod", "hot"]', "--json").json
    assert (changed["lesson"], changed["tags"]) == ("drain first", ["prod", "hot"])
    assert cli("memory", "update", key, "colour=red", "--json").error["code"] == "invalid_input"
    taken = cli("memory", "record", "Something else", "--agent", "bob", "--id", "d1", "--json")
    assert (taken.code, taken.error["code"]) == (2, "conflict")
    assert cli("memory", "delete", key).out == "deleted 1\n"
    assert cli("memory", "delete", key).code == 1
    assert cli("memory", "get", key, "--json").error["code"] == "record_not_found"


def test_advice_is_given_where_there_is_some(cli: Cli) -> None:
    record(cli, "Fix the flaky login test", "--failure", "--error", "toast not found", "--id", "a")
    record(cli, "Fix the flaky login test", "--lesson", "wait for the cookie", "--id", "b", "--parent", "a")
    told = cli("memory", "advise", "the flaky login test")

    assert told.code == 0
    assert "tried 2 times, 1 worked" in told.out
    assert "lesson: wait for the cookie [b]" in told.out
    assert "toast not found [a]" in told.out
    never = cli("memory", "advise", "bake sourdough bread", "--json")
    assert (never.code, never.json["groups"], never.json["text"]) == (1, [], "")
    effects = cli("memory", "effects", "a", "--json").json["effects"]
    assert [each["execution"]["id"] for each in effects] == ["b"]


def test_a_session_log_is_imported_after_a_rehearsal(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.jsonl"
    prompt = {
        "type": "user", "uuid": "u", "sessionId": "s", "timestamp": "2026-03-01T10:00:00Z",
        "message": {"role": "user", "content": "Fix the login test"},
    }  # fmt: skip
    log.write_text(json.dumps(prompt), encoding="utf-8")
    dry = cli("memory", "import", str(log), "--format", "claude-code", "--dry-run", "--json")
    assert (dry.json["new"], dry.json["dry_run"]) == (1, True)
    assert cli("memory", "stats", "--json").json["executions"] == 0
    assert cli("memory", "import", str(log), "--format", "claude-code").out == "recorded 1, failed 0\n"
    assert cli("memory", "import", str(log), "--format", "claude-code", "--json").json["same"] == 1


def test_a_link_is_told_of_and_one_to_an_unknown_run_is_refused(cli: Cli) -> None:
    cause, effect = (
        record(cli, "Upgrade the parser", "--id", "p1"),
        record(cli, "Mend the tests", "--id", "t1"),
    )
    done = cli("memory", "link", cause, effect, "--json")
    assert (done.code, done.json) == (
        0,
        {
            "schema_version": "memory_change.v1",
            "action": "linked",
            "executions": 2,
            "dry_run": False,
            "tasks": 0,
        },
    )
    assert cli("memory", "link", cause, effect).err == "p1 led to t1\n"
    for pair in ((cause, "nobody"), ("nobody", effect)):
        refused = cli("memory", "link", *pair, "--json")
        assert (refused.code, refused.error["code"]) == (2, "record_not_found")
        assert "nobody" in refused.error["message"]
    assert [run["execution"]["id"] for run in cli("memory", "causes", effect, "--json").json["causes"]] == [
        "p1"
    ]
