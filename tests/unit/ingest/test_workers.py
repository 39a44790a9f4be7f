"""Worker processes: the same results in the same order, and a crash is one file's failure."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kebab.domain.chunk_words import ChunkCutter
from kebab.domain.documents import TrustLevel
from kebab.domain.ingests import IngestItem
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.prepare import FileTask, Prepared, Preparing, Result, prepare
from kebab.ingest.workers import ProcessWorkers, is_large, prepare_all, prepare_here
from kebab.ports import WorkerDied, WorkerStarved
from tests.fakes import FakeAnalyzer
from tests.samples import as_stored

POLICY = ChunkPolicy()
MANY = 220


def tasks(folder: Path, count: int = MANY) -> list[FileTask]:
    made = []
    for n in range(count):
        file = folder / f"{n:03}.md"
        file.write_text(f"# Note {n}\n\ntext {n}\n" if n % 50 else "bad\0")
        made.append(
            FileTask("notes", file.name, str(file), file.stat().st_size, 0, "note", TrustLevel.PRIMARY)
        )
    return made


def flat(batches: Iterable[list[Result]]) -> list[Result]:
    return [result for batch in batches for result in batch]


class DeadlyTask(FileTask):
    """Ends the process that unpickles it, as a fault in a native parser would."""

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return os._exit, (1,)


class Breaks:
    """A job that cannot be done."""

    def __call__(self, work: object) -> object:
        raise ValueError(work)


class Swells:
    """A job whose answer has room in its process, but not once more, packed."""

    def __call__(self, work: object) -> object:
        return bytes(150 << 20)


def parsers(processes: int, make_analyzer: type[FakeAnalyzer] | None = None) -> ProcessWorkers:
    jobs: dict[str, Callable[[Any], object]] = {
        "prepare": Preparing(POLICY, make_analyzer),
        "break": Breaks(),
        "count": len,
    }
    return ProcessWorkers(jobs, processes=processes)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the memory of a process is not limited")
def test_an_answer_too_large_for_its_process_says_so_and_the_next_work_is_done() -> None:
    jobs: dict[str, Callable[[Any], object]] = {"swell": Swells(), "count": len}
    with ProcessWorkers(jobs, processes=1, memory=250 << 20) as workers:
        with pytest.raises(WorkerStarved):
            workers.submit("swell", [1]).result()
        assert workers.submit("count", [1, 2]).result() == 2


def test_processes_give_what_the_main_process_gives(tmp_path: Path) -> None:
    work = tasks(tmp_path)
    with parsers(2) as workers:
        found = flat(prepare_all(work, workers, job="prepare"))
    assert found == [prepare(task, POLICY) for task in work]
    assert found == flat(prepare_here(work, Preparing(POLICY)))


def test_who_waits_for_results_is_told_before_it_waits(tmp_path: Path) -> None:
    told: list[int] = []
    with parsers(1) as workers:
        results = flat(prepare_all(tasks(tmp_path), workers, job="prepare", idle=lambda: told.append(1)))
    assert len(results) == MANY
    assert told  # the process has only begun to start


def test_chunks_are_cut_into_the_words_that_the_index_would_make(tmp_path: Path) -> None:
    with parsers(1, FakeAnalyzer) as workers:
        found = flat(prepare_all(tasks(tmp_path, 3), workers, job="prepare"))
    made = [result for result in found if isinstance(result, Prepared)]
    stored = [as_stored(one.document, chunk, "") for one in made for chunk in one.chunks]
    words = [words for one in made for words in one.words]
    assert words == [ChunkCutter(FakeAnalyzer().index_text)(chunk) for chunk in stored]
    assert words[0].body == "note 1 note 1 text 1"
    assert words[0].called == "note1 001md 001"


def test_a_file_that_kills_its_process_fails_alone(tmp_path: Path) -> None:
    work = tasks(tmp_path)
    deadly = DeadlyTask("notes", "deadly.md", "deadly.md", 0, 0, "note", TrustLevel.PRIMARY)
    with parsers(1) as workers:
        results = flat(prepare_all([*work[:40], deadly, *work[40:]], workers, job="prepare"))
    assert isinstance(results[40], IngestItem)
    assert results[40].reason == "the parser process died while reading it"
    assert [r for n, r in enumerate(results) if n != 40] == [prepare(task, POLICY) for task in work]


def test_a_job_that_breaks_costs_its_process_and_no_other_job() -> None:
    with parsers(1) as workers:
        broken, counted = workers.submit("break", "this"), workers.submit("count", "four")
        with pytest.raises(WorkerDied):
            broken.result()
        assert counted.result() == 4


def test_leaving_early_leaves_no_process_behind(tmp_path: Path) -> None:
    with parsers(2) as workers:
        next(prepare_all(tasks(tmp_path), workers, job="prepare"))
        assert len(_children()) == 2
    assert _children() == []


def test_ctrl_c_is_not_for_the_worker_processes(tmp_path: Path) -> None:
    with parsers(1) as workers:
        results = prepare_all(tasks(tmp_path), workers, job="prepare")
        first = next(results)
        for child in _children():
            os.kill(child, signal.SIGINT)
        done = [*first, *flat(results)]
    assert sum(isinstance(result, Prepared) for result in done) == MANY - 5


def test_few_small_files_are_not_worth_a_process(tmp_path: Path) -> None:
    many = tasks(tmp_path)
    large = replace(many[1], size=64 << 20)
    assert is_large(many)
    assert is_large([many[0], large])
    assert not is_large(many[:50])
    assert not is_large([large])


def _children() -> list[int]:
    """Processes that this one started."""
    found = []
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        found += [int(pid) for pid in (task / "children").read_text().split()]
    return found
