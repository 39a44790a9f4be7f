"""kill -9 of everything that writes, at any moment: nothing is lost, doubled or wrong, and one run mends it.

25 kills in every run; KEBAB_KILLS=500 is the long form. The seed is printed with a failure, and KEBAB_SEED
repeats the edits, the victims and the moments.
"""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from kebab.domain.queries import SearchMode
from tests.faults.kill_victims import LASTS_S, VICTIMS, Victim
from tests.faults.kill_world import World, some

KILLS = int(os.environ.get("KEBAB_KILLS", "25"))
SEED = int(os.environ.get("KEBAB_SEED", str(random.randrange(10**6))))
SETTLE_EVERY = 5
HOWS = ("process", "process", "group", "worker")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kills")]


def test_whatever_is_killed_nothing_is_lost_and_one_run_makes_it_right(tmp_path: Path) -> None:
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    dice = random.Random(SEED)
    world = World.made(tmp_path, dice)
    names, tally = some(dice, sorted(VICTIMS)), Counter[str]()
    while tally["kills"] < KILLS:
        chosen = list(islice(names, 1 + (dice.random() < 0.25)))
        how, beside = dice.choice(HOWS), dice.random() < 0.3
        print(f"seed {SEED}, kill {tally['kills']}: {how} of {chosen}, searched beside: {beside}")  # noqa: T201
        tally["met"] += kill(world, chosen, how=how, beside=beside)
        tally["kills"] += len(chosen)
        world.check()
        if tally["rounds"] % SETTLE_EVERY == SETTLE_EVERY - 1:
            world.settle()
        tally["rounds"] += 1
    world.settle()
    print(dict(tally), len(world.notes), "notes,", len(world.runs), "runs")  # noqa: T201
    assert tally["met"] > KILLS // 3, f"only {tally['met']} kills met a process at work; kill earlier"
    assert len(world.notes) > 0 < len(world.runs)


def kill(world: World, names: list[str], *, how: str, beside: bool) -> int:
    """Let these work at once on a vault that changes, and kill each at some moment; how many were at work."""
    world.stir()
    victims = [VICTIMS[name](world) for name in names]
    with searching(world) if beside else quiet():
        for victim in victims:
            victim.work()
        met = sum(_kill_later(world, victim, how=how) for victim in victims)
        for victim in victims:
            victim.end()
            world.notes |= victim.notes
            world.runs |= victim.runs
    return met


def _kill_later(world: World, victim: Victim, *, how: str) -> bool:
    rest = world.dice.uniform(0, LASTS_S.get(victim.name, 1.0))
    if victim.name in ("watch", "serve", "mcp"):
        threading.Event().wait(rest / 2)
        world.stir()
        rest /= 2
    threading.Event().wait(rest)
    return victim.kill(world.dice, how=how)


@contextmanager
def quiet() -> Iterator[None]:
    yield


@contextmanager
def searching(world: World) -> Iterator[None]:
    """One who searches all the while: no error, no chunk twice, nothing that was gone before."""
    over, failures = threading.Event(), list[BaseException]()
    buried = world.buried[-20:]

    def search() -> None:
        try:
            with world.open() as kb:
                while not over.wait(0.02):
                    hits = kb.search("rope 밧줄", k=20).hits
                    assert len({hit.chunk_id for hit in hits}) == len(hits)
                    for word in buried[-2:]:
                        assert kb.search(word, mode=SearchMode.LEXICAL, exact=True).hits == ()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test tells of it
            failures.append(error)

    thread = threading.Thread(target=search)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert failures == []
