"""How searches of one process take turns."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import sleep

import pytest

from kebab.search.turnstile import Turnstile


def test_no_more_than_its_places_are_inside_at_once() -> None:
    turnstile = Turnstile(2, patience_s=10)
    lock, inside, most = threading.Lock(), 0, 0

    def work(_: int) -> None:
        nonlocal inside, most
        with turnstile.passed():
            with lock:
                inside += 1
                most = max(most, inside)
            sleep(0.002)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(60)))
    assert most == 2


def test_who_waited_long_enough_goes_in_beside_a_slow_one() -> None:
    turnstile = Turnstile(1, patience_s=0.01)
    went_in = threading.Event()

    def work() -> None:
        with turnstile.passed():
            went_in.set()

    with turnstile.passed():
        other = threading.Thread(target=work)
        other.start()
        assert went_in.wait(5)
        other.join()
    # The place of the slow one is free again, once.
    assert turnstile._places.acquire(blocking=False)
    assert not turnstile._places.acquire(blocking=False)


def test_it_tells_who_is_alone() -> None:
    turnstile = Turnstile(2, patience_s=0.01)
    with turnstile.passed() as alone:
        assert alone
        with ThreadPoolExecutor(1) as pool:
            assert not pool.submit(_alone, turnstile).result()
    assert _alone(turnstile)


class _Interrupted(threading.BoundedSemaphore):
    """Ctrl-C while somebody waits for a place."""

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        raise KeyboardInterrupt


def test_who_stops_waiting_is_counted_no_more() -> None:
    turnstile = Turnstile()
    places, turnstile._places = turnstile._places, _Interrupted()
    with pytest.raises(KeyboardInterrupt):
        _alone(turnstile)
    turnstile._places = places
    assert _alone(turnstile)


def _alone(turnstile: Turnstile) -> bool:
    with turnstile.passed() as alone:
        return alone


def test_a_search_that_fails_leaves_its_place_free() -> None:
    turnstile = Turnstile(1, patience_s=0)
    for _ in range(3):
        with suppress(KeyError), turnstile.passed() as alone:
            assert alone
            raise KeyError
    with turnstile.passed() as alone:
        assert alone
