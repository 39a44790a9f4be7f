"""A part is built once, whoever comes first."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from kebab.assembly.once import is_built, once

THREADS = 16


class Owner:
    def __init__(self, build: Callable[[], object]) -> None:
        self._build = build
        self.builds = 0

    @once
    def part(self) -> object:
        """What it is made of."""
        self.builds += 1
        return self._build()

    @once
    def whole(self) -> tuple[object]:
        return (self.part,)


def test_threads_that_come_together_get_the_same_part() -> None:
    together = threading.Barrier(THREADS)
    owner = Owner(lambda: (threading.Event().wait(0.01), object())[1])
    found: list[object] = []

    def use() -> None:
        together.wait()
        found.append(owner.whole)

    threads = [threading.Thread(target=use) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert owner.builds == 1
    assert all(one is found[0] for one in found)


def test_a_part_that_could_not_be_built_is_tried_again() -> None:
    outcomes = iter([ValueError("not yet"), "built"])

    def build() -> object:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    owner = Owner(build)
    with pytest.raises(ValueError, match="not yet"):
        _ = owner.part
    assert not is_built(owner, "part")
    assert (owner.part, is_built(owner, "part")) == ("built", True)


def test_a_test_may_put_another_part_in_its_place() -> None:
    owner = Owner(object)
    owner.part = "given"
    assert (owner.part, owner.builds) == ("given", 0)


def test_two_objects_have_a_part_each() -> None:
    assert Owner(object).part is not Owner(object).part
    assert Owner.part.__doc__ == "What it is made of."
