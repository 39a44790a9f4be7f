"""Sentences that can be quoted, each with its own lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.answer.check import check
from kebab.answer.sentences import sentences, with_lists
from tests.unit.answer.world import ANALYZER, evidence


def texts(markdown: str) -> list[str]:
    return [sentence.text for sentence in sentences(markdown)]


def test_prose_is_cut_at_full_stops_in_both_languages() -> None:
    assert texts("One is here. Two is\nthere! 셋은 여기 있습니다. 넷은 저기 있다.") == [
        "One is here.",
        "Two is there!",
        "셋은 여기 있습니다.",
        "넷은 저기 있다.",
    ]


def test_abbreviations_versions_and_code_end_no_sentence() -> None:
    text = "Use e.g. version 1.2.3 of it. The `?` operator, i.e. the question mark, returns early."
    assert texts(text) == [
        "Use e.g. version 1.2.3 of it.",
        "The `?` operator, i.e. the question mark, returns early.",
    ]


def test_headings_code_comments_and_markup_are_left_out() -> None:
    text = (
        "# Title\n\n```rust\nfn main() {}\n```\n\n<!-- hidden\nSecret words. -->\n<div>\n\nSaid aloud.\n\n"
        "> ## Aside\n> Quoted too."
    )
    assert texts(text) == ["Said aloud.", "Quoted too."]


def test_the_end_of_a_cut_code_block_is_code() -> None:
    assert texts("    let x = 1;\n}\n```\n\nProse again.") == ["Prose again."]


def test_a_sentence_knows_its_lines() -> None:
    found = sentences("# Title\n\nFirst one.\nSecond\ngoes on. Third.")
    assert [(s.first, s.last) for s in found] == [(2, 2), (3, 4), (4, 4)]


def test_a_list_stands_with_the_sentence_that_announces_it() -> None:
    text = "Keep these in mind:\n\n- Each value has an owner.\n- There is only one.\n\nThen go on."
    first, second = with_lists(sentences(text))
    assert first.text == "Keep these in mind: - Each value has an owner. - There is only one."
    assert (first.first, first.last, first.holds_list) == (0, 3, True)
    assert second.text == "Then go on."


def test_an_announcement_of_code_says_nothing_by_itself() -> None:
    assert with_lists(sentences("Like this:\n\n```\nx\n```\n")) == []


@pytest.mark.parametrize(
    "between",
    ["| a | b |\n|---|---|\n", "![diagram](x.png)\n", "```sh\nrun\n```\n", "<br>\n", "---\n", "## Next\n"],
)
def test_a_list_after_something_else_does_not_belong_to_the_sentence_before(between: str) -> None:
    text = f"Keep these in mind:\n\n{between}\n- Each value has an owner.\n"
    assert not any("mind" in s.text and "owner" in s.text for s in with_lists(sentences(text)))


LINES = st.sampled_from(
    [
        "Lead in:",
        "- item one.",
        "| a | b |",
        "|---|---|",
        "![i](p.png)",
        "```",
        "",
        "Prose. More:",
        "> - q",
        "# H",
    ]
)


@given(st.lists(LINES, max_size=12))
def test_whatever_is_quoted_with_its_list_stands_in_the_text_without_a_gap(lines: list[str]) -> None:
    text = "\n".join(lines)
    for sentence in with_lists(sentences(text)):
        verdict = check(f"{sentence.text} [#1]", evidence(text), verbatim=True, analyzer=ANALYZER)
        assert not any(claim.problems for claim in verdict.claims), (sentence, verdict)


@given(st.text(alphabet=st.sampled_from("ab. \n`>#-|<!?:한다"), max_size=200))
def test_every_sentence_stands_inside_its_lines(text: str) -> None:
    lines = text.split("\n")
    for sentence in sentences(text):
        assert 0 <= sentence.first <= sentence.last < len(lines)
        assert sentence.text == " ".join(sentence.text.split()) != ""
