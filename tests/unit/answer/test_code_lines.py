"""Lines of code and what announces them; links, whose text is no sentence of its own."""

from __future__ import annotations

import pytest

from kebab.answer.admitted import points_away
from kebab.answer.passages import passages
from kebab.answer.sentences import sentences
from kebab.answer.shapes import Shape, announces


@pytest.mark.parametrize(
    "text",
    [
        "To open the ports, execute the commands below.",
        "The file can be copied while it is open, e.g.,",
        "이름을 바꾸려면 아래 명령어를 입력하고 엔터를 누르세요.",
        "나는 다음과 같이 영어로 바꿔주었다.",
        "지수를 계산하려면 아래와 같이 입력하세요.",
        "목록을 보려면 이렇게 입력하세요.",
    ],
)
def test_a_sentence_that_hands_over_to_what_follows_announces_it(text: str) -> None:
    assert announces(text)


@pytest.mark.parametrize(
    "text", ["다음 장에서 설명합니다.", "The lines below the roof were cut.", "아래층에 산다."]
)
def test_a_sentence_that_only_speaks_of_what_is_next_or_below_announces_nothing(text: str) -> None:
    assert not announces(text)


def codes(text: str) -> list[str]:
    return [passage.text for passage in passages(text) if passage.shape is Shape.CODE]


def test_a_label_between_the_announcement_and_the_code_belongs_to_both() -> None:
    text = "Open the ports with the commands below.\n\nIPv4:\n\n```sh\nufw allow 80\nufw allow 53\n```\n"
    assert codes(text) == ["Open the ports with the commands below. IPv4: ufw allow 80 ufw allow 53"]


def test_a_tag_of_a_template_does_not_part_code_from_its_announcement() -> None:
    text = "Type the following:\n\n{% filename %}shell{% endfilename %}\n```\nls -l\nls -a\n```\n"
    assert codes(text) == ["Type the following: ls -l ls -a"]


def test_an_item_above_some_code_is_no_label_of_it() -> None:
    text = "It is shown by these:\n\n- Minikube\n\n    ```\n    minikube ip\n    ```\n"
    assert codes(text) == ["Minikube minikube ip"]


def test_indented_lines_below_an_empty_one_are_code() -> None:
    text = "To see where you are, type the following:\n\n    $ pwd\n    /home/ada\n\nNow go on."
    assert codes(text) == ["To see where you are, type the following: $ pwd /home/ada"]
    assert [one.text for one in sentences(text)] == [
        "To see where you are, type the following:",
        "Now go on.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- An item\n\n    with a second paragraph",
        ": A setting.\n\n    Defaults to 3",
        '!!! note "Mind"\n\n    A box',
        "Yesterday:\n\n    We walked along the river and talked.",
        "    the rest of an item\n\n    and of another",
    ],
)
def test_what_is_indented_for_another_reason_is_no_code(text: str) -> None:
    assert codes(text) == []


def test_a_question_inside_a_link_ends_no_sentence() -> None:
    text = "- [Sun? Do you need it at home?](https://example.org/a) - A talk by Ada. It is long."
    found = [one.text for one in sentences(text)]
    assert found == ["[Sun? Do you need it at home?](https://example.org/a) - A talk by Ada.", "It is long."]


def test_the_sentence_ends_where_a_link_does_that_is_one() -> None:
    text = "[Sleep well.](https://example.org/a) Eat well."
    assert [one.text for one in sentences(text)] == ["[Sleep well.](https://example.org/a)", "Eat well."]


@pytest.mark.parametrize(
    ("text", "away"),
    [
        ("[How to treat scars](https://example.org/a)", True),
        ("[Morning Routine of Ada](https://example.org/a) - Pretty scene.", True),
        ("[Lift weights. An increase in muscle helps.](https://example.org/a)", False),
        ("Trying to mend it with [needles](https://example.org/a) every second week.", False),
        ("[Leave](leave.md)", False),
        ("Nothing is linked here.", False),
    ],
)
def test_a_title_that_links_to_another_site_only_points_away(text: str, away: bool) -> None:
    assert points_away(text) is away
