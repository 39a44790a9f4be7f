"""Parser processes: the same results in the same order, and a crash is one file's failure."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from pathlib import Path

from kebab.domain.documents import TrustLevel
from kebab.domain.ingests import IngestItem
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.prepare import FileTask, Prepared, Result, prepare
from kebab.ingest.workers import MIN_FILES, prepare_all

POLICY = ChunkPolicy()


def tasks(folder: Path, count: int = MIN_FILES + 20) -> list[FileTask]:
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

    def __reduce__(self) -> tuple[object, tuple[int]]:  # type: ignore[override]
        return os._exit, (1,)


def test_processes_give_what_the_main_process_gives(tmp_path: Path) -> None:
    work = tasks(tmp_path)
    assert flat(prepare_all(work, POLICY, processes=2)) == [prepare(task, POLICY) for task in work]


def test_a_file_that_kills_its_process_fails_alone(tmp_path: Path) -> None:
    work = tasks(tmp_path)
    deadly = DeadlyTask("notes", "deadly.md", "deadly.md", 0, 0, "note", TrustLevel.PRIMARY)
    results = flat(prepare_all([*work[:40], deadly, *work[40:]], POLICY, processes=1))
    assert isinstance(results[40], IngestItem)
    assert results[40].reason == "the parser process died while reading it"
    assert [r for n, r in enumerate(results) if n != 40] == [prepare(task, POLICY) for task in work]


def test_leaving_early_leaves_no_process_behind(tmp_path: Path) -> None:
    results = prepare_all(tasks(tmp_path), POLICY, processes=2)
    next(results)
    children = _children()
    assert len(children) == 2
    results.close()
    assert _children() == []


def test_ctrl_c_is_not_for_the_parser_processes(tmp_path: Path) -> None:
    results = prepare_all(tasks(tmp_path), POLICY, processes=1)
    first = next(results)
    for child in _children():
        os.kill(child, signal.SIGINT)
    done = [*first, *flat(results)]
    assert sum(isinstance(result, Prepared) for result in done) == MIN_FILES + 20 - 5


def _children() -> list[int]:
    """Processes that this one started."""
    found = []
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        found += [int(pid) for pid in (task / "children").read_text().split()]
    return found
