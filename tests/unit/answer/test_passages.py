"""What an answer may quote, and which of it makes the answer."""

from __future__ import annotations

import pytest

from kebab.answer.kinds import Kind, definition, fits, kind_of, named
from kebab.answer.measured import FEATURES
from kebab.answer.passages import passages
from kebab.answer.rank import Scored
from kebab.answer.select import select
from kebab.answer.sentences import sentences
from kebab.answer.shapes import Shape
from kebab.answer.shown import show
from tests.samples import sample
from tests.unit.answer.world import World


def texts(source: str, shape: Shape) -> list[str]:
    return [show(passage) for passage in passages(source) if passage.shape is shape]


def test_a_table_is_also_the_list_of_its_first_column() -> None:
    source = "| Phase | Meaning |\n|---|---|\n| `Pending` | waits |\n| `Running` | runs |\n"
    assert texts(source, Shape.LIST) == ["Phase: `Pending`, `Running`"]


def test_a_table_may_do_without_bars_at_the_ends() -> None:
    source = (
        "Phases:\n\nPhase | Meaning\n:----|:----\n`Pending` | It waits.\n`Running` | It runs.\n\nThe end.\n"
    )
    assert texts(source, Shape.ROW) == [
        "Phase: `Pending`; Meaning: It waits.",
        "Phase: `Running`; Meaning: It runs.",
    ]
    assert texts(source, Shape.SENTENCE) == ["Phases:", "The end."]


def test_a_list_is_announced_in_passing_too() -> None:
    source = "The rollout may be stuck for several reasons.\n\n* too little quota\n* a failing probe\n"
    assert texts(source, Shape.LIST) == [
        "The rollout may be stuck for several reasons. - too little quota - a failing probe"
    ]
    item = next(passage for passage in passages(source) if passage.shape is Shape.ITEM)
    assert "stuck" in item.around


def test_a_comment_in_backticks_is_what_to_type() -> None:
    assert "<!-- more -->" in passages("Add `<!-- more -->` where the summary ends.")[0].text
    assert "hidden" not in passages("Seen. <!-- hidden --> Also seen.")[0].text


@pytest.mark.parametrize(
    ("question", "text", "fit"),
    [
        ("How many customers were charged twice?", "41 customers were charged twice.", 1.0),
        ("How many customers were charged twice?", "It began at 09:42.", 0.7),
        ("레이블은 최대 몇 자인가?", "최대 63자이다.", 1.0),
        ("How long is a seat held?", "A seat is held for seven minutes.", 1.0),
        ("How long is a seat held?", "Row 7 is held.", 0.7),
        ("전세 보증금은 얼마인가?", "보증금은 2억 8천만 원이다.", 1.0),
    ],
)
def test_a_number_fits_best_in_what_was_asked_to_be_counted(question: str, text: str, fit: float) -> None:
    assert kind_of(question) is Kind.NUMBER
    assert fits(Kind.NUMBER, Shape.SENTENCE, text, question) == pytest.approx(fit)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("접근을 구성하는 데 쓰는 파일을 kubeconfig 파일이라고 한다.", "kubeconfig 파일"),
        ("쿠버네티스에서 컨트롤러는 상태를 관찰하는 컨트롤 루프이다.", "컨트롤러"),
        ("Restricted mode disables all community plugins.", "Restricted mode"),
        ("To turn on Restricted mode: open the settings.", ""),
    ],
)
def test_a_definition_names_what_it_defines(text: str, subject: str) -> None:
    assert definition(text)[0] == subject


def test_a_name_is_news_only_if_the_question_lacks_it() -> None:
    assert named("Which flag includes drafts?", ["Pass the `--drafts` flag."]) == [1.0]
    assert named("Which flag goes with `--drafts`?", ["Pass `--drafts`."]) == [0.0]
    assert named("Why are drafts left out?", ["Pass the `--drafts` flag."]) == [0.0]


def test_one_line_of_code_is_quoted_with_the_sentence_that_says_what_it_does() -> None:
    source = "This command prunes the log of old entries.\n\n```shell\nprune_logs\n```\n"
    assert texts(source, Shape.CODE) == ["This command prunes the log of old entries. prune_logs"]


def scored(source: str, place: int, worth: float, **features: float) -> Scored:
    values = tuple(features.get(name, 0.9 if name == "context" else 0.0) for name in FEATURES)
    found = passages(source)[place]
    return Scored(
        found, sample("note.md", source).stored()[0], 0, values, worth, frozenset(found.text.lower().split())
    )


def test_what_only_announces_is_quoted_with_what_it_announces() -> None:
    source = "Images are placed here:\n\n```\nstatic/processed\n```\n"
    sentence, code = (p.place for p in passages(source))
    chosen = select([scored(source, sentence, 9.0), scored(source, code, 7.0)])
    assert [one.passage.shape for one in chosen] == [Shape.CODE]


def test_the_code_below_the_last_item_of_a_list_is_quoted_instead_of_the_announcement() -> None:
    source = "The address is shown by these:\n\n- Minikube\n\n    ```\n    minikube ip\n    ```\n"
    found = passages(source)
    announced = next(p.place for p in found if p.shape is Shape.LIST)
    code = next(p.place for p in found if p.shape is Shape.CODE)
    chosen = select([scored(source, announced, 9.0, own=0.9, news=0.9), scored(source, code, 7.5)])
    assert [one.passage.code.strip() for one in chosen] == ["minikube ip"]


def test_little_follows_a_line_that_is_just_what_was_asked_for() -> None:
    source = "41 customers were charged twice. All of them were refunded. Nobody was told at night."
    charged, refunded, told = (
        next(p.place for p in passages(source) if p.text == one.text) for one in sentences(source)
    )
    ranked = [
        scored(source, charged, 9.0, number=1.0),
        scored(source, refunded, 8.2),
        scored(source, told, 8.0),
    ]
    assert len(select(ranked)) == 1
    assert len(select([scored(source, charged, 9.0), *ranked[1:]])) == 3


def test_a_fuller_sentence_takes_the_place_of_one_that_repeats_the_question() -> None:
    source = (
        "A class has a deletion policy. The deletion policy a class has is either Retain or Delete always."
    )
    repeats, says = (
        next(p.place for p in passages(source) if p.text == one.text) for one in sentences(source)
    )
    chosen = select([scored(source, repeats, 9.0, news=0.2), scored(source, says, 8.8, news=1.0)])
    assert [one.passage.place for one in chosen] == [says]


def test_how_many_customers_is_answered_in_one_line() -> None:
    world = World()
    world.add(
        "incident.md", "On Friday 41 customers were charged twice.\n\nAll second charges were refunded."
    )
    world.add("alerts.md", "There was no alert on two charges for one booking.")
    answer = world.ask("How many customers were charged twice?")
    assert [claim.text for claim in answer.claims] == ["On Friday 41 customers were charged twice."]


def test_a_label_is_quoted_with_what_it_names() -> None:
    source = "* Your buddy. Your buddy sits in another team.\n* Your manager. You meet every week.\n"
    assert texts(source, Shape.ITEM) == [
        "Your buddy. Your buddy sits in another team.",
        "Your manager. You meet every week.",
    ]


def test_what_answers_a_question_on_the_page_stands_below_it() -> None:
    source = "- **Q.** _Can I use the apps?_\n  **A.** Sadly, they are gone. The site works."
    below = {show(passage): passage.below for passage in passages(source)}
    assert below["Sadly, they are gone."] == below["The site works."] == "_Can I use the apps?_"


def test_a_list_is_announced_also_by_a_sentence_shortly_before() -> None:
    source = "Each role has five levels. All teams share them.\n\n* Junior\n* Senior\n"
    assert texts(source, Shape.LIST) == ["Each role has five levels. All teams share them. - Junior - Senior"]


def test_a_list_that_only_its_heading_announces_is_one_too() -> None:
    bare = [
        p for p in passages("## Ownership rules\n\n* One owner.\n* Dropped at the end.\n") if not p.announced
    ]
    assert [show(passage) for passage in bare] == ["One owner. - Dropped at the end."]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which colors can tags have?", Kind.LIST),
        ("What conditions must two transactions meet?", Kind.LIST),
        ("Which insurer provides pet insurance?", Kind.OTHER),
        ("What happens when a link expires?", Kind.OTHER),
        ("What share of profits is given away?", Kind.NUMBER),
        ("회사는 몇 퍼센트를 부담하나?", Kind.NUMBER),
        ("Which setting changes how often mail is fetched?", Kind.OTHER),
    ],
)
def test_a_verb_in_s_asks_for_no_list(question: str, kind: Kind) -> None:
    assert kind_of(question) is kind


def test_questions_on_the_page_are_never_the_answer() -> None:
    world = World()
    world.add("faq.md", "Can I use the phone apps at home?\n\nThe phone apps are gone, use the web at home.")
    assert world.ask("Can I use the phone apps at home?").text.startswith("The phone apps are gone")


def test_an_item_stands_below_the_one_that_it_is_a_part_of() -> None:
    source = "- DAU (Daily Active User)\n    - users who came on one day\n- MAU\n    + users of a month\n"
    found = {show(passage): passage.below for passage in passages(source) if passage.shape is Shape.ITEM}
    assert found["users who came on one day"] == "DAU (Daily Active User)"
    assert "DAU (Daily Active User) - users who came on one day" in texts(source, Shape.LIST)


def test_a_tag_over_several_lines_is_no_sentence() -> None:
    source = "Before.\n\n<img\nsrc={require('./a.webp').default}\nwidth=\"40%\"\n/>\n\nAfter."
    assert [show(passage) for passage in passages(source)] == ["Before.", "After."]


def test_the_marks_around_a_note_are_no_part_of_it() -> None:
    source = ":::tip Importing\nUse the community tool.\n:::\n\n!!! warning\n    Mind the gap.\n"
    assert [show(passage) for passage in passages(source)] == ["Use the community tool.", "Mind the gap."]
