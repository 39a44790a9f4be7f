"""Scores of ranked lists, by ir-measures and scipy; this module only names, orders and packs them.

trec_eval breaks ties of scores by document id, so a list is handed over with strictly falling scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kebab.domain.evaluations import METRICS, MetricDifference
from kebab.errors import EngineUnavailable

if TYPE_CHECKING:
    from ir_measures.measures import Measure

RESAMPLES = 10_000
SEED = 20_090_719
"""Fixed, so that the same two runs always give the same interval."""


def score(
    judgements: Mapping[str, Mapping[str, int]],
    rankings: Mapping[str, Sequence[str]],
    *,
    metrics: Sequence[str] = METRICS,
) -> dict[str, dict[str, float]]:
    """Query id → metric → value, for every judged query; one without a ranking scores 0.

    Rankings are best first and name each unit once. Raises EngineUnavailable without the extra.
    """
    require_library()
    import ir_measures

    if not judgements:
        return {}
    measures = {_measure(name): name for name in metrics}
    runs = {query: _falling(ranking) for query, ranking in rankings.items() if query in judgements}
    scored: dict[str, dict[str, float]] = {query: dict.fromkeys(metrics, 0.0) for query in judgements}
    for value in ir_measures.iter_calc(list(measures), judgements, runs):
        scored[value.query_id][measures[value.measure]] = float(value.value)
    return scored


def mean(rows: Sequence[Mapping[str, float]], *, metrics: Sequence[str] = METRICS) -> dict[str, float]:
    """The mean of each metric; 0 for no rows."""
    return {name: sum(row[name] for row in rows) / len(rows) if rows else 0.0 for name in metrics}


def percentiles(latencies_ms: Sequence[float]) -> dict[str, float]:
    """``p50_ms`` and ``p95_ms``; zeros for an empty run."""
    import numpy as np

    if not latencies_ms:
        return {"p50_ms": 0.0, "p95_ms": 0.0}
    p50, p95 = np.percentile(latencies_ms, [50, 95])
    return {"p50_ms": round(float(p50), 3), "p95_ms": round(float(p95), 3)}


def difference(metric: str, *, before: Sequence[float], after: Sequence[float]) -> MetricDifference:
    """The mean difference of paired values with its 95 % percentile bootstrap interval (Efron 1979)."""
    require_library()
    import numpy as np
    from scipy.stats import bootstrap  # type: ignore[import-untyped]

    old, new = np.asarray(before, float), np.asarray(after, float)
    delta = new - old
    low = high = float(delta.mean()) if len(delta) else 0.0
    if len(delta) > 1:
        found = bootstrap(
            (delta,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(SEED)
        )
        low, high = (float(edge) for edge in found.confidence_interval)
    centre = float(delta.mean()) if len(delta) else 0.0
    return MetricDifference(metric, _mean(before), _mean(after), centre, low, high)


def require_library() -> None:
    """Raise EngineUnavailable, with what to install, unless the metrics library is there."""
    for module in ("ir_measures", "scipy"):
        if find_spec(module) is None:
            raise EngineUnavailable(
                f"evaluation needs the package {module}", hint="install it with: pip install 'kebab[eval]'"
            )


def _measure(name: str) -> Measure:
    from ir_measures import RR, P, R, Success, nDCG

    families = {"nDCG": nDCG, "R": R, "MRR": RR, "hit": Success, "P": P}
    family, _, cutoff = name.partition("@")
    return families[family] @ int(cutoff)


def _falling(ranking: Sequence[str]) -> dict[str, float]:
    return {unit: float(len(ranking) - place) for place, unit in enumerate(ranking)}


def _mean(values: Sequence[float]) -> float:
    return float(sum(values) / len(values)) if len(values) else 0.0
