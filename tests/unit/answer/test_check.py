"""What the check lets through, in English and Korean; each case is one that a model got wrong somewhere."""

from __future__ import annotations

import pytest

from kebab.answer.check import Verdict, check, check_quotes
from kebab.answer.decline import declines
from kebab.answer.passages import passages
from kebab.answer.shown import show
from kebab.domain.answers import RefusalReason
from tests.unit.answer.world import ANALYZER, World, evidence

TRAIN = (
    "The night train to Vienna leaves Zurich at 21:40 on 5 March 2026. "
    "It costs 1,290 francs for three people."
)
CACHE = "`HashMap` entries live for 30 seconds. Graydon Hoare wrote the first version in 2006."
LEASE = "전세 계약 갱신은 만료 2개월 전까지 알려야 합니다. 담당은 김민수 팀장이고 보증금은 3억 원입니다."


def judged(text: str, *texts: str) -> Verdict:
    return check(text, evidence(*texts), analyzer=ANALYZER)


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("The train leaves at 21:40 [#1].", TRAIN),
        ("It leaves Zurich on March 5, 2026. [#1]", TRAIN),
        ("It costs 1290 francs for 3 people [#1].", TRAIN),
        ("It costs 1,290 francs. It leaves at 21:40 [#1].", TRAIN),
        ("- The train to Vienna leaves at 21:40 [#1]", TRAIN),
        ("1. The train goes to Vienna [#1]", TRAIN),
        ("Entries of a `HashMap` live for 30 seconds [#1].", CACHE),
        ("Graydon Hoare wrote it in 2006 [#1].", CACHE),
        ('The source says "Entries live for 30 seconds" [#1].', "Entries live for 30 seconds."),
        ("만료 2개월 전까지 알려야 합니다 [#1].", LEASE),
        ("담당은 김민수 팀장입니다 [#1].", LEASE),
        ("2026년 3월 5일에 출발합니다 [#1].", TRAIN),
    ],
)
def test_a_sentence_whose_facts_stand_in_what_it_cites_is_supported(answer: str, source: str) -> None:
    verdict = judged(answer, source)
    assert verdict.refusal is None, [claim.problems for claim in verdict.claims]
    assert all(claim.supported for claim in verdict.claims)


@pytest.mark.parametrize(
    ("answer", "source", "fact"),
    [
        ("The train leaves at 21:45 [#1].", TRAIN, "45"),
        ("It leaves on March 6, 2026 [#1].", TRAIN, "6"),
        ("It leaves on 5 April 2026 [#1].", TRAIN, "April"),
        ("It costs 1,920 francs [#1].", TRAIN, "1920"),
        ("The train goes to Budapest [#1].", TRAIN, "Budapest"),
        ("Linus Torvalds wrote the first version [#1].", CACHE, "Linus"),
        ("Entries of a `BTreeMap` live for 30 seconds [#1].", CACHE, "BTreeMap"),
        ("The BTreeMap keeps them [#1].", CACHE, "BTreeMap"),
        ('It says "entries are kept for ever" [#1].', CACHE, "entries are kept for ever"),
        ("만료 3개월 전까지 알려야 합니다 [#1].", "만료 2개월 전까지 알려야 합니다.", "3"),
        ("담당은 박지영 팀장입니다 [#1].", LEASE, "박지영"),
        ("보증금은 3억 원이고 Kakao로 알립니다 [#1].", LEASE, "Kakao"),
        ("The formula of caffeine is C8H10N4O2 [#1].", "Adam is an optimizer.", "C8H10N4O2"),
    ],
)
def test_a_number_a_date_or_a_name_that_the_source_lacks_is_named(
    answer: str, source: str, fact: str
) -> None:
    verdict = judged(answer, source)
    assert verdict.refusal is RefusalReason.UNSUPPORTED
    assert any(fact in problem for claim in verdict.claims for problem in claim.problems)


def test_a_fact_must_stand_in_the_cited_item_not_in_another() -> None:
    verdict = judged("The train leaves at 21:40 [#2].", TRAIN, CACHE)
    assert verdict.refusal is RefusalReason.UNSUPPORTED


def test_a_marker_that_was_not_given_is_no_citation() -> None:
    assert judged("The train leaves at 21:40 [#7].", TRAIN).refusal is RefusalReason.NOT_CITED


def test_an_answer_without_markers_is_not_grounded() -> None:
    assert judged("The train leaves at 21:40.", TRAIN).refusal is RefusalReason.NOT_CITED


def test_bracketed_numbers_of_prose_and_code_are_no_markers() -> None:
    assert judged("See [1] and arr[2].", TRAIN).refusal is RefusalReason.NOT_CITED


def test_an_uncited_sentence_may_not_bring_its_own_numbers() -> None:
    verdict = judged("The train leaves at 21:40 [#1].\nTickets sell out 90 days before.", TRAIN)
    assert verdict.refusal is RefusalReason.UNSUPPORTED
    assert verdict.claims[0].problems == ()
    assert verdict.claims[1].problems


def test_a_marker_behind_the_full_stop_and_a_list_of_markers_are_read() -> None:
    verdict = judged("The train goes to Vienna. [#1] Entries live for 30 seconds [#1, #2].", TRAIN, CACHE)
    assert [claim.markers for claim in verdict.claims] == [(1,), (1, 2)]


def test_a_name_in_the_other_script_is_not_held_against_a_translation() -> None:
    verdict = judged("The meeting was in Seoul [#1].", "회의는 서울에서 열렸습니다.")
    assert verdict.refusal is None


def test_a_supported_claim_quotes_the_very_lines() -> None:
    text = "The oven is hot.\n\nThe dough rises\nfor twelve hours. Then it is baked."
    verdict = judged("The dough rises for twelve hours [#1].", text)
    quote = verdict.claims[0].quotes[0]
    assert quote.text == "The dough rises for twelve hours."
    assert (quote.citation.start, quote.citation.end) == (12, 13)


@pytest.mark.parametrize(
    "sentence",
    [
        "The evidence does not mention the formula of caffeine.",
        "I don't know.",
        "I'm sorry, but I cannot find this in the provided documents.",
        "There is no information about this in the context.",
        "This is not mentioned in the evidence.",
        "The provided evidence is insufficient to answer the question.",
        "Based on the evidence, I am unable to answer.",
        "근거에 없습니다.",
        "제공된 문서에는 관련 내용이 없습니다.",
        "주어진 근거만으로는 알 수 없습니다.",
        "카페인의 화학식은 언급되어 있지 않습니다.",
        "해당 정보를 찾을 수 없습니다.",
        "죄송하지만 답변할 수 없습니다.",
    ],
)
def test_a_polite_no_is_a_refusal_even_with_a_marker(sentence: str) -> None:
    assert declines(sentence)
    verdict = judged(f"{sentence} Adam is an optimizer [#1].", "Adam is an optimizer.")
    assert verdict.refusal is RefusalReason.DECLINED


@pytest.mark.parametrize(
    "sentence",
    [
        "The compiler does not know the size of a recursive type.",
        "Rust does not have null.",
        "If the key is not found in the map, `get` returns `None`.",
        "A vector cannot be indexed beyond its end.",
        "The function returns no value.",
        "컴파일러는 재귀 타입의 크기를 알 수 없으면 에러를 냅니다.",
        "파일을 찾을 수 없으면 프로그램이 패닉합니다.",
        "러스트에는 널이 없습니다.",
    ],
)
def test_a_plain_negative_statement_is_no_refusal(sentence: str) -> None:
    assert not declines(sentence)


def test_an_empty_answer_is_a_refusal() -> None:
    assert judged("  \n", TRAIN).refusal is RefusalReason.DECLINED


def test_words_of_the_source_that_sound_like_a_refusal_are_no_refusal_when_quoted() -> None:
    source = "The evidence does not mention the year."
    item = evidence(source)[0]
    assert check_quotes([(passages(source)[0], "", item)]).refusal is None


def test_a_quoted_passage_must_stand_in_its_source_word_for_word() -> None:
    item = evidence(TRAIN)[0]
    other = passages("The train leaves Zurich at noon.")[0]
    assert check_quotes([(other, show(other), item)]).refusal is RefusalReason.UNSUPPORTED


def test_a_dash_at_the_end_of_a_line_is_no_word_that_is_missing() -> None:
    world = World(threshold=0.0)
    world.add(
        "login.md",
        "How to set up the login:\n\n1. Open the console -\n   you will be asked to sign in.\n2. Done.",
    )
    assert world.ask("how do I set up the login?").refusal is None


@pytest.mark.parametrize(
    "quoted", ["   > - A cycle is not all:\n   >   > - one is locked\n   >   > - two may be locked\n"]
)
def test_items_of_a_quotation_inside_a_quotation_stand_in_it(quoted: str) -> None:
    item = evidence(quoted)[0]
    for passage in passages(quoted):
        assert check_quotes([(passage, show(passage), item)]).refusal is None


def test_what_is_cleaned_for_the_eye_is_quoted_verbatim() -> None:
    source = "The **lawn mower** takes [SAE 30](https://example.org/oil) oil."
    claim = check_quotes([(first := passages(source)[0], show(first), evidence(source)[0])]).claims[0]
    assert claim.text == "The lawn mower takes SAE 30 oil."
    assert claim.quotes[0].text == source
