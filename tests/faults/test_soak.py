"""One Kebab, searched by many threads while another process changes everything under it.

``KEBAB_SOAK=20000 KEBAB_SOAK_INGESTS=300`` makes it long; without them it takes some seconds.
"""

from __future__ import annotations

import gc
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kebab import Kebab
from kebab.domain.hits import SearchResponse
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import KebabError, NotIndexed
from tests.faults.soak_writer import NOTES, note

pytestmark = pytest.mark.slow

SEARCHES = int(os.environ.get("KEBAB_SOAK", "300"))
INGESTS = int(os.environ.get("KEBAB_SOAK_INGESTS", "10"))
THREADS = 8
PROJECT = Path(__file__).parents[2]
EDITION = re.compile(r"keyword(\d+) stands at edition (\d+)")


@dataclass(frozen=True)
class Seen:
    """What one search said, and between which moments it was asked and answered."""

    number: int
    mode: SearchMode
    began: float
    ended: float
    editions: dict[int, int]
    degraded: frozenset[str]
    error: KebabError | None = None


@dataclass
class Searching:
    """Threads that search until they are told to stop, and at least so often."""

    kb: Kebab
    least: int
    stop: threading.Event = field(default_factory=threading.Event)
    seen: list[Seen] = field(default_factory=list)
    broken: list[BaseException] = field(default_factory=list)

    def run(self, seed: int) -> None:
        chance = random.Random(seed)
        try:
            while not (self.stop.is_set() and len(self.seen) >= self.least):
                self.seen.append(self.search(chance.randrange(NOTES), chance.choice(list(SearchMode))))
                time.sleep(chance.random() * 0.01)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test tells of it
            self.broken.append(error)

    def search(self, number: int, mode: SearchMode) -> Seen:
        filters = SearchFilters(path=("*.md",)) if number % 2 else None
        began = time.monotonic()
        try:
            found = self.kb.search(f"keyword{number}", mode=mode, k=NOTES, filters=filters)
        except KebabError as error:
            return Seen(number, mode, began, time.monotonic(), {}, frozenset(), error)
        codes = frozenset(one.code for one in found.degraded)
        return Seen(number, mode, began, time.monotonic(), editions(found), codes)


def editions(found: SearchResponse) -> dict[int, int]:
    shown = (EDITION.search(hit.snippet.text) for hit in found.hits)
    return {int(match[1]): int(match[2]) for match in shown if match}


@dataclass(frozen=True)
class Held:
    """A state of the knowledge base, and between which moments a search may have met it."""

    began: float
    ended: float
    state: dict[str, int] | None


def history(lines: list[str]) -> list[Held]:
    """Each state, from the beginning of the step that made it to the end of the step that ended it."""
    steps = [{"began": 0.0, "state": {str(number): 0 for number in range(NOTES)}}, *map(json.loads, lines)]
    ends = [step["ended"] for step in steps[1:]] + [float("inf")]
    return [Held(step["began"], end, step["state"]) for step, end in zip(steps, ends, strict=True)]


def explained(seen: Seen, states: list[Held]) -> bool:
    """Whether one state that was there meanwhile gives just this answer."""
    return any(
        seen.began <= held.ended and held.began <= seen.ended and _fits(seen, held.state) for held in states
    )


def _fits(seen: Seen, state: dict[str, int] | None) -> bool:
    if state is None:  # until the next ingest there is no store, and then one without documents
        return isinstance(seen.error, NotIndexed) or not (seen.error or seen.editions)
    if seen.error is not None:
        return False
    right = all(state[str(number)] == edition for number, edition in seen.editions.items())
    return right and seen.number in seen.editions


def opened_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def memory_mb() -> float:
    gc.collect()
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="memory and open files are read from /proc")
def test_no_wrong_answer_and_nothing_grows_while_another_process_changes_everything(tmp_path: Path) -> None:
    root, data, config = tmp_path / "notes", tmp_path / "data", tmp_path / "config.toml"
    root.mkdir()
    for number in range(NOTES):
        (root / f"note{number}.md").write_text(note(number, 0), encoding="utf-8")
    config.write_text(
        f'[workspace]\nroot = "{root}"\n[storage]\ndata_dir = "{data}"\n'
        '[models.embedding]\nprovider = "static"\n',
        encoding="utf-8",
    )
    with Kebab.open(config) as kb:
        kb.ingest()
        searching = Searching(kb, SEARCHES)
        for mode in SearchMode:
            searching.search(0, mode)
        before = opened_files(), memory_mb()
        threads = [threading.Thread(target=searching.run, args=(seed,)) for seed in range(THREADS)]
        for thread in threads:
            thread.start()
        script = [sys.executable, "-m", "tests.faults.soak_writer", str(config), str(root), str(INGESTS)]
        done = subprocess.run(script, cwd=PROJECT, capture_output=True, text=True, check=False)
        searching.stop.set()
        for thread in threads:
            thread.join()
        assert done.returncode == 0, done.stderr
        assert searching.broken == []
        after = opened_files(), memory_mb()
        _check_answers(searching.seen, history(done.stdout.splitlines()))
        assert _answers(kb) == _fresh_answers(config)
    assert after[0] <= before[0] + 40
    assert after[1] <= before[1] + 150
    assert len(list(data.rglob("*"))) < 200


def _check_answers(seen: list[Seen], states: list[Held]) -> None:
    undeclared = [one for one in seen if one.error and not isinstance(one.error, NotIndexed)]
    assert undeclared == []
    whole = [one for one in seen if not one.degraded]
    wrong = [one for one in whole if not explained(one, states)]
    assert not wrong, "\n".join(map(str, [*wrong[:5], *states]))
    assert len(whole) > len(seen) / 10  # a Kebab that always says "degraded" would pass the rest


def _answers(kb: Kebab) -> list[object]:
    found = [kb.search(f"keyword{number}", mode=mode).hits for number in range(NOTES) for mode in SearchMode]
    return [[(hit.doc_path, hit.chunk_id, round(hit.score, 6)) for hit in hits] for hits in found]


def _fresh_answers(config: Path) -> list[object]:
    code = (
        "import json, sys; from pathlib import Path; from kebab import Kebab\n"
        "from tests.faults.test_soak import _answers\n"
        "with Kebab.open(Path(sys.argv[1])) as kb: sys.stdout.write(json.dumps(_answers(kb)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(config)], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    return [[tuple(hit) for hit in answer] for answer in json.loads(done.stdout)]
