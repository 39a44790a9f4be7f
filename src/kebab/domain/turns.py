"""Writers take turns, and one of them is in charge of what is derived. Those that need no turns, too."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

Waiting = Callable[[str], None]
"""Hears for whom a writer waits."""


def unheard(_: str) -> None:
    pass


class Turns(Protocol):
    """How several writers change one knowledge base: each step is a turn, and between two others come in.

    Nothing that was read before a turn can be relied on inside it.
    """

    def turn(self) -> AbstractContextManager[None]:
        """Keep other writers out while the block runs. Raises Locked after waiting, and StorageError where
        the knowledge base was reset or replaced since the run began."""
        ...

    def take_charge(self) -> bool:
        """Whether this run brings derived data up to date, from now on; False while another one does."""
        ...

    def leave_charge(self) -> None: ...

    def in_charge(self) -> str | None:
        """Who brings derived data up to date, in words."""
        ...


class Alone:
    """For a writer who keeps all others out already: every turn is free."""

    def turn(self) -> AbstractContextManager[None]:
        return nullcontext()

    def take_charge(self) -> bool:
        return True

    def leave_charge(self) -> None:
        pass

    def in_charge(self) -> str | None:
        return None


ALONE = Alone()


class InCharge:
    """The turns of a run that stays in charge, for a part of it that would leave the charge at its end."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns

    def turn(self) -> AbstractContextManager[None]:
        return self._turns.turn()

    def take_charge(self) -> bool:
        return True

    def leave_charge(self) -> None:
        pass

    def in_charge(self) -> str | None:
        return self._turns.in_charge()
