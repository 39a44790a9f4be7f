"""How a long job says how far it is."""

from __future__ import annotations

import pytest

from kebab.domain.ingests import IngestPhase, IngestProgress
from kebab.domain.progress import Teller, counted, whole_job
from kebab.errors import InvalidInput


def test_the_last_item_is_told_at_once_whatever_the_time() -> None:
    events: list[IngestProgress] = []
    teller = Teller(IngestPhase.PACK, events.append, total=3_000_000, unit=1_000_000)
    for _ in range(3):
        teller.add(1_000_000)
    assert [(event.done, event.total) for event in events] == [(3, 3)]
    assert events[-1].rate is not None
    assert events[-1].eta_s == 0


def test_what_was_reached_is_told_as_it_is() -> None:
    events: list[IngestProgress] = []
    teller = Teller(IngestPhase.EMBED, events.append, total=5)
    teller.reach(2)
    teller.reach(5)
    assert [(event.done, event.total) for event in events] == [(5, 5)]


def test_of_a_total_that_nobody_knows_no_time_is_left() -> None:
    events: list[IngestProgress] = []
    teller = Teller(IngestPhase.WORDS, events.append)
    teller.add(7)
    teller.tell()
    assert (events[-1].done, events[-1].total, events[-1].eta_s) == (7, 0, None)


def test_items_pass_unchanged_and_the_first_and_last_word_are_of_their_number() -> None:
    events: list[IngestProgress] = []
    heard = counted("abc", IngestPhase.CHECK, total=3, progress=events.append, path="letters")
    assert list(heard) == ["a", "b", "c"]
    assert [(events[0].done, events[0].total), (events[-1].done, events[-1].path)] == [(0, 3), (3, "letters")]


def test_a_job_ends_with_one_event_and_its_parts_end_with_none() -> None:
    events: list[IngestProgress] = []
    with whole_job(events.append, IngestPhase.COPY) as heard:
        heard(IngestProgress("started", IngestPhase.PACK))
        heard(IngestProgress("progress", IngestPhase.PACK))
        heard(IngestProgress("completed", IngestPhase.PACK))
    assert [event.kind for event in events] == ["started", "progress", "completed"]


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (InvalidInput("no such thing"), "failed", "no such thing"),
        (RuntimeError("an engine fell over"), "failed", "an engine fell over"),
        (MemoryError(), "failed", "MemoryError"),
        (KeyboardInterrupt(), "cancelled", None),
    ],
)
def test_a_job_that_does_not_come_to_its_end_says_so(
    error: BaseException, kind: str, message: str | None
) -> None:
    events: list[IngestProgress] = []
    with pytest.raises(type(error)), whole_job(events.append, IngestPhase.COPY):
        raise error
    assert [(event.kind, event.message) for event in events] == [("started", None), (kind, message)]
