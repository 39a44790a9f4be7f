"""The wire: what every object promises, and that a promise once made is kept."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from kebab import wire
from kebab.domain.citations import Citation, CitationKind
from kebab.domain.fusion import Ranked
from kebab.domain.hits import (
    Degradation,
    FusionNote,
    Leg,
    LegEvidence,
    RetrievalDetail,
    ScoreKind,
    SearchHit,
    SearchResponse,
    SearchTrace,
    Snippet,
)
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.ingests import IngestItem, IngestReport, IngestRun, Outcome, RunStatus
from kebab.domain.queries import SearchMode
from kebab.errors import StaleCursor
from kebab.wire.schemas import BrokenPromise, broken_promises, schema_name, schema_of, write_schemas

COMMITTED = Path(__file__).parents[2] / "docs" / "wire" / "v1"
NAMED = (
    "search_response", "search_hit", "citation", "ingest_progress", "ingest_report", "doc_summary",
    "chunk_inspection", "fetch_result", "doctor", "schema", "error",
)  # fmt: skip
HIT_KEYS = (
    "rank", "score", "score_kind", "chunk_id", "doc_id", "doc_path", "heading_path", "section_label",
    "snippet", "citation", "retrieval", "index_version", "embedding_model", "chunker_version", "indexed_at",
    "stale", "source_id", "trust_level",
)  # fmt: skip
SHAPES = {schema_name(shape): shape for shape in wire.SHAPES}


def a_hit(**changes: Any) -> SearchHit:
    values: dict[str, Any] = {
        "rank": 1,
        "score": 0.1 + 0.2,
        "score_kind": ScoreKind.CONVEX,
        "chunk_id": ChunkId("c" * 32),
        "doc_id": DocId("d" * 32),
        "doc_path": "노트/a b.md",
        "title": "제목",
        "heading_path": ("제목", "절"),
        "section_label": "절",
        "snippet": Snippet("seat hold", ((0, 4),)),
        "citation": Citation(CitationKind.LINE, "노트/a b.md", 12, 34),
        "retrieval": RetrievalDetail(SearchMode.HYBRID, 0.3, lexical_score=0.9, lexical_rank=1),
        "index_version": "hybrid:a+b",
        "embedding_model": None,
        "chunker_version": "md-heading-v1",
        "indexed_at": "2026-01-01T00:00:00Z",
        "old": False,
        "source_id": "default",
        "trust_level": "primary",
        "evidence": (LegEvidence(Leg.LEXICAL, 1, 9.5, 0.3, ("seat",)),),
    }
    return SearchHit(**(values | changes))


def a_response(**changes: Any) -> SearchResponse:
    values: dict[str, Any] = {
        "query": "seat",
        "mode": SearchMode.HYBRID,
        "hits": (a_hit(),),
        "next_cursor": None,
        "truncated": False,
        "degraded": (Degradation("vector", "model_unavailable", "no model"),),
        "index_version": "hybrid:a+b",
        "fusion": FusionNote("convex", {"vector": 0.3, "lexical": 0.7}, "fixed"),
    }
    return SearchResponse(**(values | changes))


def decoded(shape: object) -> Any:
    return json.loads(wire.encode(shape))


def test_every_shape_has_a_schema_name_of_its_own() -> None:
    assert len(SHAPES) == len(wire.SHAPES)
    assert all(name.endswith(".v1") for name in SHAPES)


def test_the_schemas_the_specification_names_are_there() -> None:
    assert {f"{name}.v1" for name in NAMED} <= set(SHAPES)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_schema_version_comes_first_and_only_a_request_may_leave_it_out(name: str) -> None:
    schema = schema_of(SHAPES[name])
    definition = schema["$defs"][SHAPES[name].__name__]
    assert next(iter(definition["properties"])) == "schema_version"
    assert definition["properties"]["schema_version"] == {"enum": [name]}
    assert ("schema_version" in definition["required"]) == (not name.endswith("_request.v1"))


def test_the_committed_schemas_are_the_generated_ones(tmp_path: Path) -> None:
    generated = {path.name: path.read_bytes() for path in write_schemas(wire.SHAPES, tmp_path)}
    committed = {path.name: path.read_bytes() for path in COMMITTED.glob("*.schema.json")}
    assert generated == committed, "run: make wire"


@pytest.mark.parametrize("path", sorted(COMMITTED.glob("*.schema.json")), ids=lambda path: path.stem)
def test_no_promise_of_a_committed_schema_is_broken(path: Path) -> None:
    committed = json.loads(path.read_bytes())
    name = committed["$id"].removeprefix("kebab:")
    assert name in SHAPES, f"{name} is gone"
    assert broken_promises(committed, json.loads(json.dumps(schema_of(SHAPES[name])))) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda d: d["properties"].pop("rank"), "key 'rank' is gone"),
        (lambda d: d["required"].remove("rank"), "key 'rank' is no longer always there"),
        (lambda d: d["properties"].update(rank={"type": "string"}), "key 'rank' changed its type"),
    ],
)
def test_a_change_that_would_break_readers_is_noticed(change: Any, complaint: str) -> None:
    old = schema_of(wire.SearchHit)
    new = copy.deepcopy(old)
    change(new["$defs"]["SearchHit"])
    assert broken_promises(old, new) == [f"SearchHit: {complaint}"]


def test_schemas_that_would_break_readers_are_not_written(tmp_path: Path) -> None:
    (written,) = write_schemas([wire.Error], tmp_path)
    schema = json.loads(written.read_text())
    schema["$defs"]["Error"]["required"].append("mood")
    promised = json.dumps(schema)
    written.write_text(promised)
    with pytest.raises(BrokenPromise, match="key 'mood' is no longer always there"):
        write_schemas([wire.Error], tmp_path)
    assert written.read_text() == promised


def test_a_new_optional_key_breaks_nothing() -> None:
    old = schema_of(wire.SearchHit)
    new = copy.deepcopy(old)
    new["$defs"]["SearchHit"]["properties"]["mood"] = {"type": "string", "default": "good"}
    assert broken_promises(old, new) == []


@pytest.mark.parametrize(
    ("choices", "broken"), [("rrf|convex|adaptive|better", False), ("rrf|convex", True), (".*", True)]
)
def test_a_request_may_take_more_choices_but_not_fewer(choices: str, broken: bool) -> None:
    def schema(pattern: str) -> dict[str, Any]:
        taken = {"anyOf": [{"type": "string", "pattern": f"^({pattern})$"}, {"type": "null"}]}
        return {"$id": "kebab:a_request.v1", "$defs": {"A": {"properties": {"fusion": taken}}}}

    assert bool(broken_promises(schema("rrf|convex|adaptive"), schema(choices))) == broken


def test_a_response_and_each_object_in_it_say_what_they_are() -> None:
    response = decoded(wire.search_response(a_response()))
    assert response["schema_version"] == "search_response.v1"
    assert response["hits"][0]["schema_version"] == "search_hit.v1"
    assert response["hits"][0]["citation"]["schema_version"] == "citation.v1"


def test_a_hit_carries_what_the_specification_lists() -> None:
    hit = decoded(wire.search_hit(a_hit()))
    assert set(HIT_KEYS) <= set(hit)
    assert hit["snippet"] == "seat hold"
    assert hit["marks"] == [[0, 4]]
    assert hit["citation"]["uri"] == "노트/a%20b.md#L12-L34"
    assert hit["retrieval"]["vector_rank"] is None
    assert hit["score"] == 0.1 + 0.2


def test_evidence_and_fusion_are_there_only_when_asked_for() -> None:
    bare, explained = (wire.search_response(a_response(), explain=explain) for explain in (False, True))
    assert "evidence" not in decoded(bare)["hits"][0]
    assert "fusion" not in decoded(bare)
    assert decoded(explained)["hits"][0]["evidence"][0]["raw_score"] == 9.5
    assert decoded(explained)["fusion"]["weights"] == {"lexical": 0.7, "vector": 0.3}


def test_timings_are_there_only_in_a_trace() -> None:
    trace = SearchTrace({"lexical": [Ranked("c", 9.5)]}, {"lexical_ms": 1.5})
    assert "trace" not in decoded(wire.search_response(a_response()))
    assert decoded(wire.search_response(a_response(trace=trace)))["trace"]["timings_ms"] == {
        "lexical_ms": 1.5
    }


def test_equal_results_give_equal_bytes_whatever_the_order_of_maps() -> None:
    one = a_response(fusion=FusionNote("convex", {"lexical": 0.7, "vector": 0.3}, "fixed"))
    other = a_response(fusion=FusionNote("convex", {"vector": 0.3, "lexical": 0.7}, "fixed"))
    encoded = [wire.encode(wire.search_response(response, explain=True)) for response in (one, other)]
    assert encoded[0] == encoded[1]


def test_degraded_parts_are_named() -> None:
    assert decoded(wire.search_response(a_response()))["degraded"] == [
        {"part": "vector", "code": "model_unavailable", "message": "no model", "hint": None}
    ]


def test_an_error_keeps_its_code_hint_and_details() -> None:
    failure = StaleCursor("the corpus changed", hint="search again", details={"revision": 3})
    assert decoded(wire.error(failure)) == {
        "schema_version": "error.v1",
        "code": "stale_cursor",
        "message": "the corpus changed",
        "hint": "search again",
        "details": {"revision": 3},
    }


def test_a_shape_that_would_lose_what_it_promises_raises() -> None:
    with pytest.raises(ValueError, match="missing required field"):
        wire.of(object(), wire.Citation)


def a_report() -> IngestReport:
    run = IngestRun("r1", "2026-01-01T00:00:00Z", RunStatus.COMPLETED, indexed=1, skipped=2)
    items = (IngestItem("default", "a.md", Outcome.INDEXED, doc_id=DocId("d"), chunks=3),)
    return IngestReport(run, items, skipped_by_extension={".zip": 2}, stage_ms={"scan": 4})


def test_an_ingest_report_can_leave_out_its_items() -> None:
    assert decoded(wire.ingest_report(a_report()))["items"][0]["outcome"] == "indexed"
    assert decoded(wire.ingest_report(a_report(), summary_only=True))["items"] is None


def test_names_lists_every_schema_once_and_sorted() -> None:
    assert wire.names() == sorted(SHAPES)
