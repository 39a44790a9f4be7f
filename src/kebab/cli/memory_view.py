"""What the execution memory shows to people."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kebab.cli.screen import Screen, clip
from kebab.cli.tables import pairs, seconds_of, table
from kebab.domain.advice import Advice
from kebab.domain.controls import harmless
from kebab.domain.executions import Execution, TaskRecord
from kebab.domain.learning import AgentRank, LearningCurve
from kebab.domain.recalls import Cause, HelpfulDocument, MemoryStats, Recalled, RecalledTasks


def hits(found: Recalled, screen: Screen) -> str:
    """Each run on three lines: score and outcome, description, signals."""
    blocks = []
    for rank, hit in enumerate(found.hits, start=1):
        # How sure it is that the run is about this; its fused rank says nothing of that.
        shown = hit.hybrid_score if hit.relevance is None else hit.relevance
        score = f"{screen.bar(shown)} {shown:.3f}"
        head = f"{rank}. {score}  {_outcome(hit.execution, screen)}"
        text = clip(_line(hit.execution.task_description), screen.columns - 3)
        blocks.append(f"{head}\n   {text}\n   {screen.dim(f'{hit.reason} · {hit.execution.id}')}")
        if hit.execution.lesson:
            blocks[-1] += f"\n   lesson: {clip(_line(hit.execution.lesson), screen.columns - 11)}"
        if hit.execution.error:
            error = clip(_line(hit.execution.error), screen.columns - 3)
            blocks[-1] += f"\n   {screen.style(error, fg='red')}"
    return "\n\n".join(blocks)


def record(found: Execution | TaskRecord, screen: Screen) -> str:
    """Every field that says something, a line each."""
    from kebab.memory.shape import to_json

    rows = [
        (name, _line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
        for name, value in to_json(found, embedding=False).items()
        if value not in (None, [], {}) and name != "schema_version"
    ]
    return pairs(rows, screen=screen)


def advice(found: Advice) -> str:
    return "\n".join(harmless(line) for line in found.text.splitlines())


def task_hits(found: RecalledTasks, screen: Screen) -> str:
    rows = [
        [
            f"{hit.hybrid_score if hit.relevance is None else hit.relevance:.3f}",
            hit.task.id,
            f"{hit.task.recorded_at:%Y-%m-%d}",
            hit.task.description,
        ]
        for hit in found.hits
    ]
    return table(rows, header=("score", "id", "recorded", "description"), screen=screen, grow=3)


def executions(found: Sequence[Execution], screen: Screen) -> str:
    rows = [
        [
            f"{item.finished_at:%Y-%m-%d %H:%M}",
            "ok" if item.success else "failed",
            item.agent_id,
            item.task_type,
            item.task_description,
            item.id,
        ]
        for item in found
    ]
    header = ("finished", "outcome", "agent", "type", "task", "id")
    return table(rows, header=header, screen=screen, grow=4)


def curve(found: LearningCurve, screen: Screen) -> str:
    rows = [
        [
            day.day.isoformat(),
            str(day.execution_count),
            f"{screen.bar(day.success_rate)} {day.success_rate:.0%}",
            f"{day.avg_quality:.2f}",
            seconds_of(day.avg_latency_ms),
            f"{day.total_cost_cents:g} ¢",
            day.trend.value,
        ]
        for day in found.days
    ]
    slope = "" if found.slope_per_day is None else f" ({found.slope_per_day:+.4f} a day)"
    header = ("day", "runs", "success", "quality", "latency", "cost", "trend")
    return f"{table(rows, header=header, screen=screen, grow=2)}\ntrend: {found.trend.value}{slope}"


def agents(found: Sequence[AgentRank], screen: Screen) -> str:
    rows = [
        [
            item.agent_id,
            f"{item.low:.0%}–{item.high:.0%}",
            f"{item.success_rate:.0%}",
            str(item.executions),
            f"{item.avg_quality:.2f}",
            seconds_of(item.avg_latency_ms),
            f"{item.avg_cost_cents:.1f} ¢",
            f"{item.last_finished_at:%Y-%m-%d}",
        ]
        for item in found
    ]
    header = ("agent", "95 % interval", "success", "runs", "quality", "latency", "cost", "last")
    return table(rows, header=header, screen=screen, grow=0)


def causes(found: Sequence[Cause], screen: Screen, *, arrow: str = "←") -> str:
    lines = []
    for cause in found:
        text = _line(cause.execution.task_description)
        lines.append(f"{'  ' * (cause.distance - 1)}{arrow} {_outcome(cause.execution, screen)}  {text}")
        lines.append(screen.dim(f"{'  ' * cause.distance}{cause.execution.id}"))
    return "\n".join(lines)


def documents(found: Sequence[HelpfulDocument], screen: Screen) -> str:
    rows = [[f"{item.score:.3f}", str(item.succeeded), str(item.failed), item.document] for item in found]
    return table(rows, header=("score", "helped", "failed", "document"), screen=screen, grow=3)


def stats(found: MemoryStats, screen: Screen) -> str:
    rate = f" ({found.successes / found.executions:.0%} succeeded)" if found.executions else ""
    models = ", ".join(f"{model}: {count}" for model, count in sorted(found.models.items()))
    last = f"{found.last_finished_at:%Y-%m-%d %H:%M}" if found.last_finished_at else "never"
    return pairs(
        [
            ("executions", f"{found.executions}{rate}"),
            ("task records", str(found.tasks)),
            ("agents", str(found.agents)),
            ("task types", str(found.task_types)),
            ("providers", str(found.providers)),
            ("documents", str(found.documents)),
            ("last finished", last),
            ("cost", f"{found.total_cost_cents:,.1f} ¢"),
            ("vectors", models or "none"),
        ],
        screen=screen,
    )


def _line(text: str) -> str:
    """A text of any agent on one line, harmless to the terminal."""
    return harmless(" ".join(text.split()))


def _outcome(item: Execution, screen: Screen) -> str:
    mark = screen.style("ok", fg="green") if item.success else screen.style("failed", fg="red")
    return (
        f"{mark} {item.quality_score:.2f} · {_line(item.agent_id)} · {_line(item.task_type)} · "
        f"{item.finished_at:%Y-%m-%d} · {seconds_of(item.latency_ms)} · {item.cost_cents:g} ¢"
    )
