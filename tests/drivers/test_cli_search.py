"""Searching from the shell: people's view, programs' view, bulk, paging, filters, why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.drivers.conftest import Cli


def paths(library: Cli, *arguments: str) -> list[str]:
    return [hit["doc_path"] for hit in library("search", *arguments, "--json").json["hits"]]


def test_search_finds_the_note_in_english_and_in_korean(library: Cli) -> None:
    assert (
        "work/incidents/2025-03-14-double-charge.md" in paths(library, "why were customers charged twice")[:3]
    )
    assert "home/전세-계약.md" in paths(library, "전세 계약 갱신은 언제까지")[:3]


def test_people_see_rank_score_citation_headings_and_marks(library: Cli) -> None:
    first, second, *_ = library("search", "idempotency key retained", "-k", "1").out.splitlines()
    assert first.startswith(" 1. ")
    assert ".md#L" in first
    assert " › " in second or second.startswith("    ")
    assert "«" in library("search", "idempotency key", "-k", "1").out


def test_words_need_no_quotes(library: Cli) -> None:
    joined, quoted = library("search", "seat", "hold", "--json"), library("search", "seat hold", "--json")
    assert joined.out == quoted.out


def test_the_mode_is_chosen_by_its_name(library: Cli) -> None:
    response = library("search", "seat hold", "--mode", "lexical", "--json").json
    assert (response["mode"], response["hits"][0]["score_kind"]) == ("lexical", "bm25")
    assert library("search", "seat", "--trust-min", "secondary", "--json").json["hits"]
    wrong = library("search", "seat", "--mode", "psychic").err
    assert "'lexical', 'vector', 'hybrid'" in wrong


def test_explain_shows_bars_and_versions(library: Cli) -> None:
    text = library("search", "seat hold", "-k", "2", "--explain").out
    assert "█" in text
    assert "bm25" in text
    assert "chunker " in text


def test_nothing_found_leaves_with_1_and_says_so(library: Cli) -> None:
    result = library("search", "qqqzzzxxx")
    assert (result.code, result.out) == (1, "")
    assert "nothing found for 'qqqzzzxxx'" in result.err
    empty = library("search", "qqqzzzxxx", "--json")
    assert (empty.code, empty.json["hits"]) == (1, [])


def test_filters_without_words_list_the_documents(library: Cli) -> None:
    result = library("search", "lang:ko", "-k", "100", "--json")
    listed = [doc["doc_path"] for doc in library("list", "docs", "--lang", "ko", "--json").json["documents"]]
    assert result.code == 0
    assert [hit["doc_path"] for hit in result.json["hits"]] == listed
    assert {hit["score_kind"] for hit in result.json["hits"]} == {"listed"}


def test_hits_come_in_the_order_asked_for(library: Cli) -> None:
    by_path = [hit["doc_path"] for hit in library("search", "seat", "--sort", "path", "--json").json["hits"]]
    assert by_path == sorted(by_path)
    dated = library("search", "path:work/meetings", "--sort", "date", "--json").json["hits"]
    names = [hit["doc_path"].rsplit("/", 1)[-1][:10] for hit in dated]
    assert names == sorted(names, reverse=True) != sorted(names)


def test_a_value_that_does_not_exist_is_answered_with_those_that_do(library: Cli) -> None:
    assert "there are: en, ko" in library("search", "seat", "--lang", "xx").err


def test_a_filter_that_nothing_passes_is_named(library: Cli) -> None:
    for arguments in (("seat", "--lang", "ko", "--source", "nope"), ("seat source:nope lang:ko",)):
        assert "no document has the source nope; there are: " in library("search", *arguments).err


def test_a_search_without_indexes_says_what_lacks_and_what_to_do(library: Cli, tmp_path: Path) -> None:
    copy = Cli(tmp_path / "notes", library.home, library.extra)
    # Not the sockets that processes of other tests left: they cannot be copied.
    shutil.copytree(library.cwd, copy.cwd, ignore=shutil.ignore_patterns("shell"))
    assert copy("reset", "index", "--yes").code == 0
    result = copy("search", "seat")
    assert result.code == 1
    assert "note: the words index lacks the latest state of 32 documents; run `kebab index`" in result.err
    assert "not everything could be searched" in result.err


def test_hits_by_meaning_alone_are_said_to_be_that(cli: Cli) -> None:
    (cli.cwd / "note.md").write_text("The ferry to the island sails at nine.", encoding="utf-8")
    model = {"KEBAB_MODELS__EMBEDDING__PROVIDER": "static"}
    assert cli("init", ".", **model).code == cli("ingest", **model).code == 0
    found = cli("search", "배편 시간", **model)
    assert "note.md#L1" in found.out
    assert "no hit contains words of the query; these are the closest in meaning" in found.err
    assert "found by words" not in cli("search", "ferry", **model).err


def test_the_same_search_gives_the_same_bytes(library: Cli) -> None:
    once, again = (library("search", "refund 환불", "--explain", "--json").out for _ in range(2))
    assert once == again


def test_timings_come_only_with_a_trace(library: Cli) -> None:
    assert "trace" not in library("search", "seat", "--json").json
    assert "timings_ms" in library("search", "seat", "--trace", "--json").json["trace"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["--lang", "ko"], lambda hit: any("가" <= char <= "힣" for char in hit["title"] + hit["snippet"])),
        (["--path", "work/**"], lambda hit: hit["doc_path"].startswith("work/")),
        (["--tag", "postmortem"], lambda hit: "incidents" in hit["doc_path"]),
        (
            ["--path", "home/*", "--path", "health/*"],
            lambda hit: hit["doc_path"].split("/")[0] in ("home", "health"),
        ),
    ],
)
def test_filters_keep_only_what_matches(library: Cli, filters: list[str], expected: object) -> None:
    hits = library("search", "2025 the 년", *filters, "--json").json["hits"]
    assert hits
    assert all(expected(hit) for hit in hits)  # type: ignore[operator]


def test_a_bad_time_is_refused_with_an_example(library: Cli) -> None:
    result = library("search", "x", "--ingested-after", "yesterday", "--json")
    assert result.error["code"] == "invalid_input"
    assert "ISO 8601" in result.error["message"]


def test_a_time_before_the_ingest_keeps_everything_and_one_after_keeps_nothing(library: Cli) -> None:
    assert library("search", "seat", "--ingested-after", "2020-01-01").code == 0
    assert library("search", "seat", "--ingested-after", "2999-01-01T00:00:00+09:00").code == 1


def test_a_least_score_leaves_out_what_is_below_it_and_exits_with_1_where_nothing_is_left(
    library: Cli,
) -> None:
    every = library("search", "seat hold", "--per-chunk", "--json").json["hits"]
    least = str(every[0]["score"])
    best = library("search", "seat hold", "--per-chunk", "--min-score", least, "--json")
    assert [hit["chunk_id"] for hit in best.json["hits"]] == [every[0]["chunk_id"]]
    assert (best.code, best.json["withheld"]) == (0, len(every) - 1)
    none = library("search", "seat hold", "--min-score", "1")
    assert (none.code, none.out) == (1, "")
    assert "with a score below --min-score" in none.err
    assert "lower --min-score" in none.err
    assert "min_score" in library("search", "seat", "--min-score", "2").err


def test_a_cursor_continues_where_the_page_ended(library: Cli) -> None:
    whole = [hit["chunk_id"] for hit in library("search", "seat", "-k", "4", "--json").json["hits"]]
    first = library("search", "seat", "-k", "2", "--json").json
    second = library("search", "seat", "-k", "2", "--cursor", first["next_cursor"], "--json").json
    assert [hit["chunk_id"] for hit in first["hits"] + second["hits"]] == whole


def test_a_budget_shortens_and_says_so(library: Cli) -> None:
    response = library("search", "seat", "--max-tokens", "60", "--json").json
    assert response["truncated"] is True
    assert len(response["hits"]) < 10


def test_bulk_answers_each_line_with_one_object(library: Cli) -> None:
    lines = [{"query": "seat hold", "k": 1}, {"query": "김치찌개", "lang": ["ko"], "mode": "lexical", "k": 2}]
    result = library("search", "--bulk", stdin="".join(json.dumps(line) + "\n" for line in lines))
    seat, stew = result.lines
    assert result.code == 0
    assert seat["schema_version"] == "bulk_search_item.v1"
    assert len(seat["response"]["hits"]) == 1
    assert stew["response"]["hits"][0]["doc_path"] == "recipes/김치찌개.md"
    assert stew["error"] is None


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[1]",
        '{"k": 3}',
        '{"query": "x", "kk": 3}',
        '{"query": "x", "k": "3"}',
        '{"query": "x", "mode": "y"}',
        '{"query": "x", "k": true}',
        '{"query": "x", "k": 0}',
        '{"query": "x", "max_tokens": -5}',
        '{"query": "x", "snippet_chars": 3}',
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_a_bad_bulk_line_is_answered_with_the_expected_shape_and_stops_nothing(
    library: Cli, line: str
) -> None:
    result = library("search", "--bulk", stdin=f'{line}\n{{"query": "seat", "k": 1}}\n')
    bad, good = result.lines
    assert result.code == 1
    assert bad["error"]["code"] == "invalid_input"
    assert '{"query": ' in bad["error"]["hint"]
    assert len(good["response"]["hits"]) == 1


def test_bulk_takes_no_query_of_its_own(library: Cli) -> None:
    assert "stdin" in library("search", "seat", "--bulk", "--json").error["message"]


def test_a_word_to_exclude_that_the_shell_passed_as_an_option_is_explained(library: Cli) -> None:
    for command in (("search", "rust", "-cargo"), ("search", "-한국어 자바"), ("ask", "rust", "-cargo")):
        result = library(*command)
        assert result.code == 2
        assert f'kebab {command[0]} -- "rust -cargo"' in result.err
    assert "-- " not in library("search", "rust", "--cargo").err
    assert library("search", "--", "-cargo rust").code in (0, 1)


def test_the_screen_shows_each_document_once_and_json_both_forms(library: Cli) -> None:
    flat = library("search", "seat hold", "-k", "8", "--json").json
    shown = library("search", "seat hold", "-k", "4").out
    paths = [hit["doc_path"] for hit in flat["hits"]]
    grouped = [hit["doc_path"] for hit in flat["groups"]]
    assert len(set(paths)) < len(paths)
    assert len(set(grouped)) == len(grouped) > len(set(paths))
    assert [path for path in grouped[:4] if f"{path}#" in shown] == grouped[:4]
    first = flat["groups"][0]
    assert f"{len(first['others'])} more in this note" in shown
    every = library("search", "seat hold", "-k", "4", "--per-chunk").out
    assert "more in this note" not in every
    assert "groups" not in library("search", "seat hold", "--per-chunk", "--json").json


def test_pages_by_document_go_on_where_the_last_one_ended(library: Cli) -> None:
    whole = library("search", "seat hold", "-k", "4").out
    first = library("search", "seat hold", "-k", "2")
    cursor = first.err.split("--cursor ")[1].split()[0]
    second = library("search", "seat hold", "-k", "2", "--cursor", cursor)
    assert (first.out + second.out).count("#L") == whole.count("#L") == 4
    wrong = library("search", "seat hold", "-k", "2", "--per-chunk", "--cursor", cursor)
    assert "another query" in wrong.err


def test_bulk_equals_single_search(library: Cli) -> None:
    single = library("search", "seat hold", "-k", "3", "--json").json
    bulk = library("search", "--bulk", "-k", "3", stdin='{"query": "seat hold"}\n').lines[0]
    assert bulk["response"] == single


def test_why_explains_a_hit_a_miss_and_a_filter(library: Cli) -> None:
    shown = library("why", "work/architecture/booking-service.md", "seat hold")
    assert shown.code == 0
    assert "shown in the first 10" in shown.out
    missed = library("why", "recipes/sourdough.md", "expired certificate")
    assert missed.code == 1
    assert "not shown" in missed.out
    removed = library("why", "home/전세-계약.md", "전세", "--lang", "en", "--json")
    assert removed.json["removed_by"] == ["lang=en"]
    assert removed.json["shown"] is False


def test_why_of_an_unknown_document_is_an_error(library: Cli) -> None:
    assert library("why", "nowhere.md", "x", "--json").error["code"] == "doc_not_found"


def test_a_query_that_is_not_utf_8_is_a_query(library: Cli) -> None:
    found = library("search", "\udcff seat", "-k", "1", "--json")
    assert (found.code, found.json["query"]) == (0, "? seat")
    assert library("ask", "\udcff seat hold").code in (0, 1)
    broken, whole = library("search", "--bulk", stdin='{"query": "a \\ud800"}\n{"query": "seat"}\n').lines
    assert (broken["query"], broken["error"]) == ("a ?", None)
    assert whole["response"]["hits"]


@pytest.mark.parametrize(
    ("variable", "value", "key"),
    [
        ("KEBAB_SEARCH__HYBRID_FUSION", "magic", "search.hybrid_fusion"),
        ("KEBAB_MODELS__EMBEDDING__PROVIDER", "onnx", "models.embedding.path"),
    ],
)
def test_a_setting_that_cannot_work_is_an_error_that_names_it(
    library: Cli, variable: str, value: str, key: str
) -> None:
    error = library("search", "seat", "--json", **{variable: value}).error
    assert error["code"] == "config_invalid"
    assert key in error["message"]
    assert library("search", "seat", "--fusion", "magic", "--json").error["code"] == "invalid_input"


def test_a_typo_is_corrected_and_told_unless_that_is_forbidden(library: Cli) -> None:
    result = library("search", "idempotncy key")
    assert "searched for 'idempotency' instead of 'idempotncy'" in result.err
    response = library("search", "idempotncy key", "--json").json
    assert response["corrections"] == [{"word": "idempotncy", "instead": "idempotency"}]
    assert response["query"] == "idempotncy key"
    assert "corrections" not in library("search", "idempotncy key", "--exact", "--json").json
