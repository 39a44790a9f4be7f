"""The memory of a folder: journal, shelf, what has settled, and the store behind them."""

from __future__ import annotations

import hashlib
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("surrealdb", reason="the memory extra is not installed")

from kebab.adapters.journaled.journal import START, Journal
from kebab.adapters.journaled.ops import encoded, put
from kebab.adapters.journaled.settle import settle
from kebab.assembly.memory import MemoryEngines
from kebab.config.sections import Memory
from kebab.domain.executions import Execution, ExecutionFilters, TaskRecord
from kebab.errors import Conflict, Corrupt, EngineUnavailable, InvalidInput, StorageError
from kebab.memory.room import ExecutionMemory
from kebab.ports import MemoryKind
from kebab.search.analyze import Analyzer
from tests.fakes import FakeEmbedder
from tests.folders import remove
from tests.memory_fakes import NOON, run

BARE = {"embedding": None, "embedding_model": None}

Make = Callable[..., MemoryEngines]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Opens the memory of one folder, each time as another process would."""
    made: list[MemoryEngines] = []

    def opened(**changed: Any) -> MemoryEngines:
        options: dict[str, Any] = {
            "folder": tmp_path / "memory",
            "analyzer": Analyzer(),
            "readonly": False,
        } | changed
        made.append(MemoryEngines(Memory(), **options))
        return made[-1]

    yield opened
    for engines in made:
        engines.close()


def memory_of(engines: MemoryEngines, *, embedder: Any = None) -> ExecutionMemory:
    indexes = (engines.index(MemoryKind.EXECUTIONS), engines.index(MemoryKind.TASKS))
    return ExecutionMemory(engines.store, *indexes, embedder or FakeEmbedder(), engines.analyzer)


def settled(engines: MemoryEngines) -> None:
    assert engines.shelf.catch_up(wait=True)
    assert settle(engines.shelf, step=1, wait=True)


def fingerprint(folder: Path) -> dict[str, tuple[int, str]]:
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# --- the journal -----------------------------------------------------------------------------------


def test_lines_are_read_in_order_from_any_position(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    first, second = journal.append([b"one", b"two"])
    (third,) = journal.append([b"three"])

    assert START < first < second < third == journal.end()
    assert [line.payload for line in journal.read(START)] == [b"one", b"two", b"three"]
    assert [line.payload for line in journal.read(first)] == [b"two", b"three"]
    assert list(journal.read(third)) == []


def test_half_a_line_of_a_killed_writer_is_passed_over_and_the_next_is_whole(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append([b"one"])
    (file,) = (tmp_path / "journal").glob("*.log")
    for cut in (1, 9, 20):
        with file.open("ab") as out:
            out.write((b"%08x %08x " % (40, 1) + b"x" * 40)[:cut])
        journal.append([b"next"])

    assert [line.payload for line in journal.read(START)] == [b"one", b"next", b"next", b"next"]


def test_a_flipped_bit_in_a_line_is_told_and_costs_no_other_line(make: Make, tmp_path: Path) -> None:
    memory_of(make()).store.save([run(1), run(2), run(3)])
    (file,) = (tmp_path / "memory" / "journal").glob("*.log")
    content = bytearray(file.read_bytes())
    content[content.index(b"number2")] ^= 1
    file.write_bytes(content)
    engines = make()

    assert sorted(engines.store.load(["run-00001", "run-00002", "run-00003"])) == ["run-00001", "run-00003"]
    assert "1 lines of the journal are damaged" in engines.faults()


def test_a_full_disk_is_an_error_and_leaves_no_half_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append([b"one"])
    (file,) = (tmp_path / "journal").glob("*.log")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 50, hard))
    try:
        with pytest.raises(StorageError, match="File too large"):
            journal.append([b"x" * 1000])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    journal.append([b"two"])

    assert [line.payload for line in journal.read(START)] == [b"one", b"two"]


# --- what is read ----------------------------------------------------------------------------------


def test_a_record_is_found_the_moment_it_is_acknowledged_in_every_process(make: Make) -> None:
    writer, reader = memory_of(make()), memory_of(make())
    for number in range(3):
        writer.record(run(number, task_description=f"mend the frobnicator{number}", **BARE))
        found = reader.hybrid_search(f"frobnicator{number}")
        assert found.hits[0].execution.id == f"run-{number:05d}"
        assert found.degraded == ()


def test_searching_changes_no_byte(make: Make, tmp_path: Path) -> None:
    engines = make()
    memory_of(engines).record_many(
        run(n, task_description=f"fix the login page {n}", **BARE) for n in range(30)
    )
    settled(engines)
    engines.close()
    engines.shelf.journal.append([encoded(put(run(99, task_description="still in the journal")))])
    before = fingerprint(tmp_path)
    reader = memory_of(make())
    for number in range(200):
        reader.hybrid_search(f"login page {number}", filters=ExecutionFilters(success=True))
        reader.get("run-00099")
        reader.stats()

    assert fingerprint(tmp_path) == before


def test_searching_and_recording_load_no_engine(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from tests.adapters.test_journaled import memory_of, run, Memory, MemoryEngines, Analyzer, BARE
engines = MemoryEngines(Memory(), folder=Path(sys.argv[1]), analyzer=Analyzer(), readonly=False)
memory = memory_of(engines)
for name in [name for name in sys.modules if name.partition(".")[0] == "surrealdb"]:
    del sys.modules[name]
memory.record(run(1, **BARE))
memory.hybrid_search("mend")
engines.close()
sys.stdout.write(str([name for name in sys.modules if name.partition(".")[0] == "surrealdb"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "m")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]"


def test_what_settled_and_what_did_not_are_searched_as_one(make: Make) -> None:
    engines = make()
    memory = memory_of(engines)
    memory.record_many(run(n, task_description=f"update page part{n % 5}", **BARE) for n in range(40))
    alone = [hit.execution.id for hit in memory.hybrid_search("update part3", limit=40, min_score=0).hits]
    words = memory.search_words("part3 page", limit=40, min_score=0)
    settled(engines)

    assert [
        hit.execution.id for hit in memory.hybrid_search("update part3", limit=40, min_score=0).hits
    ] == alone
    again = memory.search_words("part3 page", limit=40, min_score=0)
    assert {hit.execution.id: round(hit.lexical_score or 0, 3) for hit in again.hits} == {
        hit.execution.id: pytest.approx(round(hit.lexical_score or 0, 3), abs=0.02) for hit in words.hits
    }
    memory.record(run(7, agent_id="agent-1", task_description="update part3 once more", **BARE))
    assert memory.search_words("once more").hits[0].execution.id == "run-00007"
    memory.delete(["run-00003"])
    assert "run-00003" not in {
        h.execution.id for h in memory.search_words("part3", limit=40, min_score=0).hits
    }


def test_a_shelf_with_many_gaps_settles_anew(make: Make) -> None:
    engines = make()
    memory = memory_of(engines)
    memory.record_many(run(n, task_description=f"task about topic{n}", **BARE) for n in range(30))
    settled(engines)
    memory.delete([f"run-{n:05d}" for n in range(0, 30, 2)])
    assert engines.shelf.catch_up(wait=True)
    assert settle(engines.shelf, gaps=5, wait=True)

    with engines.shelf.reading() as db:
        assert db.execute("SELECT count(*) FROM dead").fetchone() == (0,)
    found = memory.hybrid_search("task topic7", limit=40, min_score=0)
    assert len(found.hits) == 15
    assert found.hits[0].execution.id == "run-00007"


FORKS = """
import os
import sys
from pathlib import Path
from tests.adapters.test_journaled import memory_of, run, Memory, MemoryEngines, Analyzer, BARE

engines = MemoryEngines(Memory(), folder=Path(sys.argv[1]), analyzer=Analyzer(), readonly=False)
memory = memory_of(engines)
memory.record(run(1, task_description="before the fork", **BARE))
memory.hybrid_search("fork")
child = os.fork()
if child == 0:
    code = 1
    try:
        memory.record(run(2, task_description="inside the child", **BARE))
        code = 0 if memory.hybrid_search("before the fork").hits else 2
        memory.close()
    finally:
        os._exit(code)
ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
memory.record(run(3, task_description="after the fork", **BARE))
engines.close()
sys.exit(ended)
"""


def test_a_forked_child_reads_and_records_by_itself(make: Make, tmp_path: Path) -> None:
    # In a process of its own: this one may hold engines that must not be forked.
    done = subprocess.run([sys.executable, "-c", FORKS, str(tmp_path / "memory")], timeout=60)

    assert done.returncode == 0
    assert sorted(memory_of(make()).store.load(["run-00001", "run-00002", "run-00003"])) == [
        "run-00001",
        "run-00002",
        "run-00003",
    ]


# --- the store behind ------------------------------------------------------------------------------


def test_the_journal_reaches_the_store_in_order_and_once(make: Make) -> None:
    engines = make()
    memory = memory_of(engines)
    memory.record_many(run(number) for number in range(5))
    memory.record_task(TaskRecord(id="t", description="요약", recorded_at=NOON))
    memory.record(run(3, agent_id="agent-0", success=True, error=None))
    memory.link("run-00004", "run-00001")
    memory.delete(["run-00002"])
    assert engines.drain.run()
    assert engines.drain.run()
    behind = engines._behind

    assert list(behind.every()) == list(memory.store.every())
    assert list(behind.every_task()) == list(memory.store.every_task())
    assert behind.links() == [("run-00004", "run-00001")]
    assert behind.journal_position() == engines.shelf.journal.end()


def test_a_drain_that_stops_half_way_is_continued(make: Make) -> None:
    engines = make()
    memory_of(engines).record_many(run(number) for number in range(7))
    real, calls = engines._behind.save, []

    def failing(*args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise EngineUnavailable("the lights went out")
        return real(*args, **options)

    engines._behind.save = failing  # type: ignore[method-assign]
    with pytest.raises(EngineUnavailable):
        replace(engines.drain, batch=2).run()
    engines.close()
    again = make()
    assert again.drain.run()

    assert [item.id for item in again._behind.every()] == [f"run-{number:05d}" for number in range(7)]
    assert again._behind.revision(MemoryKind.EXECUTIONS) == 7


def test_the_journal_is_let_go_once_it_has_arrived(make: Make, tmp_path: Path) -> None:
    engines = make()
    engines.shelf.journal.rotate_bytes = 1
    memory = memory_of(engines)
    memory.record_many(run(number) for number in range(5))
    assert engines.drain.run()
    (file,) = (tmp_path / "memory" / "journal").glob("*.log")

    assert file.stat().st_size == 0
    memory.record(run(9))
    assert len(memory_of(make()).store.load([f"run-{number:05d}" for number in (0, 1, 2, 3, 4, 9)])) == 6


@pytest.mark.parametrize("lost", ["shelf", "settled", "words", "garbage", "index"])
def test_whatever_is_derived_can_be_lost(make: Make, tmp_path: Path, lost: str) -> None:
    engines = make()
    memory = memory_of(engines)
    memory.record_many(run(n, task_description=f"fix topic{n}", **BARE) for n in range(20))
    memory.link("run-00001", "run-00002")
    assert engines.drain.run()
    memory.record(run(50, task_description="only in the journal", **BARE))
    settled(engines)
    engines.close()
    index = tmp_path / "memory" / "index"
    (folder,) = index.glob("settled-*")
    if lost == "shelf":
        (index / "shelf.sqlite").unlink()
    elif lost == "settled":
        remove(folder)
    elif lost == "words":
        remove(folder / "executions" / "words")
    elif lost == "garbage":
        (index / "shelf.sqlite").write_bytes(b"garbage" * 4000)
    else:
        remove(index)
    again = make()
    if again.faults():
        again.mend()
    found = memory_of(again)

    assert again.faults() == []
    assert found.hybrid_search("fix topic7").hits[0].execution.id == "run-00007"
    assert found.hybrid_search("only in the journal").hits[0].execution.id == "run-00050"
    assert found.stats().executions == 21
    assert found.store.links() == [("run-00001", "run-00002")]


@pytest.mark.parametrize(
    "part", ["*.f32", "*.seq", "words/*.store", "words/*.term", "words/*.idx", "shelf.sqlite"]
)
def test_a_flipped_bit_in_what_a_search_reads_is_found_and_mended(
    make: Make, tmp_path: Path, part: str
) -> None:
    engines = make()
    memory_of(engines).record_many(
        run(n, task_description=f"fix topic{n}", tags=("ci",), **BARE) for n in range(20)
    )
    settled(engines)
    engines.close()
    (file, *_) = sorted((tmp_path / "memory" / "index").rglob(part))
    content = bytearray(file.read_bytes())
    place = content.index(b"topic7") if part == "shelf.sqlite" else len(content) // 2
    content[place] ^= 4
    file.write_bytes(content)
    again = make()
    assert again.faults()
    again.mend()

    assert again.faults() == []
    assert memory_of(again).hybrid_search("fix topic7").hits[0].execution.id == "run-00007"


def test_a_store_put_back_from_an_older_copy_is_completed(make: Make, tmp_path: Path) -> None:
    engines = make()
    memory = memory_of(engines)
    memory.record(run(1))
    assert engines.drain.run()
    engines.close()
    shutil.copytree(tmp_path / "memory" / "store", tmp_path / "copy")
    engines = make()
    memory_of(engines).record(run(2))
    assert engines.drain.run()
    engines.close()
    remove(tmp_path / "memory" / "store")
    shutil.copytree(tmp_path / "copy", tmp_path / "memory" / "store")
    engines = make()
    memory_of(engines).record(run(3))
    assert engines.drain.run()

    assert [item.id for item in engines._behind.every()] == ["run-00001", "run-00002", "run-00003"]


def test_a_store_that_lost_its_manifest_is_corrupt_and_not_a_new_one(make: Make, tmp_path: Path) -> None:
    engines = make()
    memory_of(engines).record(run(1))
    assert engines.drain.run()
    engines.close()
    remove(tmp_path / "memory" / "store" / "manifest")
    remove(tmp_path / "memory" / "index")

    with pytest.raises(Corrupt, match="manifest"):
        memory_of(make()).stats()


def test_a_memory_of_the_earlier_layout_is_read_as_it_is(make: Make, tmp_path: Path) -> None:
    from kebab.adapters.surreal.connection import SurrealConnection
    from kebab.adapters.surreal.schema import _applied, _apply, shipped
    from kebab.adapters.surreal.store import SurrealExecutionStore

    connection = SurrealConnection(
        f"surrealkv://{tmp_path / 'memory' / 'store'}", namespace="kebab", database="memory"
    )
    assert _applied(connection) == {}
    for migration in shipped()[:4]:
        assert _apply(connection, migration)
    old = SurrealExecutionStore(connection, analyzer=Analyzer())
    connection.query(
        "INSERT INTO kg_executions { id: 'old', agent_id: 'ann', task_id: 't', task_type: 'fix', seq: 1, "
        "task_description: 'Fix the flaky login test', quality_score: 0.9f, latency_ms: 5, cost_cents: 3, "
        "success: true, "
        "started_at: d'2026-03-01T10:00:00Z', finished_at: d'2026-03-01T10:00:05Z' };"
        "UPDATE kg_meta:executions SET seq = 1"
    )
    old.close()
    memory = memory_of(make())
    memory.record(run(2, task_description="a new one", **BARE))

    assert memory.search_words("flaky login").hits[0].execution.id == "old"
    kept = memory.get("old")
    assert isinstance(kept, Execution)
    assert (kept.cost_cents, kept.approach, kept.tags) == (3, None, ())
    assert memory.stats().executions == 2


def test_the_engines_own_search_sees_what_is_in_the_journal(make: Make, tmp_path: Path) -> None:
    engines = MemoryEngines(
        Memory(search="native"), folder=tmp_path / "memory", analyzer=Analyzer(), readonly=False
    )
    memory = memory_of(engines)
    memory.record_many(
        run(n, task_description=text, **BARE) for n, text in enumerate(("fix login", "빌림 검사", "x", "y"))
    )

    assert memory.search_words("login").hits[0].execution.id == "run-00000"
    assert memory.search_words("빌림").hits[0].execution.id == "run-00001"
    assert memory.find_similar_executions("fix login").hits[0].execution.id == "run-00000"
    engines.close()


# --- recording -------------------------------------------------------------------------------------


def test_another_agents_id_is_a_conflict_also_across_processes(make: Make) -> None:
    one, two = memory_of(make()), memory_of(make())
    one.record(run(1, agent_id="ann"))

    with pytest.raises(Conflict, match="recorded by ann, not by bob"):
        two.record(run(1, agent_id="bob"))
    two.record(run(1, agent_id="ann", success=True, error=None))
    found = one.get("run-00001")
    assert isinstance(found, Execution)
    assert found.success


def test_after_a_change_of_model_the_search_says_what_it_did_not_compare(make: Make) -> None:
    engines = make()
    memory = memory_of(engines)
    memory.record_many(run(n, task_description=f"old work {n}", **BARE) for n in range(3))
    memory.record_task(TaskRecord(id="t", description="old task", recorded_at=NOON))
    other = memory_of(engines, embedder=FakeEmbedder(8, version="2"))
    other.record(run(9, task_description="new work", **BARE))

    found = other.find_similar_executions("work", min_score=0)
    assert [hit.execution.id for hit in found.hits] == ["run-00009"]
    assert [(note.part, note.code) for note in found.degraded] == [("semantic", "model_mismatch")]
    assert "3 records" in found.degraded[0].message
    assert other.embed_missing() == 4
    again = other.find_similar_executions("work", min_score=0)
    assert (len(again.hits), again.degraded) == (4, ())
    assert other.find_similar_rlm_tasks("old task").hits[0].semantic_rank == 1


@pytest.mark.parametrize("vector", [(float("nan"), 1.0), (float("inf"), 1.0), (0.0, 0.0)])
def test_a_vector_without_a_direction_is_refused(make: Make, vector: tuple[float, ...]) -> None:
    memory = memory_of(make())
    memory.record(run(1, embedding=(1.0, 0.0), embedding_model="m@1"))

    with pytest.raises(InvalidInput):
        memory.find_similar_executions(embedding=vector)


def test_what_has_expired_is_not_found_and_is_pruned(make: Make) -> None:
    memory = replace(memory_of(make()), clock=lambda: NOON + timedelta(days=2))
    memory.record(run(1, task_description="short lived", expires_at=NOON + timedelta(days=1), **BARE))
    memory.record(run(2, task_description="lives on", expires_at=NOON + timedelta(days=9), **BARE))

    assert {hit.execution.id for hit in memory.hybrid_search("lived lives", min_score=0).hits} == {
        "run-00002"
    }
    assert memory.prune(older_than=timedelta(days=900)).executions == 1
    assert [item.id for item in memory.store.every()] == ["run-00002"]


def test_a_curve_survives_the_prune(make: Make) -> None:
    memory = replace(memory_of(make()), clock=lambda: NOON + timedelta(days=400))
    memory.record_many(
        run(
            n,
            agent_id="ann",
            success=n > 4,
            error=None,
            started_at=NOON + timedelta(days=n),
            finished_at=NOON + timedelta(days=n),
            cost_cents=n / 4,
        )
        for n in range(10)
    )
    before = memory.learning_curve("ann", "fix")
    memory.prune(older_than=timedelta(days=395))
    memory.prune(older_than=timedelta(days=1))

    assert memory.stats().executions == 0
    assert memory.learning_curve("ann", "fix") == before
    assert memory.stats().documents == 0
