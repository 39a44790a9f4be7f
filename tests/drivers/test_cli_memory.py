"""``kebab memory`` as a process: what a developer and an agent type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.drivers.conftest import Cli

pytest.importorskip("surrealdb", reason="the memory extra is not installed")

LINES = [
    {
        "agent_id": agent,
        "task_id": f"t{number}",
        "task_type": "fix",
        "task_description": text,
        "success": number != 2,
        "error": "timeout" if number == 2 else None,
        "quality_score": 0.9,
        "latency_ms": 2000,
        "cost_cents": 10 * number,
        "started_at": f"2026-03-0{number}T10:00:00Z",
        "documents_used": [f"docs/{number}.md"],
        "parent": "e1" if number == 2 else None,
        "id": f"e{number}",
    }
    for number, (agent, text) in enumerate(
        [
            ("ann", "Fix the flaky login test"),
            ("bob", "로그인 테스트를 고치기"),
            ("ann", "Write release notes"),
        ],
        start=1,
    )
]


@pytest.fixture
def filled(cli: Cli) -> Cli:
    done = cli("memory", "import", "-", stdin="\n".join(map(json.dumps, LINES)))
    assert (done.code, done.out) == (0, "recorded 3, failed 0\n")
    return cli


def ids(result: Any) -> list[str]:
    return [hit["execution"]["id"] for hit in result.json["hits"]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("search", "x"), "nothing like this was done before"),
        (("list",), "no recorded run fits"),
        (("agents",), "no recorded run fits"),
        (("curve", "ann"), "no run of ann is recorded"),
        (("tasks", "x"), "no task record is like this"),
        (("uses", "a.md"), "no recorded run used a.md"),
    ],
)
def test_an_empty_result_is_never_met_by_silence(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    done = cli("memory", *arguments)
    assert (done.code, done.out, said in done.err) == (1, "", True)
    assert cli("memory", *arguments, "--quiet").err == ""


def test_the_first_search_in_a_new_project_finds_nothing_and_makes_nothing(cli: Cli, tmp_path: Path) -> None:
    done = cli("memory", "search", "x", "--json")

    assert (done.code, done.json["hits"], done.json["degraded"]) == (1, [], [])
    assert list(tmp_path.rglob("journal")) == []
    assert list(tmp_path.rglob("shelf*")) == []


def test_a_run_is_recorded_and_found_again(cli: Cli) -> None:
    recorded = cli(
        "memory",
        "record",
        "소유권 문서 번역",
        "--agent",
        "ann",
        "--type",
        "docs",
        "--cost-cents",
        "7",
        "--json",
    )
    found = cli("memory", "search", "소유권", "--json")

    assert recorded.json["schema_version"] == "execution.v1"
    assert recorded.json["cost_cents"] == 7
    assert ids(found) == [recorded.json["id"]]
    assert found.json["hits"][0]["schema_version"] == "execution_hit.v1"


def test_a_search_shows_outcome_cost_and_signals(filled: Cli) -> None:
    done = filled("memory", "search", "login test")

    assert done.code == 0
    assert "ok 0.90 · ann · fix" in done.out
    assert "words: place 1" in done.out
    assert "meaning" not in done.out
    assert "semantic did not take part" in done.err


def test_nothing_found_is_exit_code_one(filled: Cli) -> None:
    assert filled("memory", "search", "zzz").code == 1


def test_filters_narrow_a_search(filled: Cli) -> None:
    def narrowed(*options: str) -> list[str]:
        return ids(filled("memory", "search", "login 테스트", "--min-score", "0", *options, "--json"))

    assert narrowed("--success") == ["e1"]
    assert narrowed("--agent", "bob") == ["e2"]
    assert narrowed("--before", "2026-03-02") == ["e1"]
    assert narrowed("--max-cost-cents", "15") == ["e1"]
    bad = filled("memory", "search", "x", "--after", "soon")
    assert (bad.code, "'soon' is not an ISO 8601 time" in bad.err) == (2, True)


def test_preferring_success_is_explained(filled: Cli) -> None:
    done = filled("memory", "search", "로그인", "--prefer", "success", "--json")

    (hit,) = done.json["hits"]
    assert hit["outcome_weight"] == 0.5
    assert "failed run counts" in hit["reason"]


def test_similar_takes_a_text_with_a_model_and_an_embedding_without(filled: Cli) -> None:
    refused = filled("memory", "similar", "unstable tests")
    assert refused.code == 2
    assert "no embedding model" in refused.err
    line = {**LINES[0], "id": "e9", "embedding": [1, 0, 0], "embedding_model": "mine@1"}
    filled("memory", "record", "--from-json", "-", stdin=json.dumps(line))

    assert ids(filled("memory", "similar", "--embedding", "-", "--json", stdin="[0.9, 0.1, 0]")) == ["e9"]
    wrong = filled("memory", "similar", "--embedding", "-", "--json", stdin="[1, 2]")
    assert wrong.error["code"] == "model_mismatch"


def test_the_built_in_model_finds_by_meaning(cli: Cli) -> None:
    static = {"KEBAB_MODELS__EMBEDDING__PROVIDER": "static"}
    cli("memory", "import", "-", stdin="\n".join(map(json.dumps, LINES)), **static)
    found = cli("memory", "search", "flaky login tests", "--json", **static)

    assert found.json["degraded"] == []
    assert ids(found)[0] == "e1"
    assert found.json["hits"][0]["semantic_rank"] == 1


def test_wrong_lines_are_reported_and_the_others_recorded(cli: Cli) -> None:
    lines = [json.dumps(LINES[0]), "oops", json.dumps({**LINES[1], "colour": "red"}), json.dumps(LINES[2])]
    done = cli("memory", "import", "-", "--json", stdin="\n".join(lines))

    assert done.code == 1
    assert done.json["recorded"] == 2
    assert [failure["line"] for failure in done.json["failures"]] == [2, 3]
    assert "colour" in done.json["failures"][1]["message"]


def test_exported_lines_can_be_imported(filled: Cli, tmp_path: Path) -> None:
    exported = filled("memory", "export")
    file = tmp_path / "all.ndjson"
    filled("memory", "export", str(file))

    assert [line["id"] for line in exported.lines] == ["e1", "e2", "e3"]
    assert file.read_text(encoding="utf-8") == exported.out
    assert filled("memory", "import", str(file), "--json").json["recorded"] == 3
    assert filled("memory", "stats", "--json").json["executions"] == 3


def test_curve_agents_causes_documents_list_and_stats(filled: Cli) -> None:
    assert [day["day"] for day in filled("memory", "curve", "ann", "--json").json["days"]] == [
        "2026-03-01",
        "2026-03-03",
    ]
    assert "trend: unknown" in filled("memory", "curve", "ann").out
    ranked = filled("memory", "agents", "--type", "fix", "--json").json["agents"]
    assert [agent["agent_id"] for agent in ranked] == ["ann", "bob"]
    assert 0 <= ranked[0]["low"] < ranked[0]["high"] <= 1
    assert [
        cause["execution"]["id"] for cause in filled("memory", "causes", "e2", "--json").json["causes"]
    ] == ["e1"]
    helped = filled("memory", "documents", "login test", "--json").json["documents"]
    assert helped[0]["document"] == "docs/1.md"
    assert [line.split("\t")[-1] for line in filled("memory", "list").out.splitlines()] == ["e3", "e2", "e1"]
    assert "executions     3 (67% succeeded)" in filled("memory", "stats").out


def test_free_form_tasks_are_imported_and_found(cli: Cli) -> None:
    task = {
        "schema_version": "task.v1",
        "id": "t1",
        "description": "요약 작업",
        "recorded_at": "2026-03-01T00:00:00Z",
    }
    cli("memory", "record", "--from-json", "-", stdin=json.dumps(task))
    found = cli("memory", "tasks", "요약", "--json")

    assert [hit["task"]["id"] for hit in found.json["hits"]] == ["t1"]


def test_pruning_says_what_it_would_do_and_does_it(filled: Cli) -> None:
    assert filled("memory", "prune", "--older-than", "1", "--dry-run").out == "would remove 3\n"
    assert filled("--readonly", "memory", "prune", "--older-than", "1").code == 2
    asked = filled("memory", "prune", "--older-than", "1", "--json")
    assert (asked.code, asked.error["hint"]) == (2, "confirm with --yes")
    assert filled("memory", "stats", "--json").json["executions"] == 3
    assert filled("memory", "prune", "--older-than", "1", "--yes", "--json").json["executions"] == 3
    assert filled("memory", "search", "login").code == 1


def test_the_engines_own_indexes_answer_when_asked_for(filled: Cli) -> None:
    native = {"KEBAB_MEMORY__SEARCH": "native"}

    assert ids(filled("memory", "search", "flaky login", "--json", **native)) == ["e1"]
    assert ids(filled("memory", "search", "로그인", "--json", **native)) == ["e2"]
    wrong = filled("memory", "search", "x", "--json", KEBAB_MEMORY__SEARCH="sideways")
    assert wrong.error["code"] == "config_invalid"


def test_an_unreachable_server_is_a_clear_error(cli: Cli) -> None:
    done = cli("memory", "search", "x", "--json", KEBAB_MEMORY__URL="ws://127.0.0.1:9")

    assert done.code == 2
    assert done.error["code"] == "engine_unavailable"
    assert "memory.url" in done.error["hint"]


def test_every_command_has_a_help_text(cli: Cli) -> None:
    shown = cli("memory", "--help").out
    for name in (
        "record",
        "similar",
        "search",
        "tasks",
        "curve",
        "agents",
        "import",
        "export",
        "stats",
        "prune",
    ):
        assert f"  {name} " in shown


def test_a_record_without_an_agent_is_refused(cli: Cli) -> None:
    done = cli("memory", "record", "something")

    assert (done.code, "--agent" in done.err) == (2, True)


def test_what_agents_recorded_cannot_steer_the_terminal(cli: Cli) -> None:
    hostile = "summary\x1b]0;owned\x07 of\nthe notes"
    recorded = ("memory", "record", hostile, "--agent", "a\x1b[2Jb", "--type", "t", "--error", "\x1b[31mno")
    assert cli(*recorded).code == 0
    shown = cli("memory", "search", "summary").out + cli("memory", "list").out
    assert "summary" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["search", "x", "-k", "0"], "limit is 0; it must be a whole number between 1 and 1000"),
        (["similar", "x", "--min-score", "2"], "min_score is 2.0; it must be a number between 0 and 1"),
        (["advise", "x", "--max-tokens", "3"], "max_tokens is 3; it must be a whole number between 20 and"),
    ],
)
def test_a_value_out_of_bounds_is_named_as_everywhere(cli: Cli, command: list[str], message: str) -> None:
    result = cli("memory", *command, "--json")
    assert (result.code, result.error["code"]) == (2, "invalid_input")
    assert message in result.error["message"]
