"""Sentences that can be quoted, each with its own lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.answer.check import check_quotes
from kebab.answer.passages import passages
from kebab.answer.sentences import sentences
from kebab.answer.shapes import Shape
from kebab.answer.shown import show
from tests.unit.answer.world import evidence


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


def test_a_particle_behind_a_version_begins_no_sentence() -> None:
    text = "이 모드는 1.2.0. 부터 도입되었다. 이후 바뀌지 않았다."
    assert [one.text for one in sentences(text)] == [
        "이 모드는 1.2.0. 부터 도입되었다.",
        "이후 바뀌지 않았다.",
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
    found = next(p for p in passages(text) if p.shape is Shape.LIST)
    assert found.text == "Keep these in mind: - Each value has an owner. - There is only one."
    assert (found.first, found.last) == (0, 3)


def test_code_stands_with_the_sentence_that_announces_it() -> None:
    found = next(
        p for p in passages("Run it like this:\n\n```sh\nzola serve\n```\n") if p.shape is Shape.CODE
    )
    assert (found.text, found.code) == ("Run it like this: zola serve", "zola serve")


def test_a_row_of_a_table_is_read_with_its_header() -> None:
    row = passages("| Name | Phone |\n|---|---|\n| Mia | 0160 44 |\n")[0]
    assert show(row) == "Name: Mia; Phone: 0160 44"


@pytest.mark.parametrize(
    "leaning", ["This is because it was old.", "If you need it, press X.", "이는 오래되었기 때문이다."]
)
def test_a_sentence_that_leans_on_the_one_before_is_quoted_with_it(leaning: str) -> None:
    found = [p.text for p in passages(f"The lamp broke. {leaning}")]
    assert f"The lamp broke. {leaning}" in found
    assert leaning not in found


def test_the_sentence_that_gives_the_value_comes_along() -> None:
    found = [p.text for p in passages("The size depends on the plan. For the small plan it is 5 MB.")]
    assert "The size depends on the plan. For the small plan it is 5 MB." in found


@pytest.mark.parametrize("default", ["Default 2 minutes.", "Default: `2m`.", "The default is two minutes."])
def test_a_default_comes_along_though_another_sentence_stands_between(default: str) -> None:
    setting = "timeout sets the longest time to wait for records to appear."
    found = [passage.text for passage in passages(f"{setting} Set to `-1` to disable checks. {default}")]
    assert f"{setting} Set to `-1` to disable checks. {default}" in found
    assert f"{setting} Set to `-1` to disable checks." not in found


def test_the_default_below_a_setting_comes_along() -> None:
    text = ": Set the address of the server.\n\n    Defaults to port 9998."
    assert any("address" in p.text and "9998" in p.text for p in passages(text))


@pytest.mark.parametrize(
    "between",
    ["| a | b |\n|---|---|\n", "![diagram](x.png)\n", "```sh\nrun\n```\n", "<br>\n", "---\n", "## Next\n"],
)
def test_a_list_after_something_else_does_not_belong_to_the_sentence_before(between: str) -> None:
    text = f"Keep these in mind:\n\n{between}\n- Each value has an owner.\n"
    assert not any("mind" in p.text and "owner" in p.text for p in passages(text))


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
    for passage in passages(text):
        verdict = check_quotes([(passage, show(passage), evidence(text)[0])])
        assert verdict.refusal is None, (passage, verdict)


@given(st.text(alphabet=st.sampled_from("ab. \n`>#-|<!?:한다"), max_size=200))
def test_every_sentence_stands_inside_its_lines(text: str) -> None:
    lines = text.split("\n")
    for sentence in sentences(text):
        assert 0 <= sentence.first <= sentence.last < len(lines)
        assert sentence.text == " ".join(sentence.text.split()) != ""


def test_prose_in_which_sentences_run_over_the_ends_of_lines_is_no_list_however_wide_its_lines_are() -> None:
    source = (
        "The keys are kept in a safe behind the desk. Whoever\n"
        "needs one\n"
        "signs for it with a date and an hour, which the book asks for. Lost keys are\n"
        "paid for by the office"
    )
    assert texts(source)[:2] == [
        "The keys are kept in a safe behind the desk.",
        "Whoever needs one signs for it with a date and an hour, which the book asks for.",
    ]
    assert not any(sentence.item for sentence in sentences(source))


def test_one_line_that_holds_a_long_link_is_no_measure_for_the_others() -> None:
    source = (
        "Who wants to publish a package needs an account and a token,\n"
        "which the page of the account shows for as long as it is valid\n"
        "and as nobody has withdrawn it or made another one in between\n"
        "(https://packages.example.org/account/settings/tokens/personal/of/this/machine)"
    )
    assert len(texts(source)) == 1


def test_where_every_other_line_ends_a_sentence_the_lines_between_run_on() -> None:
    source = (
        "최적화 수치를 높이면 빌드가\n"
        "느려지므로 개발하는 동안에는 낮게 두는 편이 좋습니다.\n"
        "그래서 기본값은 낮습니다.\n"
        "배포할 때는 높은 값이 기본입니다."
    )
    assert (
        texts(source)[0]
        == "최적화 수치를 높이면 빌드가 느려지므로 개발하는 동안에는 낮게 두는 편이 좋습니다."
    )


def test_entries_of_a_list_without_signs_stay_entries() -> None:
    source = "Mar 24 - London\nApr 3 - Paris and the day after by train to Lyon\nMay 1 - home"
    assert [sentence.item for sentence in sentences(source)] == [True, True, True]


def test_the_signs_of_a_quotation_inside_an_item_are_no_text() -> None:
    source = "- ODBC\n\n     > An open interface to databases.\n     >\n     > > Made in 1992.\n"
    assert texts(source) == ["ODBC", "An open interface to databases.", "Made in 1992."]
