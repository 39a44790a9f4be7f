"""Closing waits for the calls that run, and turns later ones away."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest

from kebab.app.calls import Calls, call
from kebab.errors import Closed

SOON = 5.0


class Shared:
    def __init__(self) -> None:
        self.calls = Calls()
        self.entered = threading.Event()
        self.leave = threading.Event()

    @call
    def slow(self, answer: str) -> str:
        self.entered.set()
        assert self.leave.wait(SOON)
        return self.inner(answer)

    @call
    def inner(self, answer: str) -> str:
        return answer

    @call
    def closing_itself(self) -> bool:
        return self.calls.close()


def test_closing_waits_for_a_call_that_runs_and_for_the_calls_it_makes() -> None:
    shared = Shared()
    answers: list[str] = []
    order: list[str] = []

    def call() -> None:
        answers.append(shared.slow("done"))
        order.append("call")

    def close() -> None:
        shared.calls.close()
        order.append("close")

    running = threading.Thread(target=call)
    running.start()
    assert shared.entered.wait(SOON)
    closing = threading.Thread(target=close)
    closing.start()
    closing.join(0.05)
    assert closing.is_alive()
    shared.leave.set()
    closing.join(SOON)
    running.join(SOON)
    assert answers == ["done"]
    assert not closing.is_alive()


def test_a_call_after_closing_is_refused_with_a_hint() -> None:
    shared = Shared()
    assert shared.calls.close()
    with pytest.raises(Closed) as refused:
        shared.inner("late")
    assert refused.value.hint is not None


def test_closing_twice_closes_once() -> None:
    shared = Shared()
    assert [shared.calls.close(), shared.calls.close()] == [True, False]


def test_a_call_may_close_its_own_object_without_waiting_for_itself() -> None:
    assert Shared().closing_itself()


def test_a_call_that_fails_counts_no_longer() -> None:
    shared = Shared()
    with pytest.raises(TypeError):
        shared.inner()  # type: ignore[call-arg]
    assert shared.calls.close()


def test_a_stream_that_is_not_read_on_does_not_keep_closing_waiting() -> None:
    ended = threading.Event()

    def events() -> Generator[int, None, None]:
        try:
            yield from range(3)
        finally:
            ended.set()

    calls = Calls()
    stream = calls.each(events())
    assert next(stream) == 0
    assert calls.close()
    with pytest.raises(Closed):
        next(stream)
    assert ended.is_set()


def test_a_stream_ends_as_its_source_does() -> None:
    assert list(Calls().each(number for number in (1, 2))) == [1, 2]
