"""Walking the graph: what led to an execution, and which documents helped with tasks like this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kebab.domain.recalls import Cause, HelpfulDocument, HybridSearchResult
from kebab.errors import RecordNotFound
from kebab.ports import ExecutionStore

MAX_STEPS = 100
FAILURE_SHARE = 0.25
"""What a failed run's use of a document says for it, next to a successful one's."""


def trace_causes(store: ExecutionStore, execution_id: str, *, max_steps: int = MAX_STEPS) -> list[Cause]:
    """What led to an execution, nearest first, then by id; each once, also where causes form a circle."""
    return _walked(store, execution_id, store.causes, max_steps=max_steps)


def trace_effects(store: ExecutionStore, execution_id: str, *, max_steps: int = MAX_STEPS) -> list[Cause]:
    """What an execution led to, in the same order."""
    return _walked(store, execution_id, store.effects, max_steps=max_steps)


def _walked(
    store: ExecutionStore,
    start: str,
    step: Callable[[Sequence[str]], dict[str, tuple[str, ...]]],
    *,
    max_steps: int,
) -> list[Cause]:
    if not store.load([start]):
        raise RecordNotFound(f"there is no execution {start}", details={"id": start})
    distances = {start: 0}
    frontier = [start]
    for distance in range(1, max_steps + 1):
        reached = {other for others in step(frontier).values() for other in others}
        frontier = sorted(reached - set(distances))
        distances |= dict.fromkeys(frontier, distance)
        if not frontier:
            break
    del distances[start]
    known = store.load(list(distances))
    ordered = sorted(known.values(), key=lambda execution: (distances[execution.id], execution.id))
    return [Cause(execution=execution, distance=distances[execution.id]) for execution in ordered]


def helpful_documents(
    hits: Sequence[HybridSearchResult], used: Mapping[str, tuple[str, ...]], *, limit: int
) -> list[HelpfulDocument]:
    """Documents of similar runs, best first: each use counts by how similar the run is and how it ended."""
    uses: dict[str, list[HybridSearchResult]] = {}
    for hit in hits:
        for document in used.get(hit.execution.id, ()):
            uses.setdefault(document, []).append(hit)
    found = [_helpful(document, runs) for document, runs in uses.items()]
    return sorted(found, key=lambda item: (-item.score, item.document))[:limit]


def _helpful(document: str, runs: Sequence[HybridSearchResult]) -> HelpfulDocument:
    won = sum(run.execution.success for run in runs)
    return HelpfulDocument(
        document=document,
        score=sum(run.hybrid_score * _worth(run) for run in runs),
        succeeded=won,
        failed=len(runs) - won,
        executions=tuple(run.execution.id for run in runs),
    )


def _worth(run: HybridSearchResult) -> float:
    return run.execution.quality_score * (1.0 if run.execution.success else FAILURE_SHARE)
