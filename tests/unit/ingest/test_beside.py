"""Work beside a run: in a thread of its own, inside a turn of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from signal import SIGINT, pthread_kill
from threading import Event, Thread, get_ident, main_thread
from time import sleep

import pytest

from kebab.domain.turns import Alone
from kebab.ingest.beside import Beside, Work


class CountedTurns(Alone):
    """How many turns are open now, one inside the other."""

    def __init__(self) -> None:
        self.open = 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1


def fails() -> None:
    raise OSError("the disk is full")


def test_work_goes_on_in_another_thread_while_its_owner_goes_on() -> None:
    may_end, threads = Event(), list[int]()

    def work() -> None:
        assert may_end.wait(10)
        threads.append(get_ident())

    with Beside(CountedTurns()) as beside:
        assert beside.start(lambda: work)
        assert threads == []
        may_end.set()
    assert threads
    assert threads[0] != get_ident()


def test_the_turn_lasts_until_the_work_is_done_and_settled() -> None:
    turns, may_end = CountedTurns(), Event()
    with Beside(turns) as beside:
        beside.start(lambda: lambda: assert_true(may_end.wait(10)))
        beside.settle(wait=False)
        assert turns.open == 1
        may_end.set()
        beside.settle()
        assert turns.open == 0
        beside.settle()


def assert_true(value: bool) -> None:
    assert value


def test_what_is_to_be_done_is_asked_for_inside_the_turn() -> None:
    turns, seen = CountedTurns(), list[int]()

    def make() -> Work | None:
        seen.append(turns.open)
        return None

    with Beside(turns) as beside:
        assert not beside.start(make)
        assert (seen, turns.open) == ([1], 0)


def test_new_work_waits_for_the_work_before_it() -> None:
    turns, done = CountedTurns(), list[str]()
    with Beside(turns) as beside:
        for name in ("first", "second"):
            assert beside.start(lambda name=name: lambda: done.append(name))  # type: ignore[misc]
            assert turns.open == 1
    assert (done, turns.open) == (["first", "second"], 0)


def _left(beside: Beside) -> None:
    """Nothing: leaving the context is enough."""


@pytest.mark.parametrize("then", [Beside.settle, lambda beside: beside.start(lambda: fails), _left])
def test_what_the_work_raises_reaches_the_owner_and_the_turn_ends(then: Callable[[Beside], object]) -> None:
    turns = CountedTurns()

    def run() -> None:
        with Beside(turns) as beside:
            beside.start(lambda: fails)
            then(beside)

    with pytest.raises(OSError, match="disk is full"):
        run()
    assert turns.open == 0


def test_an_error_while_the_work_is_prepared_ends_the_turn() -> None:
    turns = CountedTurns()

    def broken() -> Work:
        raise OSError("the disk is full")

    with Beside(turns) as beside:
        with pytest.raises(OSError, match="disk is full"):
            beside.start(broken)
        assert turns.open == 0


def test_the_turn_lasts_until_the_work_is_done_where_the_owner_is_interrupted() -> None:
    turns, may_end, seen = CountedTurns(), Event(), list[int]()

    def work() -> None:
        sleep(0.1)  # until its owner waits
        pthread_kill(main_thread().ident or 0, SIGINT)
        assert may_end.wait(10)
        seen.append(turns.open)

    def ends_soon() -> None:
        sleep(0.5)
        may_end.set()

    def settled() -> None:
        with Beside(turns) as beside:
            beside.start(lambda: work)
            Thread(target=ends_soon).start()
            beside.settle()
            sleep(10)  # if the signal came late

    with pytest.raises(KeyboardInterrupt):
        settled()
    assert seen == [1]
    assert turns.open == 0
