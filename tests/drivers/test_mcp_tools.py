"""The tools of the MCP server, each with what it gives, what it refuses and what it says of a miss."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from kebab.app import Kebab
from kebab.domain.tokens import estimate_tokens
from kebab.errors import InvalidInput
from kebab.mcp.run import Options, build_server
from kebab.mcp.text import MAX_TOKENS
from kebab.mcp.tools import TOOLS
from tests.drivers.mcp_talk import call, calls, failed, opened, size_of, structured, told, with_client

VAULT = Path(__file__).parents[2] / "examples" / "vault"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kebab]:
    """The sample vault, ingested. Tests may add to it, and rely on nothing that others add."""
    folder = tmp_path_factory.mktemp("vault")
    shutil.copytree(VAULT, folder / "notes")
    with opened(folder) as kebab:
        kebab.ingest()
        yield kebab


def definitions(kebab: Kebab, **options: Any) -> list[types.Tool]:
    async def talk(client: Client) -> list[types.Tool]:
        return (await client.list_tools()).tools

    return with_client(build_server(kebab, Options(**options)), talk)


def test_all_definitions_together_stay_under_nine_thousand_characters(vault: Kebab) -> None:
    assert sum(map(size_of, definitions(vault))) < 9000


def test_every_definition_says_when_to_use_the_tool_and_whether_it_writes(vault: Kebab) -> None:
    for tool in definitions(vault):
        assert tool.description
        assert tool.annotations
        assert tool.annotations.read_only_hint is not None
        assert tool.annotations.open_world_hint is False


def test_the_input_schema_of_every_tool_names_only_keys_of_its_request(vault: Kebab) -> None:
    requests = {tool.name: tool.request for tool in TOOLS}
    for tool in definitions(vault):
        known = set(requests[tool.name].__struct_fields__)
        assert set(tool.input_schema["properties"]) <= known
        assert tool.input_schema["type"] == "object"


def test_readonly_removes_the_writing_tools(tmp_path: Path, vault: Kebab) -> None:
    names = {tool.name for tool in definitions(vault)}
    with Kebab(vault.settings, readonly=True) as readonly:
        left = {tool.name for tool in definitions(readonly)}
    assert names - left == {"ingest_text", "ingest_file", "memory_record", "memory_feedback"}


def test_a_selection_offers_these_tools_and_no_others(vault: Kebab) -> None:
    assert {tool.name for tool in definitions(vault, tools=("search", "fetch"))} == {"search", "fetch"}
    with pytest.raises(InvalidInput, match="no tool 'serch'"):
        build_server(vault, Options(tools=("serch",)))


def test_a_tool_that_is_not_offered_cannot_be_called(vault: Kebab) -> None:
    async def talk(client: Client) -> None:
        with pytest.raises(MCPError, match="there is no tool 'ask'"):
            await client.call_tool("ask", {"question": "why?"})

    with_client(build_server(vault, Options(tools=("search",))), talk)


def test_a_hit_is_cited_and_its_citation_can_be_fetched(vault: Kebab) -> None:
    (found,) = calls(vault, ("search", {"query": "restic restore", "k": 3}))
    first = structured(found)["hits"][0]
    uri = first["citation"]["uri"]
    assert f"1. {uri}" in told(found)
    read = call(vault, "fetch", {"reference": uri})
    assert structured(read)["citation"]["uri"] == uri
    assert told(read).splitlines()[0] == uri


def test_context_adds_the_lines_around_cited_lines(vault: Kebab) -> None:
    read = structured(call(vault, "fetch", {"reference": "homelab/백업.md#L25", "context": 2}))
    assert (read["line_start"], read["line_end"]) == (23, 27)


def test_numbered_lines_of_a_fetch_are_those_of_the_file(vault: Kebab) -> None:
    lines = (VAULT / "homelab" / "백업.md").read_text().split("\n")
    shown = told(call(vault, "fetch", {"reference": "homelab/백업.md#L8-L12"})).splitlines()[1:]
    assert shown == [f"{number}| {lines[number - 1]}" for number in range(8, 13)]


def test_a_document_can_be_fetched_by_path_by_id_and_by_resource_address(vault: Kebab) -> None:
    by_path = structured(call(vault, "fetch", {"reference": "README.md"}))
    by_id = structured(call(vault, "fetch", {"reference": by_path["doc_id"]}))
    by_address = structured(call(vault, "fetch", {"reference": "kebab://default/README.md"}))
    assert by_path == by_id == by_address


def test_a_chunk_can_be_fetched_by_id(vault: Kebab) -> None:
    hit = structured(call(vault, "search", {"query": "restic", "k": 1}))["hits"][0]
    assert structured(call(vault, "fetch", {"reference": hit["chunk_id"]}))["doc_id"] == hit["doc_id"]


def test_a_long_document_is_cut_to_the_budget_and_says_where(vault: Kebab) -> None:
    read = call(vault, "fetch", {"reference": "README.md", "max_tokens": 50})
    found = structured(read)
    assert found["truncated"]
    assert f"cut after line {found['line_end']}" in told(read)
    assert found["citation"]["end"] == found["line_end"]


def test_a_name_that_is_almost_right_is_answered_with_the_right_one(vault: Kebab) -> None:
    missed = call(vault, "fetch", {"reference": "health/runing-plan.md"})
    assert failed(missed) == "doc_not_found"
    assert "did you mean: health/running-plan.md" in told(missed)


def test_a_filter_that_empties_the_page_is_named_with_the_nearest_value(vault: Kebab) -> None:
    missed = call(vault, "search", {"query": "backup", "tag": "homelb"})
    assert not missed.is_error
    (note,) = [note for note in structured(missed)["degraded"] if note["code"] == "filter_empty"]
    assert "homelb" in note["message"]
    assert "homelab" in note["hint"]
    assert told(missed).count("no document has the tag homelb") == 1


def test_no_hits_are_a_result_that_says_what_to_try(vault: Kebab) -> None:
    missed = call(vault, "search", {"query": "qqzzxx"})
    assert structured(missed)["hits"] == []
    assert "no hits" in told(missed)
    assert "try other" in told(missed)


def test_the_next_page_begins_where_the_last_one_ended(vault: Kebab) -> None:
    first = structured(call(vault, "search", {"query": "the plan", "k": 3}))
    second = structured(call(vault, "search", {"query": "the plan", "k": 3, "cursor": first["next_cursor"]}))
    assert [hit["rank"] for hit in second["hits"]] == [4, 5, 6]


def test_an_answer_cites_and_a_refusal_is_a_result(vault: Kebab) -> None:
    answered, refused = calls(
        vault,
        ("ask", {"question": "When is the half marathon?"}),
        ("ask", {"question": "Who painted the ceiling of the opera in Vienna?"}),
    )
    assert structured(refused)["grounded"] is False
    assert not refused.is_error
    assert "no answer in the documents" in told(refused)
    assert structured(answered)["grounded"] is True
    assert "26 April 2026" in told(answered)
    assert "[#1] health/running-plan.md#L10" in told(answered)


def test_why_names_the_place_of_a_document(vault: Kebab) -> None:
    found = call(vault, "why", {"reference": "homelab/백업.md", "query": "restic"})
    assert structured(found)["shown"]
    assert told(found).startswith("homelab/백업.md: shown")


def test_a_brief_gives_cited_lines_and_runs_within_its_budget(vault: Kebab) -> None:
    recorded = call(
        vault,
        "memory_record",
        {"task_description": "restore the photo backup", "success": False, "error": "no password at hand"},
    )
    found = call(vault, "brief", {"task": "restore the photo backup with restic", "max_tokens": 600})
    held = structured(found)
    assert held["tokens"] <= 600
    assert "homelab/백업.md#" in told(found)
    assert structured(recorded)["id"] in told(found)
    assert "it is new" in told(call(vault, "brief", {"task": "qqzzxx wwvvkk"}))
    starved = told(call(vault, "brief", {"task": "restore the photo backup with restic", "max_tokens": 5}))
    assert re.match(r"\d+ more did not fit into max_tokens", starved)


def test_related_notes_come_with_reasons(vault: Kebab) -> None:
    found = call(vault, "related", {"reference": "README.md"})
    assert structured(found)["note"]["doc_path"] == "README.md"
    assert "README.md" in told(found)


def test_a_list_has_pages(vault: Kebab) -> None:
    first = structured(call(vault, "list_documents", {"limit": 2, "source": "default"}))
    second = structured(call(vault, "list_documents", {"limit": 2, "source": "default", "offset": 2}))
    assert first["next_offset"] == 2
    assert len({doc["doc_path"] for doc in first["documents"] + second["documents"]}) == 4
    end = structured(call(vault, "list_documents", {"limit": 1000}))
    assert "next_offset" not in end
    assert end["total"] == len(end["documents"])


def test_the_status_counts_what_is_listed(vault: Kebab) -> None:
    listed, counted = calls(vault, ("list_documents", {"limit": 1000}), ("status", {}))
    assert structured(counted)["documents"] == len(structured(listed)["documents"])


def test_a_stored_text_is_found_at_once(vault: Kebab) -> None:
    stored = call(vault, "ingest_text", {"title": "Okapi", "text": "The okapi is shy and striped."})
    assert structured(stored)["run"]["indexed"] == 1
    assert "okapi" in told(call(vault, "search", {"query": "okapi striped"}))


def test_a_changed_file_is_indexed_by_its_path(vault: Kebab) -> None:
    (source,) = vault.settings.sources
    file = Path(source.root) / "inbox" / "quokka.md"
    file.write_text("# Quokka\n\nA quokka smiles.\n")
    stored = call(vault, "ingest_file", {"path": "inbox/quokka.md"})
    assert structured(stored)["run"]["indexed"] == 1
    assert "inbox/quokka.md" in told(call(vault, "search", {"query": "quokka"}))


@pytest.mark.parametrize(
    "path",
    ["../secret.md", "/etc/passwd", "inbox/../../secret.md", "a\0b", "x" * 5000, "~/secret.md", "link.md"],
)
def test_a_file_outside_the_sources_cannot_be_named(vault: Kebab, path: str) -> None:
    (source,) = vault.settings.sources
    root = Path(source.root)
    (root.parent / "secret.md").write_text("a secret outside of the notes")
    if not (root / "link.md").is_symlink():
        (root / "link.md").symlink_to(root.parent / "secret.md")
    assert failed(call(vault, "ingest_file", {"path": path})) == "invalid_input"
    assert "secret outside" not in told(call(vault, "search", {"query": "secret outside of the notes"}))


def test_a_run_is_recorded_found_and_judged_later(vault: Kebab) -> None:
    recorded = call(
        vault,
        "memory_record",
        {"task_description": "migrate the ledger table", "success": True, "lesson": "lock it first"},
    )
    key = structured(recorded)["id"]
    found = call(vault, "memory_search", {"text": "ledger table migration"})
    assert key in [hit["execution"]["id"] for hit in structured(found)["hits"]]
    assert "lesson | lock it first" in told(found)
    judged = call(vault, "memory_feedback", {"id": key, "success": False, "note": "reverted"})
    assert structured(judged)["success"] is False
    assert structured(judged)["feedback"][0]["note"] == "reverted"


BAD = [
    ("brief", {"task": " "}, "invalid_input"),
    ("brief", {"task": "x", "scope": {"planet": "mars"}}, "invalid_input"),
    ("search", {}, "invalid_input"),
    ("search", {"query": "  "}, "invalid_input"),
    ("search", {"query": "x", "k": 0}, "invalid_input"),
    ("search", {"query": "x", "k": "many"}, "invalid_input"),
    ("search", {"query": "x", "kk": 1}, "invalid_input"),
    ("search", {"query": "x", "cursor": "AAAA"}, "invalid_input"),
    ("search", {"query": {"$ne": 1}}, "invalid_input"),
    ("ask", {"question": ""}, "invalid_input"),
    ("ask", {"question": "x", "mode": "psychic"}, "invalid_input"),
    ("why", {"reference": "no/such.md", "query": "x"}, "doc_not_found"),
    ("why", {"reference": "README.md"}, "invalid_input"),
    ("related", {"reference": "no/such.md"}, "doc_not_found"),
    ("related", {"reference": "README.md", "k": 0}, "invalid_input"),
    ("fetch", {"reference": "../../etc/passwd"}, "doc_not_found"),
    ("fetch", {"reference": "README.md#L9000"}, "invalid_input"),
    ("fetch", {"reference": "README.md#nonsense"}, "invalid_input"),
    ("fetch", {"reference": "README.md", "context": -1}, "invalid_input"),
    ("list_documents", {"limit": 0}, "invalid_input"),
    ("list_documents", {"tag": "nosuchtag"}, "invalid_input"),
    ("status", {"verbose": True}, "invalid_input"),
    ("ingest_text", {"title": "", "text": "x"}, "invalid_input"),
    ("ingest_text", {"title": "x", "text": ""}, "invalid_input"),
    ("ingest_file", {"path": ""}, "invalid_input"),
    ("memory_search", {"text": ""}, "invalid_input"),
    ("memory_search", {"text": "x", "scope": {"planet": "mars"}}, "invalid_input"),
    ("memory_record", {"task_description": "x"}, "invalid_input"),
    ("memory_record", {"task_description": "x", "success": True, "quality_score": 2}, "invalid_input"),
    ("memory_record", {"task_description": "x", "success": True, "started_at": "soon"}, "invalid_input"),
    ("memory_feedback", {"id": "nobody", "success": True}, "record_not_found"),
    ("memory_feedback", {"id": "nobody"}, "invalid_input"),
]


@pytest.mark.parametrize(("tool", "arguments", "code"), BAD)
def test_bad_input_is_a_result_with_a_stable_code(
    vault: Kebab, tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert failed(call(vault, tool, arguments)) == code


def test_bad_input_is_tried_on_every_tool() -> None:
    assert {tool for tool, _, _ in BAD} == {tool.name for tool in TOOLS}


def test_an_unknown_key_is_answered_with_the_known_ones(vault: Kebab) -> None:
    assert "keys: " in told(call(vault, "search", {"q": "x"}))


def test_a_text_never_exceeds_its_budget(vault: Kebab) -> None:
    call(vault, "ingest_text", {"title": "Long", "text": "wallaby " * 30_000})
    read = call(vault, "fetch", {"reference": "notes/long.md", "max_tokens": 100_000})
    assert estimate_tokens(told(read)) <= MAX_TOKENS
    listed = call(vault, "list_documents", {"limit": 1000})
    assert estimate_tokens(told(listed)) <= MAX_TOKENS


def test_before_the_first_ingest_a_search_says_that_nothing_is_indexed(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    with opened(tmp_path) as kebab:
        assert failed(call(kebab, "search", {"query": "x"})) == "not_indexed"
        assert structured(call(kebab, "status"))["indexed"] is False
