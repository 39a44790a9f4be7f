"""Advice before a task: what was tried, what worked, what to do differently. Counted, not generated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kebab.domain.advice import Advice, Difference, TaskGroup
from kebab.domain.executions import Execution, label_value
from kebab.domain.recalls import HybridSearchResult, Recalled
from kebab.domain.tokens import estimate_tokens
from kebab.ports import Analyzer

SIMILAR = 0.6
"""Share of common terms from which two descriptions are one task."""
SIMILAR_RUNS = 100
MAX_TOKENS = 400
_DIFFERENCES = 3
_CLIP = 160


@dataclass(frozen=True, slots=True)
class Adviser:
    analyzer: Analyzer

    def advise(self, task: str, found: Recalled, *, max_tokens: int = MAX_TOKENS) -> Advice:
        """The groups behind the hits, best first, and as much of them in words as the budget lets in."""
        groups = self.groups(found.hits)
        lines: list[str] = []
        told = 0
        for group in groups:
            block = _block(group)
            while block and estimate_tokens("\n".join([*lines, *block])) > max_tokens:
                block.pop()
            if not block:
                break
            lines += block
            told += 1
        text = "\n".join(lines)
        return Advice(
            task=task,
            groups=tuple(groups),
            text=text,
            tokens=estimate_tokens(text),
            left_out=len(groups) - told,
            withheld=found.withheld,
            degraded=found.degraded,
        )

    def groups(self, hits: Sequence[HybridSearchResult]) -> list[TaskGroup]:
        """Runs of one task together: the same task id, or descriptions that share most of their terms."""
        gathered: list[tuple[set[str], set[str], list[HybridSearchResult]]] = []
        for hit in hits:
            terms = set(self.analyzer.terms(hit.execution.task_description))
            for known, ids, runs in gathered:
                if hit.execution.task_id in ids or _overlap(terms, known) >= SIMILAR:
                    runs.append(hit)
                    ids.add(hit.execution.task_id)
                    break
            else:
                gathered.append((terms, {hit.execution.task_id}, [hit]))
        return [_grouped(runs) for _, _, runs in gathered]


def _grouped(hits: Sequence[HybridSearchResult]) -> TaskGroup:
    runs = sorted((hit.execution for hit in hits), key=lambda run: run.finished_at, reverse=True)
    won, lost = [run for run in runs if run.success], [run for run in runs if not run.success]
    used = {document for run in won for document in run.documents_used}
    lessons = {run.lesson: run.id for run in reversed(runs) if run.lesson}
    return TaskGroup(
        description=hits[0].execution.task_description,
        relevance=max(hit.relevance or 0.0 for hit in hits),
        tried=len(runs),
        worked=len(won),
        last_failure=lost[0] if lost else None,
        last_success=won[0] if won else None,
        differences=tuple(_differences(won, lost)[:_DIFFERENCES]),
        documents=tuple(sorted(used - {document for run in lost for document in run.documents_used})),
        lessons=tuple((key, str(lesson)) for lesson, key in sorted(lessons.items(), key=_newest(runs))),
        executions=tuple(run.id for run in runs),
    )


def _newest(runs: Sequence[Execution]) -> Callable[[tuple[str | None, str]], int]:
    places = {run.id: place for place, run in enumerate(runs)}
    return lambda item: places[item[1]]


def _differences(won: Sequence[Execution], lost: Sequence[Execution]) -> list[Difference]:
    """Values that are much more common where it worked, clearest first; none without both outcomes."""
    if not won or not lost:
        return []
    good, bad = _values(won), _values(lost)
    found = [
        (good[value] / len(won) - bad[value] / len(lost), value)
        for value in good
        if good[value] / len(won) - bad[value] / len(lost) >= 0.5
    ]
    return [
        Difference(field=field, value=text, succeeded=good[field, text], failed=bad[field, text])
        for _, (field, text) in sorted(found, key=lambda item: (-item[0], item[1]))
    ]


def _values(runs: Iterable[Execution]) -> Counter[tuple[str, str]]:
    """What each run did, once for each value."""
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs:
        values = {("agent", run.agent_id), ("provider", run.provider)}
        values |= {(name, text) for name in ("agent_role", "approach") if (text := getattr(run, name))}
        values |= {("tag", tag) for tag in run.tags}
        values |= {(f"metadata.{name}", label_value(value)) for name, value in run.metadata.items()}
        counts.update(values)
    return counts


def _block(group: TaskGroup) -> list[str]:
    """What is worth saying of one group, the most useful first."""
    lines = [f"- {_short(group.description)}: {group.headline}. [{group.executions[0]}]"]
    lines += [f"  lesson: {_short(lesson)} [{key}]" for key, lesson in group.lessons]
    if (done := group.last_success) is not None and done.approach:
        lines.append(f"  worked: {_short(done.approach)} [{done.id}]")
    if (failed := group.last_failure) is not None:
        cause = failed.error or failed.result or "no cause was recorded"
        lines.append(f"  last failure {failed.finished_at:%Y-%m-%d}: {_short(cause)} [{failed.id}]")
    if group.differences:
        told = "; ".join(
            f"{each.field} {_short(each.value)}" for each in group.differences if each.field != "approach"
        )
        lines += [f"  only where it worked: {told}"] if told else []
    if group.documents:
        lines.append(f"  documents that helped: {', '.join(group.documents[:5])}")
    return lines


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _CLIP else f"{line[: _CLIP - 1]}…"


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0
