"""Work beside a run: an index commits in a thread, while the run goes on storing what it read."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack

from kebab.domain.turns import Turns

Work = Callable[[], None]


class Beside:
    """Does one piece of work at a time in a thread, inside a turn that its owner's thread holds meanwhile.

    What the owner writes until then is a part of the same turn. Nobody else has one before the work is done
    and ``settle`` was called, so the owner calls it before it waits for anything.
    """

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._thread = ThreadPoolExecutor(1, "kebab-beside")
        self._turn = ExitStack()
        self._work: Future[None] | None = None

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.settle()
        finally:
            self._thread.shutdown()

    def start(self, make: Callable[[], Work | None]) -> bool:
        """Begin what ``make``, called inside the turn, returns; False where that is nothing.

        Raises what the work before it raised.
        """
        self.settle()
        with ExitStack() as turn:
            turn.enter_context(self._turns.turn())
            work = make()
            if work is not None:
                # Whatever ends the wait for its result, such as Ctrl-C: the turn lasts until it is done.
                turn.callback(self._until_idle)
                self._work = self._thread.submit(work)
                self._turn = turn.pop_all()
        return work is not None

    def settle(self, *, wait: bool = True) -> None:
        """End the turn of what was begun, when it is done; raises what it raised."""
        if self._work is None or not (wait or self._work.done()):
            return
        work, self._work = self._work, None
        with self._turn:
            work.result()

    def _until_idle(self) -> None:
        """The one thread takes what it is given in turn."""
        wait([self._thread.submit(_nothing)])


def _nothing() -> None:
    pass
