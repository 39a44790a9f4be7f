"""Three agents, forty tasks, failures first, lessons recorded; a fourth asks before each task."""

# ruff: noqa: E501  # lines of logs and of a table are easier to read whole

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("surrealdb", reason="the memory extra is not installed")

from kebab.adapters.embedders.static import StaticEmbedder
from kebab.assembly.memory import MemoryEngines
from kebab.config.sections import Memory
from kebab.domain.executions import Execution
from kebab.domain.tokens import estimate_tokens
from kebab.memory.room import ExecutionMemory
from kebab.ports import MemoryKind
from kebab.search.analyze import Analyzer

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
AGENTS = ("ann", "bob", "cho")
BUDGET = 300

TASKS = [
    ("Fix the flaky login test on CI", "login waits for a toast", "wait for the session cookie instead", "docs/ci.md"),
    ("Upgrade the parser to version three", "TypeError: unexpected keyword 'mode'", "rename mode to dialect first", "docs/parser.md"),
    ("Shrink the release image below 200 MB", "image still 640 MB", "copy the wheel from a build stage", "docs/release.md"),
    ("소유권 문서를 한국어로 번역하기", "용어가 서로 맞지 않음", "용어집을 먼저 읽고 옮긴다", "docs/glossary.md"),
    ("Make search results stable across restarts", "ties came in another order", "sort ties by id", "docs/search.md"),
    ("Speed up the nightly ingest of notes", "timeout after 3600 s", "skip unchanged files by size and time", "docs/ingest.md"),
    ("Add paging to the HTTP API", "cursor was not authenticated", "sign the whole cursor", "docs/http.md"),
    ("Rotate the signing key of the cluster", "nodes rejected the new key", "publish both keys for a day", "docs/keys.md"),
    ("로그인 화면의 오류 메시지 고치기", "번역이 화면보다 길다", "짧은 문장으로 바꾼다", "docs/ui.md"),
    ("Migrate the settings file to TOML", "comments were lost", "use a parser that keeps comments", "docs/config.md"),
    ("Reduce memory of the vector index", "peak stayed at 400 MB", "map the file instead of reading it", "docs/vectors.md"),
    ("Detect duplicate invoices in the archive", "scans differ by one pixel", "compare a perceptual hash", "docs/invoices.md"),
    ("Render math formulas in exported pages", "fonts missing in the sandbox", "embed the fonts in the page", "docs/export.md"),
    ("배포 스크립트를 두 지역에서 실행하기", "두 번째 지역에서 권한 거부", "지역마다 역할을 먼저 만든다", "docs/deploy.md"),
    ("Collect crash reports without user data", "paths held user names", "hash every path", "docs/privacy.md"),
    ("Backfill missing timestamps in the ledger", "lock held for minutes", "update in batches of a thousand", "docs/ledger.md"),
    ("Cache thumbnails on the edge servers", "stale images after a change", "put the digest into the name", "docs/cdn.md"),
    ("Port the test suite to Windows", "paths with backslashes", "compare paths as posix", "docs/windows.md"),
    ("Parse Korean addresses from receipts", "동과 호가 붙어 있음", "숫자 앞에서 나눈다", "docs/receipts.md"),
    ("Throttle the webhook sender politely", "remote answered 429", "honour the retry-after header", "docs/webhooks.md"),
]  # fmt: skip
"""Twenty tasks, each first tried in vain and then done: forty runs."""

NEVER_DONE = [
    "Bake sourdough bread with a wet starter",
    "김치를 담그는 가장 빠른 방법",
    "Plan a hiking trip through the Alps in June",
    "Which vaccine protects against yellow fever?",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every agent is a process of its own, which opens the memory and closes it again."""
    place = tmp_path_factory.mktemp("story") / "memory"
    for number, (task, error, lesson, document) in enumerate(TASKS):
        first, second = AGENTS[number % 3], AGENTS[(number + 1) % 3]
        before = START + timedelta(hours=2 * number)
        with_memory(place, first, failed(number, task, error, agent=first, at=before))
        done = succeeded(number, task, lesson, document, agent=second, at=before + timedelta(hours=1))
        with_memory(place, second, done)
    return place


def opened(place: Path) -> tuple[MemoryEngines, ExecutionMemory]:
    engines = MemoryEngines(Memory(), folder=place, analyzer=Analyzer(), readonly=False)
    indexes = (engines.index(MemoryKind.EXECUTIONS), engines.index(MemoryKind.TASKS))
    return engines, ExecutionMemory(engines.store, *indexes, StaticEmbedder(), engines.analyzer)


def with_memory(place: Path, agent: str, execution: Execution) -> None:
    engines, memory = opened(place)
    assert memory.record(execution).agent_id == agent
    engines.close()


def failed(number: int, task: str, error: str, *, agent: str, at: datetime) -> Execution:
    return Execution(
        id=f"try-{number}-1",
        agent_id=agent,
        task_id=f"T-{number}",
        task_type="work",
        task_description=task,
        approach="straight ahead",
        success=False,
        error=error,
        quality_score=0.0,
        latency_ms=1000,
        started_at=at,
        finished_at=at,
        documents_used=("README.md",),
        metadata={"careful": False},
    )


def succeeded(number: int, task: str, lesson: str, document: str, *, agent: str, at: datetime) -> Execution:
    return Execution(
        id=f"try-{number}-2",
        agent_id=agent,
        task_id=f"T-{number}",
        task_type="work",
        task_description=task,
        approach=lesson,
        lesson=lesson,
        success=True,
        quality_score=0.9,
        latency_ms=1000,
        started_at=at,
        finished_at=at,
        documents_used=("README.md", document),
        parent=f"try-{number}-1",
        metadata={"careful": True},
    )


@pytest.fixture(scope="module")
def fourth(folder: Path) -> Iterator[ExecutionMemory]:
    engines, memory = opened(folder)
    yield memory
    engines.close()


@pytest.mark.parametrize("number", range(len(TASKS)), ids=lambda number: TASKS[number][0][:30])
def test_the_fourth_agent_gets_the_right_advice_before_each_task(
    fourth: ExecutionMemory, number: int
) -> None:
    task, error, lesson, document = TASKS[number]
    words = task.split()
    asked = " ".join(words[1:] + words[:1])
    advice = fourth.advise(asked, max_tokens=BUDGET)
    group = advice.groups[0]

    assert (group.tried, group.worked, group.headline) == (2, 1, "tried 2 times, 1 worked")
    assert set(group.executions) == {f"try-{number}-1", f"try-{number}-2"}
    assert group.last_failure is not None
    assert group.last_failure.error == error
    assert group.lessons == ((f"try-{number}-2", lesson),)
    assert group.documents == (document,)
    assert ("metadata.careful", "true") in {(each.field, each.value) for each in group.differences}
    for told in (lesson, error, document, f"[try-{number}-2]"):
        assert told in advice.text
    assert estimate_tokens(advice.text) <= BUDGET


@pytest.mark.parametrize("task", NEVER_DONE)
def test_what_was_never_done_before_gets_no_advice(fourth: ExecutionMemory, task: str) -> None:
    advice = fourth.advise(task)

    assert (advice.groups, advice.text) == ((), "")
    assert advice.withheld > 0


def test_an_error_message_pasted_whole_finds_its_run(fourth: ExecutionMemory) -> None:
    for number, (_, error, _, _) in enumerate(TASKS):
        assert fourth.hybrid_search(error).hits[0].execution.id == f"try-{number}-1"


def test_the_way_from_failure_to_success_can_be_walked_both_ways(fourth: ExecutionMemory) -> None:
    assert [each.execution.id for each in fourth.trace_causes("try-3-2")] == ["try-3-1"]
    assert [each.execution.id for each in fourth.trace_effects("try-3-1")] == ["try-3-2"]
    assert [each.id for each in fourth.users_of("docs/glossary.md")] == ["try-3-2"]


def test_a_tight_budget_keeps_the_most_useful_words(fourth: ExecutionMemory) -> None:
    advice = fourth.advise(TASKS[0][0], max_tokens=45)

    assert 0 < advice.tokens <= 45
    assert advice.text.startswith("- Fix the flaky login test on CI: tried 2 times, 1 worked.")
