"""A brief through one open knowledge base: with a memory, without one, and where it cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kebab import wire
from kebab.app import Kebab
from kebab.domain.executions import Execution
from kebab.domain.queries import SearchFilters
from kebab.errors import InvalidInput

NOTES = {
    "deploy.md": "# Deploying\n\n## Canary\n\nFive percent of the servers first, watch for twenty minutes.\n",
    "rope.md": "# Ropes\n\n## Knots\n\nA bowline holds a boat and opens again.\n",
    "secret/keys.md": "# Keys\n\nThe canary servers use the signing key in the safe.\n",
}
START = datetime(2026, 3, 1, tzinfo=UTC)


def execution(key: str, *, ok: bool, project: str = "ferry", used: tuple[str, ...] = ()) -> Execution:
    return Execution(
        id=key,
        agent_id="ann",
        task_id="rollout",
        task_type="task",
        task_description="Roll out a new version to all servers",
        approach="all servers at once" if not ok else "five percent first",
        error=None if ok else "errors on every server",
        lesson="never without the canary",
        success=ok,
        quality_score=1.0 if ok else 0.0,
        latency_ms=1,
        scope={"project": project},
        documents_used=used,
        started_at=START,
        finished_at=START + timedelta(minutes=1),
    )


def opened(folder: Path, **overrides: str) -> Kebab:
    return Kebab.open(root=folder / "notes", data_dir=folder / "data", overrides=overrides)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, text in NOTES.items():
        (tmp_path / "notes" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / path).write_text(text, encoding="utf-8")
    with opened(tmp_path) as kb:
        kb.ingest()
    return tmp_path


@pytest.fixture
def kb(folder: Path) -> Iterator[Kebab]:
    with opened(folder) as kb:
        yield kb


def test_without_a_memory_documents_answer_alone_and_none_is_made(kb: Kebab, folder: Path) -> None:
    found = kb.brief("Bring the new version to the servers")
    told = {piece.citation.uri: piece.text for piece in found.documents}
    assert told["deploy.md#L5"] == "Five percent of the servers first, watch for twenty minutes."
    assert (found.worked, found.avoid, found.degraded) == ((), (), ())
    assert not (folder / "data" / "memory").exists()


def test_a_memory_that_cannot_be_read_is_told_and_documents_answer_alone(folder: Path) -> None:
    with opened(folder, **{"memory.url": "ws://127.0.0.1:9"}) as kb:
        found = kb.brief("Bring the new version to the servers")
    assert found.documents
    assert [note.part for note in found.degraded] == ["memory"]


def test_what_worked_and_what_failed_is_told_with_ids(kb: Kebab) -> None:
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    kb.memory.record_many([execution("bad", ok=False), execution("good", ok=True)])
    found = kb.brief("Release the new version on every server")
    assert [run.id for run in found.worked] == ["good"]
    assert [(run.id, run.outcome) for run in found.avoid] == [("bad", "errors on every server")]
    assert "[bad]" in found.text
    assert found.tokens <= found.max_tokens == 1500


def test_walls_bind_documents_and_runs(kb: Kebab) -> None:
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    kb.memory.record_many([execution("ours", ok=True), execution("theirs", ok=True, project="bank")])
    task = "Release the new version on every canary server"
    found = kb.brief(task, filters=SearchFilters(path=("*.md",)), scope={"project": "ferry"})
    assert all("/" not in piece.citation.path for piece in found.documents)
    assert [run.id for run in found.worked] == ["ours"]
    assert "secret" not in found.text


def test_documents_that_a_successful_run_used_are_looked_into(kb: Kebab) -> None:
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    task = "Release the new version on every server"
    assert "rope.md" not in {piece.citation.path for piece in kb.brief(task).documents[:2]}
    kb.memory.record(execution("good", ok=True, used=("rope.md",)))
    led = {piece.citation.path: piece.led_by for piece in kb.brief(task).documents}
    assert led["rope.md"] == ("good",)


@pytest.mark.parametrize("task", ['-draft "no such phrase" tag:nothing deploy to servers', "?!", "a" * 5000])
def test_a_task_is_text_and_no_query(kb: Kebab, task: str) -> None:
    found = kb.brief(task, max_tokens=300)
    assert wire.brief(found).tokens <= 300
    assert found.documents or not any(char.isalpha() for char in task) or "aaa" in task


def test_a_brief_of_nothing_and_an_endless_one_are_refused(kb: Kebab) -> None:
    for task in ("", "  \n", "x" * 100_001):
        with pytest.raises(InvalidInput):
            kb.brief(task)
    with pytest.raises(InvalidInput):
        kb.brief("x", max_tokens=0)
