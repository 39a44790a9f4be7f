"""ExecutionFilters as a condition; the same column names stand in every table that is filtered."""

from __future__ import annotations

from kebab.domain.executions import ExecutionFilters

_LISTS = {"agent": "agent_id", "role": "agent_role", "task_type": "task_type", "provider": "provider"}


def label(name: str, value: str) -> str:
    """A label as the column holds it."""
    return f"{name}={value}"


def where(filters: ExecutionFilters) -> tuple[str, dict[str, object]]:
    """A condition (``true`` for no filter) and the values of its parameters."""
    parts: list[str] = []
    values: dict[str, object] = {}
    for name, column in _LISTS.items():
        if wanted := getattr(filters, name):
            parts.append(f"{column} IN $f_{name}")
            values[f"f_{name}"] = list(wanted)
    single = {
        "success": ("success = $f_success", filters.success),
        "after": ("finished_at >= $f_after", filters.after),
        "before": ("finished_at < $f_before", filters.before),
        "valid": ("(expires_at = NONE OR expires_at > $f_valid)", filters.valid_at),
        "cost": ("cost_cents <= $f_cost", filters.max_cost_cents),
    }
    for place, (name, allowed) in enumerate(filters.labels):
        parts.append(f"labels CONTAINSANY $f_labels_{place}")
        values[f"f_labels_{place}"] = [label(name, value) for value in allowed]
    for name, (condition, value) in single.items():
        if value is not None:
            parts.append(condition)
            values[f"f_{name}"] = value
    return " AND ".join(parts) or "true", values
