"""Walls of the MCP server: whatever a caller asks, what lies outside is not told, not named, not counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from kebab.app import Kebab
from kebab.domain.executions import Execution
from kebab.domain.walls import Walls
from kebab.errors import InvalidInput, OutsideWalls
from kebab.mcp.run import Options, build_server
from kebab.mcp.tools import TOOLS
from kebab.mcp.uris import TEMPLATE
from tests.drivers.mcp_talk import call, calls, everything, failed, structured, told

INSIDE, OUTSIDE = "heron", "wombat"
"""Words that stand in every note and run of one side, and in no question that a test asks."""


def note(side: str, name: str) -> str:
    near = "wombast" if side == INSIDE else ""  # a word inside that is nearly one outside
    text = f"# Plan {side}\n\nThe launch of {name} is a {side} secret. [[b]] {near}\n"
    return f"---\ntags: [{side}tag, shared]\n---\n{text}"


def run(side: str, key: str, scope: dict[str, str]) -> Execution:
    from kebab.memory.shape import from_json

    made = from_json(
        {
            "id": key, "agent_id": f"{side}-agent", "task_id": key, "task_type": "deploy", "success": True,
            "task_description": f"deploy the launch of {side}", "lesson": f"the {side} lesson",
            "quality_score": 1.0, "started_at": "2026-01-01T00:00:00Z", "scope": scope,
            "documents_used": [f"{side}/a.md"],
        }
    )  # fmt: skip
    assert isinstance(made, Execution)
    return made


@dataclass
class Place:
    """One knowledge base, opened whole and inside walls."""

    whole: Kebab
    walled: Kebab
    outside_ids: list[str]
    """Documents, chunks and citations that lie outside."""


def made(folder: Path, *, sides: tuple[str, ...]) -> Kebab:
    """Two sources with equal paths; in the first, a folder that the walls leave out."""
    (folder / "one" / "open").mkdir(parents=True)
    (folder / "one" / "shut").mkdir()
    (folder / "two" / "open").mkdir(parents=True)
    for name in ("a", "b"):
        (folder / "one" / "open" / f"{name}.md").write_text(note(INSIDE, name))
        if OUTSIDE in sides:
            (folder / "one" / "shut" / f"{name}.md").write_text(note(OUTSIDE, name))
            (folder / "two" / "open" / f"{name}.md").write_text(note(OUTSIDE, name))
            (folder / "two" / "open" / "only.md").write_text(note(OUTSIDE, "only"))
    config = folder / "config.toml"
    config.write_text(
        '[storage]\ndata_dir = "data"\n[models.embedding]\nprovider = "none"\n'
        '[[sources]]\nid = "one"\nroot = "one"\n[[sources]]\nid = "two"\nroot = "two"\n'
    )
    kebab = Kebab.open(config)
    kebab.ingest()
    kebab.memory.record(run(INSIDE, "run-in", {"project": "atlas", "user": "kim"}))
    if OUTSIDE in sides:
        kebab.memory.record(run(OUTSIDE, "run-other", {"project": "zeus"}))
        kebab.memory.record(run(OUTSIDE, "run-none", {}))
        kebab.ingest_text(f"a {OUTSIDE} text", title="misc text")
    return kebab


WALLS = Walls(source=("one",), path=("open/**",), scope={"project": "atlas"})


def walled(kebab: Kebab, walls: Walls = WALLS) -> Kebab:
    return Kebab(kebab.settings, walls=walls)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with made(tmp_path_factory.mktemp("both"), sides=(INSIDE, OUTSIDE)) as whole, walled(whole) as inside:
        docs = [doc for doc in whole.list_docs() if not WALLS.admits(doc.source_id, doc.path)]
        ids = [doc.doc_id for doc in docs] + [doc.path for doc in docs]
        ids += [hit.chunk_id for hit in whole.search("secret", k=50).hits if hit.doc_id in ids]
        ids += [f"kebab://{doc.source_id}/{doc.path}" for doc in docs] + [f"{doc.path}#L1-L9" for doc in docs]
        yield Place(whole, inside, ids)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kebab]:
    """A knowledge base that never held what lies outside, behind the same walls."""
    with made(tmp_path_factory.mktemp("alone"), sides=(INSIDE,)) as whole, walled(whole) as inside:
        yield inside


def said(kebab: Kebab, tool: str, arguments: dict[str, Any]) -> str:
    """All that a call gives back, as one text."""
    return everything([call(kebab, tool, arguments)]).lower()


FILTERS = {
    "source": ["one", "two", "inbox", "*"],
    "path": ["**", "shut/**", "two/**", "../**", "open/../shut/**", "open/**"],
    "tag": ["shared", "none"],
    "doc_id": ["", "0", "a", "f"],
}
QUERIES = [
    "secret", "launch", "plan", "source:two secret", "path:shut/** secret", "source:inbox text", "text",
    'source:"two" path:"**" launch', "-source:one secret", "doc:0 secret", "type:note plan", "tag:shared",
    "secret OR source:two", "\u202esecret",
]  # fmt: skip
SCOPES: list[dict[str, str]] = [
    {}, {"project": "zeus"}, {"project": "atlas"}, {"user": "kim"}, {"session": "s"}, {"project": ""},
]  # fmt: skip
NAMES = ["a.md", "open/a.md", "../two/open/a.md", "only.md", "two/open/only.md"]


def asked(tool: str, ids: list[str], chance: Random) -> dict[str, Any]:
    """What a caller who wants out might ask of a tool. Not hypothesis: threads of the server use random."""

    def one(values: Sequence[Any]) -> Any:
        return chance.choice(values)

    named, number = one([*ids, *NAMES]), chance.randint(1, 50)
    made: dict[str, dict[str, Any]] = {
        "search": {"query": one(QUERIES), "k": number},
        "ask": {"question": one(QUERIES)},
        "why": {"reference": named, "query": one(QUERIES)},
        "fetch": {"reference": named, "context": number, **one([{}, {"source": "two"}, {"source": "inbox"}])},
        "list_documents": {"limit": number},
        "status": {},
        "related": {"reference": named},
        "brief": {"task": one(["deploy the launch", *QUERIES])},
        "ingest_file": {"path": one(["shut/a.md", "../two/open/a.md", "../one/shut/a.md", "."])},
        "memory_search": {"text": one(["deploy the launch", "lesson", "launch"]), "scope": one(SCOPES)},
        "memory_feedback": {"id": one(["run-other", "run-none"]), "note": "x"},
        "memory_record": {
            "task_description": "deploy",
            "success": True,
            "id": one(["run-other", "run-none"]),
            "scope": one(SCOPES),
        },
    }
    filtered = tool in ("search", "ask", "why", "list_documents", "related")
    kept = {name: one([values, one(values)]) for name, values in FILTERS.items() if chance.random() < 0.4}
    return made[tool] | (kept if filtered else {})


OFFERED = [tool.name for tool in TOOLS if tool.name not in ("ingest_text",)]


@pytest.mark.parametrize("tool", OFFERED)
def test_no_way_of_asking_a_tool_leads_outside(place: Place, tool: str) -> None:
    chance = Random(tool)
    tried = [asked(tool, place.outside_ids, chance) for _ in range(40)]
    for arguments, result in zip(tried, calls(place.walled, *((tool, each) for each in tried)), strict=True):
        assert OUTSIDE not in everything([result]).lower(), arguments


def test_every_tool_was_tried(place: Place) -> None:
    async def talk() -> set[str]:
        async with Client(build_server(place.walled, Options())) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert anyio.run(talk) == set(OFFERED)


def test_the_words_that_must_not_be_told_would_be_told_without_walls(place: Place) -> None:
    for tool, arguments in (
        ("search", {"query": "secret"}),
        ("list_documents", {}),
        ("fetch", {"reference": "only.md"}),
        ("memory_search", {"text": "deploy the launch"}),
    ):
        assert OUTSIDE in said(place.whole, tool, arguments)
        assert INSIDE in said(
            place.walled, tool, {**arguments, "reference": "a.md"} if tool == "fetch" else arguments
        )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("status", {}),
        ("list_documents", {}),
        ("list_documents", {"source": "two"}),
        ("list_documents", {"tag": f"{OUTSIDE}tag"}),
        ("fetch", {"reference": "a.md"}),
        ("fetch", {"reference": "only.md"}),
        ("fetch", {"reference": "two/open/only.md"}),
        ("fetch", {"reference": "shut/a.md#L1-L3"}),
        ("why", {"reference": "a.md", "query": "secret launch"}),
        ("why", {"reference": "only.md", "query": "secret"}),
        ("search", {"query": "nothing like it", "source": "two"}),
        ("search", {"query": "wombat launch"}),
        ("search", {"query": "wombats launch", "mode": "lexical"}),
        ("why", {"reference": "open/a.md", "query": "wombat"}),
        ("ask", {"question": "What is the wombatish secret?"}),
        ("ask", {"question": "What is a wombat?"}),
        ("memory_search", {"text": "deploy the launch"}),
        ("memory_feedback", {"id": "run-other", "success": False}),
    ],
)
def test_the_answer_is_the_one_of_a_place_that_never_held_the_rest(
    place: Place, alone: Kebab, tool: str, arguments: dict[str, Any]
) -> None:
    both = [call(kebab, tool, arguments) for kebab in (place.walled, alone)]
    assert _comparable(both[0].structured_content) == _comparable(both[1].structured_content)
    assert both[0].is_error == both[1].is_error


def _comparable(value: Any) -> Any:
    """Without what differs between two places in any case: times, ids of runs, and scores of all texts."""
    varying = (
        "indexed_at", "last_indexed_at", "created_at", "updated_at", "trace_id", "score", "raw_score",
        "contribution", "fusion", "retrieval", "confidence", "hybrid_score", "lexical_score", "relevance",
        "reason", "mtime", "embedding", "doc_id", "chunk_id",
    )  # fmt: skip
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items() if key not in varying}
    return [_comparable(item) for item in value] if isinstance(value, list) else value


def test_a_run_inside_is_found_judged_and_recorded(tmp_path: Path) -> None:
    with made(tmp_path, sides=(INSIDE, OUTSIDE)) as whole, walled(whole) as inside:
        recorded = structured(call(inside, "memory_record", {"task_description": "sail", "success": True}))
        assert recorded["scope"] == {"project": "atlas"}
        judged = call(inside, "memory_feedback", {"id": "run-in", "success": False})
        assert structured(judged)["success"] is False
        refused = call(
            inside,
            "memory_record",
            {"task_description": "sail", "success": True, "scope": {"project": "zeus"}},
        )
        assert failed(refused) == "outside_walls"
        taken = call(inside, "memory_record", {"task_description": "x", "success": True, "id": "run-other"})
        assert failed(taken) == "conflict"
        assert whole.memory.select(limit=None)[0].id
        other = whole.memory.get("run-other")
        assert isinstance(other, Execution)
        assert other.lesson == f"the {OUTSIDE} lesson"


def test_a_file_inside_can_be_indexed_and_one_outside_cannot(tmp_path: Path) -> None:
    with made(tmp_path, sides=(INSIDE, OUTSIDE)) as whole, walled(whole) as inside:
        (tmp_path / "one" / "open" / "new.md").write_text("# New\n\nA pelican.\n")
        (tmp_path / "one" / "shut" / "new.md").write_text("# New\n\nA penguin.\n")
        assert structured(call(inside, "ingest_file", {"path": "open/new.md"}))["run"]["indexed"] == 1
        assert "pelican" in told(call(inside, "search", {"query": "pelican"}))
        for path in (
            "shut/new.md",
            str(tmp_path / "one" / "shut" / "new.md"),
            str(tmp_path / "two/open/a.md"),
        ):
            assert failed(call(inside, "ingest_file", {"path": path})) == "outside_walls"
        assert whole.search("penguin").hits == ()


def test_a_text_is_stored_only_where_the_inbox_is_inside(tmp_path: Path) -> None:
    with made(tmp_path, sides=(INSIDE,)) as whole:
        with walled(whole, Walls(path=("open/**",))) as inside:
            refused = call(inside, "ingest_text", {"title": "x", "text": "y"})
            assert failed(refused) == "outside_walls"
        with walled(whole, Walls(source=("inbox",))) as inside:
            call(inside, "ingest_text", {"title": "x", "text": "a toucan"})
            assert "toucan" in told(call(inside, "search", {"query": "toucan"}))


def test_walls_around_documents_alone_close_the_memory(place: Place) -> None:
    with walled(place.whole, Walls(source=("one",))) as inside:

        async def talk() -> set[str]:
            async with Client(build_server(inside, Options())) as client:
                return {tool.name for tool in (await client.list_tools()).tools}

        assert not any(name.startswith("memory") for name in anyio.run(talk))
        with pytest.raises(OutsideWalls):
            inside.memory.stats()
        assert structured(call(inside, "status"))["memory"] is None


def test_what_is_about_the_whole_is_refused(place: Place) -> None:
    for refused in (
        lambda: place.walled.index(),
        lambda: place.walled.doctor(),
        lambda: place.walled.reset("all"),
        lambda: place.walled.export_bundle(Path("x")),
        lambda: place.walled.ingest(),
        lambda: place.walled.models(),
    ):
        with pytest.raises(OutsideWalls):
            refused()
    assert place.walled.runs() == []


def test_links_and_related_notes_end_at_the_walls(place: Place) -> None:
    told = repr(place.walled.links("open/a.md")) + repr(place.walled.related("open/a.md"))
    assert INSIDE in told
    assert OUTSIDE not in told
    assert "shut/" not in told


def test_a_wall_that_fits_no_source_is_refused(place: Place) -> None:
    with pytest.raises(InvalidInput, match="no source 'three'"):
        Kebab(place.whole.settings, walls=Walls(source=("three",)))


def test_resources_prompts_and_instructions_end_at_the_walls(place: Place) -> None:
    async def talk() -> tuple[list[str], str]:
        said: list[str] = []
        async with Client(build_server(place.walled, Options())) as client:
            resources = await client.list_resources()
            said += [resources.model_dump_json(), (await client.list_prompts()).model_dump_json()]
            said.append(client.instructions or "")
            for argument in ("source", "path"):
                for value in ("", "t", "s", "open"):
                    completed = await client.complete(
                        types.ResourceTemplateReference(uri=TEMPLATE), {"name": argument, "value": value}
                    )
                    said.append(completed.model_dump_json())
            for uri in ("kebab://two/open/a.md", "kebab://one/shut/a.md", "kebab://one/../two/open/a.md"):
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(uri)
                said.append(repr(refused.value.data))
        return [each.uri for each in resources.resources], " ".join(said)

    uris, said = anyio.run(talk)
    assert uris == ["kebab://one/open/a.md", "kebab://one/open/b.md"]
    assert OUTSIDE not in said
    assert "2 documents" in said
    assert "only.md" not in said
