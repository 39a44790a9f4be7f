"""A process that is killed: records without end, or migrates, and tells what is done line by line.

``python memory_victim.py record FOLDER START`` and ``python memory_victim.py migrate FOLDER``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy  # noqa: F401  # imported now, so that a kill meets the work and not the imports
import surrealdb  # noqa: F401
import tantivy  # noqa: F401

from kebab.adapters.execution_index.index import SidecarExecutionIndex
from kebab.adapters.surreal.connection import SurrealConnection
from kebab.adapters.surreal.schema import Migration, migrate, shipped
from kebab.adapters.surreal.store import SurrealExecutionStore
from kebab.memory.follow import Followed
from kebab.memory.room import ExecutionMemory
from kebab.ports import MemoryKind
from tests.fakes import FakeAnalyzer
from tests.memory_fakes import run

RUNS_A_CALL = 40
EXTRA = 30


def connection(folder: Path, migrations: list[Migration] | None = None) -> SurrealConnection:
    return SurrealConnection(
        f"surrealkv://{folder / 'store'}",
        namespace="test",
        database="test",
        on_open=lambda opened: migrate(opened, migrations),
    )


def memory(folder: Path) -> ExecutionMemory:
    analyzer = FakeAnalyzer()
    store = SurrealExecutionStore(connection(folder), analyzer=analyzer)

    def index(kind: MemoryKind) -> Followed:
        made = SidecarExecutionIndex(lambda: folder / "index" / kind, analyzer=analyzer)
        return Followed(store, made, kind)

    return ExecutionMemory(store, index(MemoryKind.EXECUTIONS), index(MemoryKind.TASKS), None)


def migrations() -> list[Migration]:
    """The product's, and enough others to be interrupted at: each adds a table and moves a counter."""
    extra = [
        Migration(
            f"5{number:02d}_extra",
            f"DEFINE TABLE extra_{number} SCHEMAFULL; DEFINE FIELD v ON extra_{number} TYPE int;"
            f"FOR $v IN 0..50 {{ CREATE extra_{number} SET v = $v }};"
            f"DEFINE INDEX v ON extra_{number} FIELDS v;"
            "UPSERT kg_meta:moved SET seq = (seq ?? 0) + 1;",
        )
        for number in range(EXTRA)
    ]
    return [*shipped(), *extra]


def tell(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def record(folder: Path, start: int) -> None:
    kept = memory(folder)
    while True:
        kept.record_many(run(n, parent=f"run-{n - 1:05d}") for n in range(start, start + RUNS_A_CALL))
        start += RUNS_A_CALL
        tell(start)


def migrate_step_by_step(folder: Path) -> None:
    steps = migrations()
    opened = SurrealConnection(f"surrealkv://{folder / 'store'}", namespace="test", database="test")
    for count in range(len(shipped()), len(steps) + 1):
        migrate(opened, steps[:count])
        tell(steps[count - 1].name)


if __name__ == "__main__":
    task, place, *rest = sys.argv[1:]
    tell("begin")
    if task == "record":
        record(Path(place), int(rest[0]))
    else:
        migrate_step_by_step(Path(place))
