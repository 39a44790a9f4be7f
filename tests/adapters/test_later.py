"""What is done while something else goes on for too long."""

from __future__ import annotations

from threading import Event

import pytest

from kebab.adapters.later import later


def test_a_block_that_takes_too_long_is_noticed_while_it_goes_on() -> None:
    noticed = Event()
    with later(0.01, noticed.set):
        assert noticed.wait(timeout=30)


def test_a_block_that_is_left_in_time_is_not_noticed_whatever_ended_it() -> None:
    noticed = Event()
    with pytest.raises(ValueError, match="ended"), later(0.2, noticed.set):
        raise ValueError("ended")
    assert not noticed.wait(timeout=0.4)
