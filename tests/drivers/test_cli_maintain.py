"""Upkeep from the shell: index, doctor, reset, schema, models, export and import."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from kebab import wire
from tests.drivers.conftest import Cli, a_cli


@pytest.fixture
def project(cli: Cli) -> Cli:
    """A folder with two notes, ingested."""
    (cli.cwd / "a.md").write_text("# Anchors\n\nThe anchor holds in sand.\n", encoding="utf-8")
    (cli.cwd / "b.md").write_text("# 밧줄\n\n밧줄은 말려서 보관한다.\n", encoding="utf-8")
    assert cli("init", ".").code == 0
    assert cli("ingest").code == 0
    return cli


def data_of(cli: Cli) -> Path:
    return cli.cwd / ".kebab" / "data"


def test_doctor_finds_a_healthy_knowledge_base_well(project: Cli) -> None:
    result = project("doctor")
    assert result.code == 0, result.out
    assert result.out.splitlines()[-1] == "everything is well"
    assert "kebab contacts nothing" in result.out
    report = project("doctor", "--json").json
    assert report["ok"] is True
    assert all(check["ok"] for check in report["checks"])


def test_doctor_leaves_with_3_on_a_fault_and_repairs_what_is_derived(project: Cli) -> None:
    shutil.rmtree(data_of(project) / "index")
    broken = project("doctor")
    assert broken.code == 3
    assert "✗" in broken.out
    assert project("doctor", "--repair").code == 0
    assert project("doctor").code == 0
    assert project("search", "anchor", "--json").json["hits"][0]["doc_path"] == "a.md"


def test_index_rebuilds_what_is_derived(project: Cli) -> None:
    before = project("search", "밧줄", "--json").out
    shutil.rmtree(data_of(project) / "index")
    report = project("index", "--rebuild", "--json").lines[-1]
    assert (report["schema_version"], report["lexical_chunks"]) == ("index_report.v1", 2)
    assert project("search", "밧줄", "--json").out == before
    assert project("index").out.startswith("up to date")


def test_reset_asks_and_without_a_terminal_wants_yes(project: Cli) -> None:
    refused = project("reset", "data", "--json")
    assert (refused.code, refused.error["code"]) == (2, "invalid_input")
    assert "--yes" in refused.error["hint"]
    assert project("search", "anchor").code == 0


def test_reset_says_where_from_before_what(project: Cli) -> None:
    said = project("reset", "index", "--yes").err
    assert re.search(r"deletes from \S+ \(configured by .*\): the indexes; they are built again", said)


def test_reset_of_the_index_keeps_the_documents(project: Cli) -> None:
    assert project("reset", "index", "--yes", "--json").json["scope"] == "index"
    assert len(project("list", "docs", "--json").json["documents"]) == 2


def test_reset_of_the_data_keeps_configuration_and_notes(project: Cli) -> None:
    assert project("reset", "--yes").code == 0
    assert (project.cwd / ".kebab" / "config.toml").is_file()
    assert (project.cwd / "a.md").is_file()
    assert project("search", "anchor", "--json").error["code"] == "not_indexed"


def test_a_bundle_goes_into_a_file_and_not_to_stdout(project: Cli) -> None:
    refused = project("export", "-")
    assert refused.code == 2
    assert "name a file" in refused.err
    assert not (project.cwd / "-").exists()


def test_reset_of_all_keeps_the_inbox_and_says_so(project: Cli) -> None:
    assert project("ingest", "-", "--title", "Pipe", stdin="harbour").code == 0
    done = project("reset", "all", "--yes")
    inbox = project.cwd / ".kebab" / "data" / "inbox"
    assert done.code == 0
    assert f"kept {inbox}" in done.err.replace("\n", " ")
    assert list(inbox.rglob("*.md"))


def test_empty_stdin_is_refused(project: Cli) -> None:
    refused = project("ingest", "-", "--title", "Pipe", "--json", stdin="\n")
    assert (refused.code, refused.error["code"]) == (2, "invalid_input")


def test_schema_lists_every_wire_schema_and_the_counts(project: Cli) -> None:
    report = project("schema", "--json").json
    assert report["wire"] == wire.names()
    assert report["stats"]["documents"] == 2
    assert report["capabilities"]["lexical"] is True
    assert "search_hit.v1" in project("schema").out


def test_models_are_listed_and_switched_in_the_configuration(project: Cli) -> None:
    listed = project("models", "list", "--json").json["models"]
    assert any(model["provider"] == "static" for model in listed)
    alone = project("models", "use", "none")
    assert (alone.code, alone.err) == (0, "")
    assert '\nprovider = "none"' in (project.cwd / ".kebab" / "config.toml").read_text()
    assert project("models", "use", "no-such-model").code == 2


def test_a_bundle_can_be_searched_elsewhere(project: Cli, tmp_path: Path) -> None:
    bundle = tmp_path / "all.kebab"
    written = project("export", str(bundle), "--json").lines[-1]
    assert (written["schema_version"], written["documents"]) == ("bundle_report.v1", 2)
    elsewhere = a_cli(tmp_path / "elsewhere")
    assert elsewhere("init", ".").code == 0
    assert elsewhere("import", str(bundle)).code == 0
    there, here = (c("search", "anchor", "--json").json["hits"][0] for c in (elsewhere, project))
    assert (there["chunk_id"], there["snippet"]) == (here["chunk_id"], here["snippet"])
    assert elsewhere("import", str(bundle)).code == 2
    assert elsewhere("import", str(bundle), "--force").code == 0


def test_what_takes_long_tells_how_far_it_is_and_ends_with_the_report(project: Cli, tmp_path: Path) -> None:
    bundle = str(tmp_path / "all.kebab")
    steps = {
        ("export", bundle): ("bundle_report.v1", {"copy", "pack"}),
        ("import", bundle, "--force"): ("bundle_report.v1", {"unpack", "check", "words"}),
        ("doctor", "--full"): ("doctor.v1", {"check"}),
        ("doctor", "--repair"): ("doctor.v1", {"check"}),
        ("index", "--rebuild"): ("index_report.v1", {"words"}),
    }
    for command, (schema, phases) in steps.items():
        *events, report = project(*command, "--json").lines
        assert report["schema_version"] == schema, command
        assert {event["schema_version"] for event in events} == {"ingest_progress.v1"}
        kinds = [event["kind"] for event in events]
        assert (kinds[0], kinds[-1], set(kinds[1:-1])) == ("started", "completed", {"progress"}), command
        assert phases <= {event["phase"] for event in events}, command
    assert len(project("doctor", "--json").lines) == 1
    refused = project("import", bundle, "--json")
    assert (refused.code, refused.lines[-1]["kind"]) == (2, "failed")


@pytest.mark.parametrize("command", [["index"], ["reset", "--yes"], ["models", "use", "none"]])
def test_upkeep_respects_readonly(project: Cli, command: list[str]) -> None:
    assert project(*command, "--readonly", "--json").error["code"] == "readonly"
