"""Bringing documents in from the shell: reports, progress, stdin, interruption, init and the demo."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.drivers.conftest import Cli

ENDS = ("completed", "cancelled", "failed")


@pytest.fixture
def project(cli: Cli) -> Cli:
    """A folder with two notes and a configuration."""
    (cli.cwd / "a.md").write_text("# Anchors\n\nThe anchor holds in sand.\n", encoding="utf-8")
    (cli.cwd / "b.txt").write_text("밧줄은 말려서 보관한다.\n", encoding="utf-8")
    (cli.cwd / "c.zip").write_bytes(b"PK")
    assert cli("init", ".").code == 0
    return cli


# --- init ------------------------------------------------------------------------------------------


def test_init_writes_an_annotated_file_and_creates_the_data_folder(cli: Cli) -> None:
    result = cli("init", ".", "--json")
    assert result.json["schema_version"] == "init_report.v1"
    config = Path(result.json["config"])
    assert config == cli.cwd / ".kebab" / "config.toml"
    assert "# default_k = 10" in config.read_text()
    assert Path(result.json["data_dir"]).is_dir()


def test_init_never_overwrites_without_force(project: Cli) -> None:
    config = project.cwd / ".kebab" / "config.toml"
    config.write_text("# mine\n")
    refused = project("init", ".")
    assert refused.code == 2
    assert "already exists" in refused.err
    assert config.read_text() == "# mine\n"
    assert project("init", ".", "--force").code == 0
    assert config.read_text() != "# mine\n"


def test_init_without_a_folder_writes_the_users_own_file(cli: Cli) -> None:
    assert cli("init").code == 0
    assert (cli.home / ".config" / "kebab" / "config.toml").is_file()
    assert (cli.home / ".local" / "share" / "kebab").is_dir()


def test_init_calls_places_in_the_home_folder_as_people_do(cli: Cli) -> None:
    told = cli("init", str(cli.home), "-q").out.splitlines()
    assert told == [
        "wrote ~/.kebab/config.toml",
        "data in ~/.kebab/data",
        "documents in ~",
    ]


def test_init_writes_where_config_says(cli: Cli) -> None:
    assert cli("init", "--config", "own.toml", "--data-dir", "data").code == 0
    assert (cli.cwd / "own.toml").is_file()
    assert (cli.cwd / "data").is_dir()


# --- ingest ----------------------------------------------------------------------------------------


def test_ingest_tells_people_what_became_of_the_files(project: Cli) -> None:
    result = project("ingest")
    assert result.code == 0
    assert result.out.startswith("2 indexed")
    assert ".zip 1" in result.out
    assert project("ingest").out.startswith("2 unchanged")


def test_ingest_writes_progress_and_ends_with_the_report(project: Cli) -> None:
    *events, report = project("ingest", "--json").lines
    assert {event["schema_version"] for event in events} == {"ingest_progress.v1"}
    assert report["schema_version"] == "ingest_report.v1"
    assert [event["kind"] for event in events if event["kind"] in ENDS] == ["completed"]
    assert events[-1]["kind"] == "completed"
    assert {item["path"]: item["outcome"] for item in report["items"]}["a.md"] == "indexed"


def test_summary_only_leaves_the_files_out(project: Cli) -> None:
    assert project("ingest", "--json", "--summary-only").lines[-1]["items"] is None


def test_a_dry_run_says_what_it_would_do_and_does_nothing(project: Cli) -> None:
    result = project("ingest", "--dry-run")
    assert result.code == 0, result.err
    assert result.out.startswith("would be: 2 indexed")
    assert "a.md" in result.out
    assert project("search", "anchor", "--json").error["code"] == "not_indexed"
    assert not list((project.cwd / ".kebab").rglob("*.sqlite*"))
    assert project("ingest", "--dry-run", "--readonly").code == 0


def test_a_dry_run_of_stdin_stores_nothing(project: Cli) -> None:
    assert project("ingest").code == 0
    result = project("ingest", "-", "--title", "Log", "--dry-run", stdin="gull\n")
    assert result.out.startswith("would be: 1 indexed")
    assert project("search", "gull", "--mode", "lexical").code == 1


def test_single_files_and_stdin_are_ingested(project: Cli) -> None:
    assert project("ingest", "a.md").out.startswith("1 indexed")
    assert project("ingest", "-", "--title", "등대 일지", stdin="등대 불빛은 12초마다 돈다.\n").code == 0
    assert project("search", "등대 불빛", "--json").json["hits"][0]["title"] == "등대 일지"
    assert project("ingest", "-", stdin="x").code == 2


def test_a_file_that_fails_leaves_the_others_and_exits_with_1(project: Cli) -> None:
    (project.cwd / os.fsdecode(b"bad\xff.md")).write_text("# x\n", encoding="utf-8")
    result = project("ingest")
    assert result.code == 1
    assert result.out.startswith("2 indexed")
    assert "failed  bad\\xff.md: " in result.out


def test_a_missing_root_is_named_and_removes_nothing(project: Cli) -> None:
    assert project("ingest").code == 0
    gone = str(project.cwd / "unmounted")
    result = project("ingest", KEBAB_WORKSPACE__ROOT=gone)
    assert result.code == 1
    assert gone in result.out
    assert len(project("list", "docs", "--json").json["documents"]) == 2


# --- Ctrl-C ----------------------------------------------------------------------------------------


def many_notes(folder: Path, count: int) -> None:
    for number in range(count):
        text = f"# Note {number}\n\n" + f"Paragraph about rope {number} and 매듭 {number}.\n\n" * 60
        (folder / f"n{number:05}.md").write_text(text, encoding="utf-8")


def interrupted(cli: Cli, *, times: int) -> tuple[int, list[str]]:
    """Send SIGINT after the first indexed file, the given number of times; the exit code and stdout."""
    with subprocess.Popen(
        cli.command("ingest", "--json"),
        cwd=cli.cwd,
        env=cli.environ | {"KEBAB_INGEST__WORKERS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if json.loads(line).get("phase") == "index" and json.loads(line).get("done"):
                break
        for _ in range(times):
            os.kill(process.pid, signal.SIGINT)
            time.sleep(0.02)
        lines += list(process.stdout)
        return process.wait(timeout=60), lines


@pytest.mark.slow
def test_ctrl_c_finishes_the_current_file_and_the_next_run_goes_on(project: Cli) -> None:
    many_notes(project.cwd, 1500)
    code, lines = interrupted(project, times=1)
    ends = [json.loads(line) for line in lines if json.loads(line).get("kind") in ENDS]
    assert code == 1
    assert [end["kind"] for end in ends] == ["cancelled"]
    assert project("ingest", "--summary-only").code == 0
    assert len(project("list", "docs", "--json").json["documents"]) == 1502


@pytest.mark.slow
def test_a_second_ctrl_c_leaves_at_once_with_130_and_loses_nothing(project: Cli) -> None:
    many_notes(project.cwd, 1500)
    code, _ = interrupted(project, times=2)
    assert code == 130
    assert project("ingest", "--summary-only").code == 0
    assert len(project("list", "docs", "--json").json["documents"]) == 1502
    assert project("doctor").code == 0


def test_without_a_configuration_a_missing_folder_points_to_init(cli: Cli) -> None:
    result = cli("ingest")
    assert result.code == 1
    assert "KnowledgeBase" in result.out
    assert "kebab init FOLDER" in result.err


# --- demo ------------------------------------------------------------------------------------------


def test_the_demo_ingests_searches_and_explains_within_ten_seconds(cli: Cli) -> None:
    started = time.perf_counter()
    result = cli("demo")
    assert result.code == 0, result.err
    assert time.perf_counter() - started < 10
    assert "booking-service.md#L" in result.out
    assert "home/전세-계약.md#L" in result.out
    assert "bm25" in result.out
    assert "41 customers were charged twice" in " ".join(result.out.split())
    assert "holds no answer" in result.out
    assert "$ kebab search" in result.err
    assert not (cli.home / ".local").exists()


def test_a_cluster_that_is_none_is_an_error_that_names_the_key(cli: Cli) -> None:
    result = cli("ingest", "--on", "http://127.0.0.1:1")
    assert result.code == 2
    assert "ingest.on" in result.err


def test_a_small_run_needs_no_cluster(cli: Cli) -> None:
    (cli.cwd / "note.md").write_text("# Note\n\nalpha\n")
    cli("init", ".")
    assert "1 indexed" in cli("ingest", "--on", "ray://127.0.0.1:9").out


def test_init_names_the_folder_in_what_overwrites_its_file(cli: Cli) -> None:
    assert cli("init", ".").code == 0
    assert "hint: overwrite it with: kebab init . --force" in cli("init", ".").err


def test_init_replaces_no_file_by_one_that_cannot_be_used(cli: Cli) -> None:
    assert cli("init", ".").code == 0
    file = cli.cwd / ".kebab" / "config.toml"
    before = file.read_bytes()
    refused = cli("init", ".", "--force", "--data-dir", ".")
    assert (refused.code, "keep the data in a folder of its own" in refused.err) == (2, True)
    assert file.read_bytes() == before
