"""Learning a fusion policy from judged queries: fuse cached leg results under each policy of a grid.

The legs run once for each query; every policy then only re-orders what they found. Half of the queries
choose, the other half judges, so the reported gain is not the gain of having looked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kebab.domain.evaluations import EvalQuery, MetricDifference, TunedPolicy, TuneReport
from kebab.domain.fusion import Rankings
from kebab.domain.ids import digest
from kebab.errors import InvalidInput
from kebab.evaluate import metrics
from kebab.search.fusion import FusionPolicy, QueryEvidence
from kebab.search.grid import GridPoint

METRIC = "nDCG@10"


@dataclass(frozen=True, slots=True)
class LegResults:
    """What the legs found for one query; ``units`` names what each chunk counts as."""

    collection: str
    query: EvalQuery
    rankings: Rankings
    evidence: QueryEvidence
    units: Mapping[str, str]

    @property
    def key(self) -> str:
        return f"{self.collection}\t{self.query.query_id}"


def tune(
    cached: Sequence[LegResults],
    *,
    grid: Mapping[str, GridPoint],
    current: str,
    train_share: float = 0.5,
    metric: str = METRIC,
) -> TuneReport:
    """Choose the policy with the best train score (ties: the earlier in the grid) and report on the rest.

    It is recommended only if it is better than the current one on the queries that did not choose it.
    Collections count alike, whatever their size. ``current`` names a policy of the grid. Raises InvalidInput
    when a split would be empty.
    """
    train, test = split(cached, share=train_share)
    if not train or not test:
        raise InvalidInput(
            f"{len(cached)} judged queries are too few to split",
            hint="write more golden queries, or change --train",
        )
    values = {name: _values(cached, point.policy, metric) for name, point in grid.items()}
    tried = [TunedPolicy(name, _mean(v, train), _mean(v, test)) for name, v in values.items()]
    ranked = sorted(tried, key=lambda policy: -policy.train)
    legs = _legs(cached, train, test, metric)
    best = ranked[0]
    gain = _gain(values[current], values[best.policy], test, metric)
    return TuneReport(
        metric=metric,
        names=tuple(dict.fromkeys(item.collection for item in cached)),
        train_queries=len(train),
        test_queries=len(test),
        best=best,
        legs=legs,
        current=next(policy for policy in tried if policy.policy == current),
        gain=gain,
        tried=tuple(ranked),
        settings=grid[best.policy].settings if gain.difference > 0 else {},
    )


def split(cached: Sequence[LegResults], *, share: float) -> tuple[list[LegResults], list[LegResults]]:
    """By hash of the query, so that a query keeps its side when others are added."""
    train: list[LegResults] = []
    test: list[LegResults] = []
    for item in cached:
        side = int(digest("eval-split", item.key)[:8], 16) / 0xFFFFFFFF
        (train if side < share else test).append(item)
    return train, test


def _legs(
    cached: Sequence[LegResults],
    train: Sequence[LegResults],
    test: Sequence[LegResults],
    metric: str,
) -> tuple[TunedPolicy, ...]:
    names = dict.fromkeys(leg for item in cached for leg in item.rankings)
    rows = []
    for leg in names:
        lists = {item.key: [ranked.id for ranked in item.rankings.get(leg, ())] for item in cached}
        values = _score(cached, lists, metric)
        rows.append(TunedPolicy(leg, _mean(values, train), _mean(values, test)))
    return tuple(rows)


def _values(cached: Sequence[LegResults], policy: FusionPolicy, metric: str) -> dict[str, float]:
    fused = {item.key: [f.id for f in policy.fuse(item.rankings, item.evidence)[0]] for item in cached}
    return _score(cached, fused, metric)


def _score(cached: Sequence[LegResults], lists: Mapping[str, Sequence[str]], metric: str) -> dict[str, float]:
    judgements = {item.key: dict(item.query.targets) for item in cached}
    rankings = {
        item.key: list(dict.fromkeys(item.units[chunk] for chunk in lists[item.key] if chunk in item.units))
        for item in cached
    }
    scored = metrics.score(judgements, rankings, metrics=(metric,))
    return {key: row[metric] for key, row in scored.items()}


def _gain(
    before: Mapping[str, float], after: Mapping[str, float], test: Sequence[LegResults], metric: str
) -> MetricDifference:
    """The difference with its interval; queries are weighted so that collections count alike."""
    sizes = Counter(item.collection for item in test)
    weights = {name: len(test) / len(sizes) / size for name, size in sizes.items()}
    return metrics.difference(
        metric,
        before=[before[item.key] * weights[item.collection] for item in test],
        after=[after[item.key] * weights[item.collection] for item in test],
    )


def _mean(values: Mapping[str, float], items: Sequence[LegResults]) -> float:
    """The mean of the collections' means."""
    by_collection: dict[str, list[float]] = {}
    for item in items:
        by_collection.setdefault(item.collection, []).append(values[item.key])
    means = [sum(rows) / len(rows) for rows in by_collection.values()]
    return sum(means) / len(means)
