"""Actors that are lost, over a stand-in for Ray: their work is done by others, and nothing is told twice."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kebab.adapters.ray_workers import RayWorkers
from kebab.errors import EngineUnavailable
from kebab.ports import Job
from tests.worker_fakes import FakeRay, FakeWorkers


def hire(jobs: Mapping[str, Job], _: int) -> FakeWorkers:
    return FakeWorkers(jobs)


def equipment() -> dict[str, str]:
    return {"kebab": "1.0"}


def older_elsewhere() -> dict[str, str]:
    """What is asked first is the node."""
    return {"kebab": "0.9" if next(_CALLS) == 0 else "1.0"}


_CALLS = iter(range(100))


def workers(ray: FakeRay) -> RayWorkers:
    return RayWorkers(
        {"count": len}, address="ray://x:1", hire=hire, equipment=equipment, connect=ray.connect
    )


def test_work_of_a_lost_actor_is_done_by_another() -> None:
    ray = FakeRay(lives=[2, -1])
    with workers(ray) as made:
        asked = [made.submit("count", "x" * n) for n in range(20)]
        assert [one.result() for one in asked] == list(range(20))
    assert not ray.is_open


def test_a_lost_actor_is_replaced_where_there_is_room() -> None:
    ray = FakeRay(lives=[3, 3, 3, -1])
    with workers(ray) as made:
        asked = [made.submit("count", "x" * n) for n in range(20)]
        assert [one.result() for one in asked] == list(range(20))
    assert len(ray.actors) >= 4


def test_when_the_last_actor_is_lost_the_run_is_told() -> None:
    ray = FakeRay(lives=[3, 3])
    with workers(ray) as made:
        asked = [made.submit("count", "x") for _ in range(20)]
        with pytest.raises(EngineUnavailable, match="every worker on ray://x:1 is lost"):
            [one.result() for one in asked]


def test_a_cluster_without_a_free_core_is_told() -> None:
    with pytest.raises(EngineUnavailable, match="no free core"), workers(FakeRay(lives=[], cores=0)):
        pass


def test_a_node_with_other_versions_is_refused_by_name() -> None:
    ray = FakeRay(lives=[-1])
    made = RayWorkers(
        {"count": len},
        address="ray://x:1",
        most=1,
        hire=hire,
        equipment=older_elsewhere,
        connect=ray.connect,
    )
    with pytest.raises(EngineUnavailable, match=r"10\.0\.0\.7 works with .*: kebab 0\.9 \(here 1\.0\)"), made:
        pass
