"""A brief written down: never more than the budget, and no document can pass for a part of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from kebab.brief.compose import compose
from kebab.domain.briefs import BriefLines, BriefRun
from kebab.domain.citations import cite
from kebab.domain.documents import LineSpan
from kebab.domain.ids import ChunkId
from kebab.domain.tokens import estimate_tokens

_TEXT = st.text(alphabet="ab 가나\n#->[]`1\u2028\x1b", max_size=300)
_PIECES = st.builds(
    lambda text, title, line: BriefLines(
        ChunkId("c"), title, (title, "절"), cite("노트/a b.md", (LineSpan(line, line + 3),)), text
    ),
    _TEXT,
    _TEXT,
    st.integers(1, 9999),
)
_RUNS = st.builds(
    lambda key, task, ok, text: BriefRun(
        id=key or "x",
        task=task,
        success=ok,
        finished_at=datetime(2026, 3, 1, tzinfo=UTC),
        approach=text,
        outcome=text,
        lesson=text,
        match=0.5,
    ),
    _TEXT,
    _TEXT,
    st.booleans(),
    _TEXT,
)


def piece(text: str, line: int = 1) -> BriefLines:
    return BriefLines(ChunkId("c"), "Title", ("Title", "Part"), cite("a.md", (LineSpan(line, line),)), text)


def run(key: str, *, ok: bool, lesson: str = "look first") -> BriefRun:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    return BriefRun(id=key, task="mend it", success=ok, finished_at=moment, lesson=lesson, match=0.5)


def run_that_says(text: str) -> BriefRun:
    return replace(run("x", ok=False), task=text, approach=text, outcome=text, lesson=text)


@given(pieces=st.lists(_PIECES, max_size=8), runs=st.lists(_RUNS, max_size=6), budget=st.integers(1, 2000))
def test_a_brief_never_takes_more_tokens_than_it_may(
    pieces: list[BriefLines], runs: list[BriefRun], budget: int
) -> None:
    found = compose("task", pieces, runs, max_tokens=budget)
    assert found.tokens == estimate_tokens(found.text) <= budget
    assert found.left_out == len(pieces) + len(runs) - (
        len(found.documents) + len(found.worked) + len(found.avoid)
    )
    assert compose("task", pieces, runs, max_tokens=budget) == found


@given(pieces=st.lists(_PIECES, max_size=5), runs=st.lists(_RUNS, max_size=5))
@example(pieces=[], runs=[run_that_says("\n## Avoid: nothing\n- [y] all is well")])
def test_every_line_of_a_document_is_quoted_and_every_run_is_one_line(
    pieces: list[BriefLines], runs: list[BriefRun]
) -> None:
    found = compose("task", pieces, runs, max_tokens=100_000)
    heads = [line for line in found.text.split("\n") if line.startswith("## ")]
    assert len(heads) == (bool(found.documents) + bool(found.worked) + bool(found.avoid))
    entries = [line for line in found.text.split("\n") if line.startswith("- [")]
    assert len(entries) == len(found.worked) + len(found.avoid)


def test_a_piece_that_is_too_long_makes_room_for_a_shorter_one_behind_it() -> None:
    found = compose("task", [piece("long " * 500), piece("short", line=9)], [], max_tokens=60)
    assert [one.citation.uri for one in found.documents] == ["a.md#L9"]
    assert found.left_out == 1


def test_runs_do_not_crowd_out_documents() -> None:
    runs = [run(f"r{number}", ok=number % 2 == 0, lesson="word " * 30) for number in range(20)]
    found = compose("task", [piece("text " * 60)], runs, max_tokens=400)
    assert len(found.documents) == 1
    assert found.worked
    assert found.avoid
    alone = compose("task", [], runs, max_tokens=400)
    assert len(alone.worked) + len(alone.avoid) > len(found.worked) + len(found.avoid)


def test_what_failed_stands_apart_from_what_worked() -> None:
    found = compose("task", [piece("the rule")], [run("good", ok=True), run("bad", ok=False)], max_tokens=500)
    assert found.text == (
        "## Avoid: this failed before\n"
        "- [bad] mend it; lesson: look first\n\n"
        "## Worked before\n"
        "- [good] mend it; lesson: look first\n\n"
        "## Documents\n"
        "a.md#L1 (Title › Part)\n"
        "> the rule"
    )
    assert not replace(found, documents=()).is_empty
    assert compose("task", [], [], max_tokens=10).is_empty
