"""Two runs side by side: which queries got better, which got worse, and whether it is more than noise."""

from __future__ import annotations

from kebab.domain.evaluations import METRICS, EvalComparison, EvalReport, QueryChange
from kebab.errors import InvalidInput
from kebab.evaluate import metrics

SAME = 1e-9
"""Changes below this are rounding."""


def compare(before: EvalReport, after: EvalReport, *, metric: str = METRICS[0]) -> EvalComparison:
    """Pair the queries by id. Raises InvalidInput unless both runs judged exactly the same queries."""
    if metric not in METRICS:
        raise InvalidInput(f"there is no metric {metric!r}", hint=f"choose one of {', '.join(METRICS)}")
    old = {score.query_id: score for score in before.scores}
    new = {score.query_id: score for score in after.scores}
    if only := sorted(old.keys() ^ new.keys()):
        raise InvalidInput(
            f"the runs judge different queries: {', '.join(only[:10])}{' …' if len(only) > 10 else ''}",
            hint="compare two runs over the same collection or golden file",
        )
    changes = [
        QueryChange(key, old[key].text, old[key].metrics[metric], new[key].metrics[metric]) for key in old
    ]
    differences = tuple(
        metrics.difference(
            name,
            before=[old[key].metrics[name] for key in old],
            after=[new[key].metrics[name] for key in old],
        )
        for name in METRICS
    )
    better = sorted((c for c in changes if c.after - c.before > SAME), key=_largest)
    worse = sorted((c for c in changes if c.before - c.after > SAME), key=_largest)
    return EvalComparison(
        before=before,
        after=after,
        metric=metric,
        differences=differences,
        better=tuple(better),
        worse=tuple(worse),
        unchanged=len(changes) - len(better) - len(worse),
    )


def _largest(change: QueryChange) -> tuple[float, str]:
    return (-abs(change.after - change.before), change.query_id)
