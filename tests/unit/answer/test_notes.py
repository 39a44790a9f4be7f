"""Notes as people keep them for themselves: entries instead of sentences, labels, headings that name."""

from __future__ import annotations

import pytest

from kebab.answer.check import check_quotes
from kebab.answer.passages import passages
from kebab.answer.sentences import sentences
from kebab.answer.shown import heading_name, show
from tests.fakes import FakeEmbedder
from tests.unit.answer.world import World, evidence

CALENDAR = "Mar 24 - third age of JS, London\nMar 25 - svelte intro\njun 9 - panel at JSNation live\n"


def test_entries_on_lines_of_their_own_are_not_one_sentence() -> None:
    assert [one.text for one in sentences(CALENDAR)] == CALENDAR.splitlines()


def test_wrapped_prose_is_read_across_its_lines() -> None:
    prose = (
        "The working copy is where the files of the current commit are written so\n"
        "you can work with them. It is also where files are read from in order to\n"
        "create new commits.\n"
    )
    assert len(sentences(prose)) == 2


def test_a_line_that_runs_on_is_no_entry() -> None:
    source = "스트림의 소스는 배열이나 컬렉션이 될 수 있어서\nCollection의 자손은 모두 stream()으로 만든다.\n"
    assert len(sentences(source)) == 1


def test_a_quoted_item_below_an_item_is_a_part_of_it() -> None:
    source = "- ### **글로비스**\n  >- 운항 담당\n  >- Jan 2017 - Jul 2017\n"
    found = {one.text: one.below for one in passages(source)}
    assert found["Jan 2017 - Jul 2017"] == "### **글로비스**"


def test_a_short_item_is_quoted_whole() -> None:
    source = "- `poll()` : 큐에서 객체를 꺼내서 반환. 비어있으면 `null` 반환\n"
    assert "`poll()` : 큐에서 객체를 꺼내서 반환. 비어있으면 `null` 반환" in map(show, passages(source))


def test_fragments_on_one_line_are_quoted_together() -> None:
    assert "10x goblet squat. 20kg 10 reps." in map(show, passages("10x goblet squat. 20kg 10 reps.\n"))


@pytest.mark.parametrize("sign", [">", "> ", "  >"])
def test_quoted_lines_stand_in_their_source_however_the_sign_is_set(sign: str) -> None:
    source = f"{sign}모음은 요소를 묶는 것\n{sign}나눔은 요소를 둘로 가르는 것이다."
    for passage in passages(source):
        assert check_quotes([(passage, show(passage), evidence(source)[0])]).refusal is None


@pytest.mark.parametrize("heading", ["EBS (Elastic Block Store)", "2. EBS", "2-1. EBS", "**EBS**"])
def test_a_heading_is_called_by_what_it_names(heading: str) -> None:
    assert heading_name(heading) == "EBS"


def test_what_stands_below_a_heading_of_that_name_says_what_it_is() -> None:
    world = World(embedder=FakeEmbedder(64))
    world.add("EBS (Elastic Block Store).md", ">서버에 장착하여 사용할 수 있는 가상 저장 장치.")
    world.add("s3.md", "EBS 스냅샷은 S3에 저장되면서 압축된다.")
    first = world.ask("EBS란?").claims[0]
    assert first.text == "EBS (Elastic Block Store): 서버에 장착하여 사용할 수 있는 가상 저장 장치."
    assert first.quotes[0].text == "서버에 장착하여 사용할 수 있는 가상 저장 장치."


def test_a_sentence_that_begins_with_a_pronoun_stands_behind_the_heading_that_says_what_it_is() -> None:
    world = World(threshold=0.0)
    long = "It is deprecated and will be removed in a later release; clients should move to the newer one."
    world.add("version 0.md", long)
    assert world.ask("which version is deprecated").claims[0].text == f"version 0: {long}"
    assert world.ask("which version is deprecated").claims[0].quotes[0].text == long


def test_a_label_gives_its_place_to_what_it_labels() -> None:
    world = World(embedder=FakeEmbedder(64))
    world.add("movies.md", "- Matrix Resurrections\n\t- a mess of a show\n\t- Watched on HBO Max\n")
    first = world.ask("Where did I watch Matrix Resurrections?").claims[0]
    assert first.text == "Matrix Resurrections: Watched on HBO Max"
