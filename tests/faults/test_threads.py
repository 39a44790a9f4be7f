"""One Kebab in sixteen threads, while it ingests itself and another process ingests too."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kebab import Kebab
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import KebabError, Locked
from tests.faults.conftest import Base

pytestmark = pytest.mark.slow

THREADS = 16
ROUNDS = 12
OWN_INGESTS = 4
PROJECT = Path(__file__).parents[2]
OTHERS = """
import sys, time
from pathlib import Path
from kebab import Kebab
from kebab.errors import Locked
root, data = Path(sys.argv[1]), Path(sys.argv[2])
for number in range(4):
    text = f"# Other\\n\\nThe rope of another process, {number}.\\n"
    (root / "other.md").write_text(text, encoding="utf-8")
    while True:
        try:
            with Kebab.open(root=root, data_dir=data) as kb:
                kb.ingest()
            break
        except Locked:
            time.sleep(0.05)
"""

USES: list[Callable[[Kebab, random.Random], object]] = [
    lambda kb, chance: kb.search(f"ship{chance.randrange(12)}", mode=chance.choice(list(SearchMode))),
    lambda kb, _: kb.search("밧줄", filters=SearchFilters(path=("n*.md",))),
    lambda kb, _: kb.search("rope", explain=True, trace=True, fusion="rrf", snippet_chars=60),
    lambda kb, chance: kb.ask(f"Which rope is dry on ship{chance.randrange(12)}?"),
    lambda kb, _: list(kb.ask_stream("Is the rope of ship3 dry?")),
    lambda kb, chance: kb.fetch_doc(f"n{chance.randrange(12)}.md"),
    lambda kb, chance: kb.inspect_doc(f"n{chance.randrange(12)}.md"),
    lambda kb, _: kb.why("n1.md", "rope of ship1"),
    lambda kb, _: (kb.list_docs(), kb.runs()),
]


def test_sixteen_threads_search_ask_and_fetch_while_two_writers_ingest(base: Base) -> None:
    failures: list[BaseException] = []
    with base.open() as kb:
        threads = [threading.Thread(target=use, args=(kb, seed, failures)) for seed in range(THREADS)]
        threads.append(threading.Thread(target=ingest, args=(kb, base, failures)))
        other = subprocess.Popen(
            [sys.executable, "-c", OTHERS, str(base.root), str(base.data)],
            cwd=PROJECT,
            stderr=subprocess.PIPE,
        )
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        _, said = other.communicate(timeout=120)
        assert (other.returncode, said) == (0, b"")
        assert failures == []
        kb.ingest()
        held = [answer(kb, number) for number in range(12)]
        assert kb.search("rope own").degraded == ()
    with base.open() as fresh:
        assert held == [answer(fresh, number) for number in range(12)]
        assert fresh.doctor().healthy


def use(kb: Kebab, seed: int, failures: list[BaseException]) -> None:
    chance = random.Random(seed)
    for _ in range(ROUNDS):
        try:
            chance.choice(USES)(kb, chance)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it must not be there
            failures.append(error)


def ingest(kb: Kebab, base: Base, failures: list[BaseException]) -> None:
    for number in range(OWN_INGESTS):
        base.write("own.md", f"# Own\n\nThe rope of my own, {number}.\n")
        while True:
            try:
                kb.ingest()
                break
            except Locked:
                threading.Event().wait(0.05)
            except KebabError as error:
                failures.append(error)
                return


def answer(kb: Kebab, number: int) -> list[tuple[str, float]]:
    return [(hit.chunk_id, round(hit.score, 6)) for hit in kb.search(f"rope of ship{number}").hits]
