"""Requests: the same bounds, defaults and error texts, whoever asks."""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab import Kebab, config, wire
from kebab.domain.documents import TrustLevel
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import InvalidInput
from kebab.wire.requests import Request, checked, decoded
from kebab.wire.requests.library import FetchChunkRequest, FetchDocRequest, FetchSpanRequest, IngestRequest
from kebab.wire.requests.memory import MemorySearchRequest, MemorySimilarRequest
from kebab.wire.requests.search import AskRequest, SearchRequest, WhyRequest, flat

PATTERN = "one of rrf, weighted_rrf, convex, adaptive"


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (SearchRequest, {"query": "x", "k": 0}, "k is 0; it must be a whole number between 1 and 1000"),
        (SearchRequest, {"query": "x", "k": 1001}, "k is 1001; it must be a whole number between 1 and 1000"),
        (SearchRequest, {"query": "x", "k": "5"}, "k is '5'; it must be a whole number between 1 and 1000"),
        (SearchRequest, {"query": "x", "k": True}, "k is True; it must be a whole number between 1 and 1000"),
        (
            SearchRequest,
            {"query": "x", "mode": "y"},
            "mode is 'y'; it must be one of lexical, vector, hybrid",
        ),
        (SearchRequest, {"query": "x", "fusion": "magic"}, f"fusion is 'magic'; it must be {PATTERN}"),
        (SearchRequest, {"query": "x", "max_tokens": 0}, "max_tokens is 0; it must be a whole number of at"),
        (SearchRequest, {"query": "x", "snippet_chars": 39}, "between 40 and 10000"),
        (SearchRequest, {"query": "x", "kk": 3}, "there is no option 'kk'"),
        (SearchRequest, {"query": "x", "explain": 1}, "explain is 1; it must be true or false"),
        (SearchRequest, {"query": 3}, "query is 3; it must be a text"),
        (SearchRequest, {"query": " \n"}, "the query is empty"),
        (SearchRequest, {"k": 3}, "query: it is missing"),
        (SearchRequest, {"query": "x", "tag": 3}, "tag is 3; it must be a text or a list, each item a text"),
        (SearchRequest, {"query": "x", "tag": ["a", 1]}, "tag[1] is 1; it must be a text"),
        (SearchRequest, {"query": "x", "trust_min": "king"}, "trust_min is 'king'; it must be one of "),
        (
            SearchRequest,
            {"query": "x", "ingested_after": "soon"},
            "ingested_after: 'soon' is not an ISO 8601 time",
        ),
        (WhyRequest, {"query": "x", "reference": ""}, "the reference is empty"),
        (AskRequest, {"question": ""}, "the question is empty"),
        (FetchChunkRequest, {"chunk_id": "a", "context": -1}, "context is -1; it must be"),
        (FetchDocRequest, {"reference": "a", "max_tokens": 1 << 40}, "max_tokens is 1099511627776; it must"),
        (FetchSpanRequest, {"reference": "a", "start": 3, "end": 2}, "end is 2; it must not come before"),
        (FetchSpanRequest, {"reference": "a", "start": 0, "end": 2}, "start is 0; it must be"),
        (IngestRequest, {"paths": "a"}, "paths is 'a'; it must be a list, each item a text"),
        (MemorySearchRequest, {"text": "x", "limit": 0}, "limit is 0; it must be"),
        (MemorySearchRequest, {"text": "x", "after": "soon"}, "after: 'soon' is not an ISO 8601 time"),
        (MemorySimilarRequest, {}, "text and embedding are both empty"),
        (MemorySimilarRequest, {"embedding": [float("nan")]}, "a number that is not finite"),
    ],
)
def test_a_wrong_value_is_named_with_what_it_must_be(
    kind: type[Request], values: dict[str, Any], message: str
) -> None:
    refusals: list[Callable[[], object]] = [
        lambda: checked(kind, values),
        lambda: decoded(kind, json.dumps(values)),
    ]
    for refuse in refusals:
        with pytest.raises(InvalidInput) as caught:
            refuse()
        assert message in caught.value.message


@pytest.mark.parametrize("text", ["", "not json", "[1]", '"x"', "null", "[" * 100_000, "1" * 5000, b"\xff"])
def test_what_is_no_object_of_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidInput, match="this is not"):
        decoded(SearchRequest, text, hint="such as")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(sorted({key for kind in wire.REQUESTS for key in kind.__struct_fields__}))


@given(kind=st.sampled_from(wire.REQUESTS), values=st.dictionaries(KEYS | st.text(), JSON, max_size=5))
def test_any_object_is_a_request_or_an_invalid_input(kind: type[Request], values: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidInput):
        assert decoded(kind, json.dumps(values)).arguments is not None


def test_a_number_of_thousands_of_digits_is_no_k() -> None:
    with pytest.raises(InvalidInput, match="k is a number of thousands of digits"):
        checked(SearchRequest, {"query": "x", "k": 10**5000})


def test_a_lone_surrogate_is_a_query() -> None:
    assert decoded(SearchRequest, '{"query": "a \\ud800"}').query == "a \ud800"


def test_a_single_value_of_a_filter_stands_for_a_list_of_one() -> None:
    asked = decoded(SearchRequest, '{"query": "x", "tag": "a", "lang": ["en", "ko"], "trust_min": "primary"}')
    assert asked.filters == SearchFilters(tag=("a",), lang=("en", "ko"), trust_min=TrustLevel.PRIMARY)


def test_what_is_given_wins_over_the_defaults_and_nothing_over_neither() -> None:
    defaults = {"k": 3, "tag": ("a",), "mode": SearchMode.LEXICAL}
    asked = decoded(SearchRequest, '{"query": "x", "k": 5, "mode": null}', defaults=defaults)
    assert (asked.k, asked.tag, asked.mode) == (5, ("a",), None)


def test_filters_survive_the_way_through_a_request() -> None:
    filters = SearchFilters(tag=("a", "b"), path=("x/**",), ingested_after="2026-02-28T00:00:00Z")
    assert SearchRequest.of(query="x", **flat(filters)).filters == filters


@pytest.mark.parametrize(
    ("method", "asked"),
    [
        (Kebab.search, SearchRequest.of(query="x")),
        (Kebab.why, WhyRequest.of(query="x", reference="a")),
        (Kebab.ask, AskRequest.of(question="x")),
        (Kebab.fetch_chunk, FetchChunkRequest.of(chunk_id="a")),
        (Kebab.fetch_doc, FetchDocRequest.of(reference="a")),
        (Kebab.fetch_span, FetchSpanRequest.of(reference="a", start=1, end=1)),
        (Kebab.ingest, IngestRequest.of()),
    ],
)
def test_the_arguments_of_a_request_are_those_of_the_method_that_answers_it(
    method: Any, asked: Request
) -> None:
    assert set(asked.arguments) <= set(inspect.signature(method).parameters)


@pytest.mark.parametrize(
    "ask",
    [
        lambda kb: kb.search("x", k=0),
        lambda kb: kb.search(" "),
        lambda kb: kb.search("x", filters=SearchFilters(tag=(3,))),  # type: ignore[arg-type]
        lambda kb: kb.search("x", fusion="magic"),
        lambda kb: kb.why("", "x"),
        lambda kb: kb.ask(" "),
        lambda kb: kb.ask_stream("x", k=1001),
        lambda kb: kb.list_docs(SearchFilters(ingested_after="soon")),
        lambda kb: kb.inspect_doc(""),
        lambda kb: kb.inspect_chunk(" "),
        lambda kb: kb.fetch_chunk("a", context=-1),
        lambda kb: kb.fetch_doc("a", max_tokens=0),
        lambda kb: kb.fetch_span("a", 2, 1),
        lambda kb: kb.runs(0),
        lambda kb: kb.ingest(dry_run="no"),
        lambda kb: kb.ingest_text("x", title=" "),
        lambda kb: kb.index(batch_size=0),
    ],
)
def test_the_python_interface_refuses_a_wrong_request_before_it_opens_anything(
    ask: Callable[[Kebab], object], tmp_path: Path
) -> None:
    settings = config.defaults(root=tmp_path, data_dir=tmp_path / "data")
    with Kebab(settings) as kb, pytest.raises(InvalidInput):
        ask(kb)
    assert not (tmp_path / "data").exists()


def test_every_name_of_the_wire_is_there() -> None:
    assert [name for name in wire.__all__ if getattr(wire, name, None) is None] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = wire.nothing


def test_a_request_that_asks_for_more_breaks_those_who_write_it() -> None:
    from kebab.wire.schemas import broken_promises, schema_of

    old, new = schema_of(SearchRequest), schema_of(SearchRequest)
    assert "schema_version" not in old["$defs"]["SearchRequest"]["required"]
    new["$defs"]["SearchRequest"]["required"].append("k")
    assert broken_promises(old, new) == ["SearchRequest: key 'k' must now be given"]
    assert broken_promises(new, old) == []


@pytest.mark.parametrize("wrong", ["search_request.v2", 7, []])
def test_a_request_of_another_schema_is_told_which_one_is_meant(wrong: object) -> None:
    with pytest.raises(InvalidInput) as raised:
        decoded(SearchRequest, json.dumps({"schema_version": wrong, "query": "a"}))
    assert "search_request.v1" in raised.value.message


def test_a_wrong_value_inside_a_table_is_told() -> None:
    with pytest.raises(InvalidInput, match="scope"):
        decoded(MemorySearchRequest, json.dumps({"text": "a", "scope": {"project": 7}}))
