"""How results look: what stands where, at any width, with and without colours."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from kebab.cli import output, render
from kebab.cli.screen import Screen, width
from kebab.domain.citations import Citation, CitationKind, SourceState
from kebab.domain.fusion import Ranked
from kebab.domain.hits import (
    Degradation,
    FusionNote,
    Leg,
    LegEvidence,
    RerankDetail,
    RetrievalDetail,
    ScoreKind,
    SearchHit,
    SearchResponse,
    SearchTrace,
    Snippet,
)
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.queries import SearchMode
from kebab.domain.why import ChunkPlace, LegPlace, WhyReport

PLAIN = Screen(columns=80)
COLOR = Screen(columns=80, color=True, links=True, terminal=True)

HIT = SearchHit(
    rank=1,
    score=0.99193548,
    score_kind=ScoreKind.RRF,
    chunk_id=ChunkId("c" * 32),
    doc_id=DocId("d" * 32),
    doc_path="home/전세-계약.md",
    title="전세 계약",
    heading_path=("전세 계약", "갱신"),
    section_label="갱신",
    snippet=Snippet("## 갱신\n계약갱신요구권은 만료 6개월 전부터\n쓸 수 있다.", ((3, 5), (8, 10))),
    citation=Citation(CitationKind.LINE, "home/전세-계약.md", 17, 20),
    retrieval=RetrievalDetail(SearchMode.HYBRID, 0.9919, lexical_rank=1, lexical_score=0.9),
    index_version="hybrid:lex+vec",
    embedding_model="m",
    chunker_version="md-heading-v1",
    indexed_at="2026-01-01T00:00:00Z",
    old=False,
    source_id="default",
    trust_level="primary",
    evidence=(LegEvidence(Leg.LEXICAL, 1, 14.25, 0.5, ("계약", "갱신")),),
)
RESPONSE = SearchResponse(
    query="계약 갱신",
    mode=SearchMode.HYBRID,
    hits=(HIT,),
    next_cursor=None,
    truncated=False,
    degraded=(),
    index_version="hybrid:lex+vec",
    fusion=FusionNote("rrf", {"lexical": 1.0, "vector": 1.0}, "ranks count alike, k = 60"),
)


def shown(response: SearchResponse = RESPONSE, *, screen: Screen = PLAIN, explain: bool = False) -> str:
    text = render.search_results(response, screen=screen, explain=explain, locate=lambda hit: "file:///x")
    return output.shown(text)


def without_escapes(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\", "", text)


def test_a_hit_shows_rank_score_citation_headings_and_marked_words() -> None:
    assert shown().split("\n") == [
        " 1. 0.9919  home/전세-계약.md#L17-L20",
        "    전세 계약 › 갱신",
        "    ## «갱신»",
        "    계약«갱신»요구권은 만료 6개월 전부터",
        "    쓸 수 있다.",
    ]


def test_on_a_terminal_words_are_coloured_and_the_citation_is_a_link() -> None:
    text = shown(screen=COLOR)
    assert "«" not in text
    assert "\x1b]8;;file:///x\x1b\\" in text
    assert "계약갱신요구권은" in without_escapes(text)


def test_explain_gives_each_leg_a_bar_its_rank_raw_score_contribution_and_terms() -> None:
    lines = shown(explain=True).split("\n")
    (words,) = [line for line in lines if line.startswith("    words")]
    assert "█████·····" in words
    assert re.search(r"#1\s+bm25\s+14\.2500\s+\+0\.5000\s+계약 갱신", words)
    assert "    meaning ··········  not found by this leg" in lines
    assert "fused   rrf (words 1 meaning 1): ranks count alike, k = 60" in lines
    assert "index   hybrid:lex+vec" in lines
    assert "model   m · chunker md-heading-v1" in lines


def test_matched_words_without_room_beside_the_bar_stand_below_it() -> None:
    lines = shown(screen=Screen(columns=60), explain=True).split("\n")
    words = lines.index(next(line for line in lines if line.startswith("    words")))
    assert lines[words].endswith("+0.5000")
    assert lines[words + 1] == "            계약 갱신"


def test_headings_that_do_not_fit_keep_the_nearest_one() -> None:
    deep = replace(HIT, heading_path=("A very long title of a document " * 3, "갱신"))
    _, headings, *_ = shown(replace(RESPONSE, hits=(deep,))).split("\n")
    assert headings.endswith("› 갱신")
    assert width(headings) <= 80


def test_a_leg_that_did_not_run_is_not_said_to_have_missed() -> None:
    degraded = replace(RESPONSE, degraded=(Degradation("vector", "model_unavailable", "no model"),))
    assert "not found by this leg" not in shown(degraded, explain=True)


def test_what_did_not_take_part_is_named_with_what_to_do() -> None:
    gone = Degradation("vector", "model_unavailable", "there is no model in /m", "see: kebab models list")
    assert render.degradation(gone) == (
        "meaning did not take part: there is no model in /m; see: kebab models list"
    )
    behind = Degradation("lexical", "index_behind", "the words index lacks 3 documents")
    assert render.degradation(behind) == "the words index lacks 3 documents"
    lost = Degradation("answers", "locked", "this answer was not stored")
    assert render.degradation(lost) == "this answer was not stored"


def test_a_single_leg_shows_no_other() -> None:
    single = replace(HIT, retrieval=RetrievalDetail(SearchMode.LEXICAL, 0.9))
    assert "meaning" not in render.hit(single, screen=PLAIN, locate=lambda hit: None, legs=list(Leg))


def test_explain_says_what_the_reranker_did_and_names_it_once() -> None:
    moved = replace(HIT, rerank=RerankDetail("org/reads-both", 3.25, rank=1, rank_before=7))
    text = shown(replace(RESPONSE, hits=(moved, HIT)), explain=True)
    assert "rerank  #1    score 3.2500  was #7" in text
    assert text.count("org/reads-both put the first 1 of these in order") == 1
    assert "was #7" not in shown(replace(RESPONSE, hits=(moved,)))


def test_explain_says_why_a_repetition_stands_so_low() -> None:
    text = shown(replace(RESPONSE, hits=(replace(HIT, repeats=ChunkId("a" * 32)),)), explain=True)
    assert f"moved down: chunk {'a' * 32} above holds most of it" in text


def a_place(number: int, verdict: str, *, mode: SearchMode = SearchMode.HYBRID) -> ChunkPlace:
    given = LegPlace(Leg.VECTOR, 3, 0.5, 0.25, (), (), "place 3 of 9")
    other = LegPlace(Leg.LEXICAL, None, None, None, (), ("계약",), "holds no word of the query")
    legs = (other, given) if mode is SearchMode.HYBRID else (replace(given, contribution=None),)
    citation = f"a.md#L{number}"
    return ChunkPlace(ChunkId(str(number)), citation, ("A",), number, 0.75, number == 1, legs, verdict)


def a_report(*places: ChunkPlace) -> WhyReport:
    return WhyReport("q", SearchMode.HYBRID, 10, "a.md", (), places, None, "the sum of it")


def test_why_names_the_document_or_the_single_chunk_and_wraps_its_verdicts() -> None:
    moved = a_place(20, "at place 20, below the cut at k = 10; moved down: a.md#L1 above holds most of it")
    screen = Screen(columns=50)
    whole = render.why(a_report(a_place(1, "shown"), moved), screen=screen).split("\n")
    assert whole[0] == "a.md: shown in the first 10"
    assert moved.verdict in " ".join(line.strip() for line in whole)
    assert max(width(line) for line in whole) <= 50
    assert render.why(a_report(moved), screen=screen).startswith("a.md#L20: not shown in the first 10")


def test_why_of_a_single_mode_draws_the_score_of_its_leg() -> None:
    text = render.why(a_report(a_place(1, "shown", mode=SearchMode.VECTOR)), screen=PLAIN)
    assert "    meaning ███████▌··  #3    cosine   0.5000" in text


def test_the_source_is_named_where_the_page_comes_from_several() -> None:
    other = replace(HIT, source_id="papers")
    first, second = (
        line for line in shown(replace(RESPONSE, hits=(HIT, other))).split("\n") if ". 0." in line
    )
    assert first.endswith("#L17-L20  default")
    assert second.endswith("#L17-L20  papers")
    assert "default" not in shown(replace(RESPONSE, hits=(HIT, HIT)))


def headline(**changes: Any) -> str:
    hit = replace(HIT, citation=replace(HIT.citation, source_state=changes.pop("state", None)), **changes)
    return shown(replace(RESPONSE, hits=(hit,))).split("\n")[0]


def test_a_hit_says_what_became_of_its_file_and_apart_from_that_how_old_it_is() -> None:
    plain = headline()
    assert headline(state=SourceState.CURRENT) == plain
    assert headline(state=SourceState.CHANGED) == f"{plain}  changed since it was indexed"
    assert headline(state=SourceState.GONE) == f"{plain}  the file is gone"
    assert headline(state=SourceState.CURRENT, old=True) == f"{plain}  indexed on {HIT.indexed_at[:10]}"


def test_a_trace_lists_the_candidates_of_each_leg_and_the_times() -> None:
    trace = SearchTrace({"lexical": [Ranked(HIT.chunk_id, 14.25)]}, {"lexical_ms": 1.25})
    text = shown(replace(RESPONSE, trace=trace))
    assert "lexical: 1 candidate" in text
    assert "14.2500" in text
    assert "time    lexical 1.2 ms" in text


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("color", [True, False])
def test_nothing_is_wider_than_the_screen(columns: int, color: bool) -> None:
    text = "계약을 갱신하려면 미리 알려야 한다 and so on and on; " * 8
    marks = tuple((m.start(), m.end()) for m in re.finditer("갱신|알려", text))
    hit = replace(HIT, snippet=Snippet(text, marks), heading_path=("아주 긴 제목 " * 12, "절"))
    screen = Screen(columns=columns, color=color, links=color, terminal=color)
    lines = without_escapes(shown(replace(RESPONSE, hits=(hit,)), screen=screen, explain=True)).split("\n")
    assert max(width(line) for line in lines) <= columns


def test_lines_of_source_code_stay_apart() -> None:
    hit = replace(HIT, snippet=Snippet("def position(self):\n\n    return 1"), code_lang="python")
    lines = without_escapes(shown(replace(RESPONSE, hits=(hit,)), screen=PLAIN)).split("\n")
    assert lines[2:4] == ["    def position(self):", "        return 1"]
