"""Learning a fusion policy from judged queries: fuse cached leg results under each policy of a grid.

The legs run once for each query; every policy then only re-orders what they found. Half of the queries
choose, the other half judges, so the reported gain is not the gain of having looked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from kebab.domain.evaluations import EvalQuery, MetricDifference, TunedPolicy, TuneReport
from kebab.domain.fusion import Fused, Rankings
from kebab.domain.hits import FusionNote
from kebab.domain.ids import digest
from kebab.errors import InvalidInput
from kebab.evaluate import metrics

Evidence = TypeVar("Evidence")
EvidenceIn = TypeVar("EvidenceIn", contravariant=True)

METRIC = "nDCG@10"


class Policy(Protocol[EvidenceIn]):
    """What is tuned: any fusion policy of the search room."""

    def fuse(self, rankings: Rankings, evidence: EvidenceIn) -> tuple[list[Fused], FusionNote]: ...


@dataclass(frozen=True, slots=True)
class Candidate(Generic[EvidenceIn]):
    """One point of the grid, with what the configuration must say to use it."""

    policy: Policy[EvidenceIn]
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LegResults(Generic[Evidence]):
    """What the legs found for one query; ``units`` names what each chunk counts as."""

    collection: str
    query: EvalQuery
    rankings: Rankings
    evidence: Evidence
    units: Mapping[str, str]

    @property
    def key(self) -> str:
        return f"{self.collection}\t{self.query.query_id}"


def tune(
    cached: Sequence[LegResults[Evidence]],
    *,
    grid: Mapping[str, Candidate[Evidence]],
    current: str,
    train_share: float = 0.5,
    metric: str = METRIC,
) -> TuneReport:
    """Choose the policy with the best train score (ties: the earlier in the grid) and report on the rest.

    Collections count alike, whatever their size. ``current`` names a policy of the grid. Raises InvalidInput
    when a split would be empty.
    """
    train, test = _split(cached, share=train_share)
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
    return TuneReport(
        metric=metric,
        names=tuple(dict.fromkeys(item.collection for item in cached)),
        train_queries=len(train),
        test_queries=len(test),
        best=best,
        legs=legs,
        current=next(policy for policy in tried if policy.policy == current),
        gain=_gain(values[current], values[best.policy], test, metric),
        tried=tuple(ranked),
        settings=grid[best.policy].settings,
    )


def _split(
    cached: Sequence[LegResults[Evidence]], *, share: float
) -> tuple[list[LegResults[Evidence]], list[LegResults[Evidence]]]:
    """By hash of the query, so that a query keeps its side when others are added."""
    train: list[LegResults[Evidence]] = []
    test: list[LegResults[Evidence]] = []
    for item in cached:
        side = int(digest("eval-split", item.key)[:8], 16) / 0xFFFFFFFF
        (train if side < share else test).append(item)
    return train, test


def _legs(
    cached: Sequence[LegResults[Evidence]],
    train: Sequence[LegResults[Evidence]],
    test: Sequence[LegResults[Evidence]],
    metric: str,
) -> tuple[TunedPolicy, ...]:
    names = dict.fromkeys(leg for item in cached for leg in item.rankings)
    rows = []
    for leg in names:
        lists = {item.key: [ranked.id for ranked in item.rankings.get(leg, ())] for item in cached}
        values = _score(cached, lists, metric)
        rows.append(TunedPolicy(leg, _mean(values, train), _mean(values, test)))
    return tuple(rows)


def _values(
    cached: Sequence[LegResults[Evidence]], policy: Policy[Evidence], metric: str
) -> dict[str, float]:
    fused = {item.key: [f.id for f in policy.fuse(item.rankings, item.evidence)[0]] for item in cached}
    return _score(cached, fused, metric)


def _score(
    cached: Sequence[LegResults[Evidence]], lists: Mapping[str, Sequence[str]], metric: str
) -> dict[str, float]:
    judgements = {item.key: dict(item.query.targets) for item in cached}
    rankings = {
        item.key: list(dict.fromkeys(item.units[chunk] for chunk in lists[item.key] if chunk in item.units))
        for item in cached
    }
    scored = metrics.score(judgements, rankings, metrics=(metric,))
    return {key: row[metric] for key, row in scored.items()}


def _gain(
    before: Mapping[str, float], after: Mapping[str, float], test: Sequence[LegResults[Evidence]], metric: str
) -> MetricDifference:
    """The difference with its interval; queries are weighted so that collections count alike."""
    sizes = Counter(item.collection for item in test)
    weights = {name: len(test) / len(sizes) / size for name, size in sizes.items()}
    return metrics.difference(
        metric,
        before=[before[item.key] * weights[item.collection] for item in test],
        after=[after[item.key] * weights[item.collection] for item in test],
    )


def _mean(values: Mapping[str, float], items: Sequence[LegResults[Evidence]]) -> float:
    """The mean of the collections' means."""
    by_collection: dict[str, list[float]] = {}
    for item in items:
        by_collection.setdefault(item.collection, []).append(values[item.key])
    means = [sum(rows) / len(rows) for rows in by_collection.values()]
    return sum(means) / len(means)
