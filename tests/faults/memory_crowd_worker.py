"""One of many processes on one memory: ``record|search FOLDER NAME RATE SECONDS``.

Tells each acknowledged record and each search on a line of its own, with the milliseconds it took.
"""

from __future__ import annotations

import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kebab.adapters.embedders.static import StaticEmbedder
from kebab.assembly.memory import MemoryEngines
from kebab.config.sections import Memory
from kebab.domain.executions import Execution
from kebab.errors import KebabError
from kebab.memory.room import ExecutionMemory
from kebab.ports import EmbeddingKind, MemoryKind
from kebab.search.analyze import Analyzer

WORDS = [
    "login",
    "test",
    "cache",
    "build",
    "release",
    "index",
    "parser",
    "로그인",
    "검색",
    "배포",
    "오류",
    "문서",
    "번역",
    "timeout",
    "flaky",
    "retry",
]


def engines_of(folder: Path) -> MemoryEngines:
    return MemoryEngines(Memory(), folder=folder, analyzer=Analyzer(), readonly=False)


def memory_of(engines: MemoryEngines) -> ExecutionMemory:
    indexes = (engines.index(MemoryKind.EXECUTIONS), engines.index(MemoryKind.TASKS))
    return ExecutionMemory(engines.store, *indexes, StaticEmbedder(), engines.analyzer)


def run(name: str, number: int, dice: random.Random) -> Execution:
    end = datetime.now(UTC)
    return Execution(
        id=f"{name}-{number:06d}",
        agent_id=name,
        task_id=f"t{number % 40}",
        task_type="fix",
        task_description=" ".join(dice.choices(WORDS, k=8)),
        success=dice.random() < 0.7,
        quality_score=0.5,
        latency_ms=10,
        started_at=end - timedelta(milliseconds=10),
        finished_at=end,
        documents_used=(f"docs/{number % 7}.md",),
        parent=f"{name}-{number - 1:06d}" if number else None,
    )


def main(what: str, folder: str, name: str, rate: str, seconds: str) -> None:
    memory, dice = memory_of(engines_of(Path(folder))), random.Random(name)
    end, number = time.monotonic() + float(seconds), 0
    memory.hybrid_search("warm up")  # what is measured is a process that is at work
    StaticEmbedder().embed(["warm up"], EmbeddingKind.DOCUMENT)
    tell("ready")
    while time.monotonic() < end:
        began = time.perf_counter()
        try:
            act(what, memory, name, number, dice)
            tell(f"{what} {name}-{number:06d} {(time.perf_counter() - began) * 1000:.2f}")
        except KebabError as error:
            tell(f"error {error.code} {error.message}")
        number += 1
        time.sleep(max(0.0, 1 / float(rate) - (time.perf_counter() - began)))
    memory.close()
    tell("end")


def act(what: str, memory: ExecutionMemory, name: str, number: int, dice: random.Random) -> Any:
    if what == "record":
        return memory.record(run(name, number, dice))
    return memory.hybrid_search(" ".join(dice.choices(WORDS, k=4)), limit=10)


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
