"""The order of what a search in other words finds."""

from __future__ import annotations

from kebab.answer.question import read_question
from kebab.answer.reread import by_meeting
from kebab.domain.chunks import StoredChunk
from kebab.domain.documents import Metadata
from tests.samples import sample
from tests.unit.answer.world import ANALYZER, World


def chunk(path: str, text: str, *tags: str) -> StoredChunk:
    return sample(path, text, title=path.removesuffix(".md"), metadata=Metadata(tags=tags)).stored()[0]


def ordered(question: str, *chunks: StoredChunk) -> list[str]:
    asked = read_question(question, ANALYZER)
    weights = dict.fromkeys(asked.keywords, 1.0)
    return [one.path for one in by_meeting(weights, chunks, ANALYZER)]


def test_the_chunk_that_meets_most_of_the_question_comes_first() -> None:
    one = chunk("one.md", "Pay the charge, the fee, the price and the cost of the purchase.")
    both = chunk("both.md", "Stolen things are charged for when there is a document.")
    assert ordered("theft cost", one, both) == ["both.md", "one.md"]


def test_the_tags_of_a_note_say_what_it_is_about() -> None:
    plain = chunk("alpha.md", "Fence the old primary and promote the other.")
    tagged = chunk("omega.md", "Fence the old primary and promote the other.", "database")
    assert ordered("main database", plain, tagged) == ["omega.md", "alpha.md"]


def test_chunks_that_meet_the_same_stay_in_the_order_they_were_found() -> None:
    assert ordered("harbour", chunk("b.md", "Bread."), chunk("a.md", "Butter.")) == ["b.md", "a.md"]


def test_an_answer_in_other_words_shows_the_notes_that_it_read_and_no_more() -> None:
    world = World(threshold=0.0001)
    for number in range(30):
        world.add(f"note {number}.md", f"Number {number}: the purchase was paid.")
    answer = world.ask("What did the theft cost?")
    assert len(answer.candidates) <= answer.request.k
