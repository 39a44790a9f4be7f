"""What any workers must do: processes here, a Ray cluster, and their fake."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterator

import pytest

from kebab.adapters.ray_workers import RayWorkers
from kebab.ingest.workers import ProcessWorkers, one_process
from kebab.ports import Job, WorkerDied, WorkerOverdue, Workers
from tests.worker_fakes import FakeWorkers


def ends(_: object) -> object:
    """Bring the process down, as a fault in a native parser would; a fake's thread only ends."""
    if os.environ.get("KEBAB_TEST_MAIN") == str(os.getpid()):
        raise SystemExit
    os._exit(1)


def sleeps(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def equipment() -> dict[str, str]:
    return {"kebab": "this"}


JOBS: dict[str, Job] = {"count": len, "end": ends, "sleep": sleeps}


def on_ray() -> Workers:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed")
    return RayWorkers(JOBS, address="ray", most=1, hire=one_process, equipment=equipment)


MADE: dict[str, Callable[[], Workers]] = {
    "fake": lambda: FakeWorkers(JOBS),
    "processes": lambda: ProcessWorkers(JOBS, processes=1),
    "ray": on_ray,
}


@pytest.fixture(
    scope="module",
    params=["fake", "processes", pytest.param("ray", marks=pytest.mark.slow)],
)
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    os.environ["KEBAB_TEST_MAIN"] = str(os.getpid())
    with MADE[request.param]() as made:
        yield made
    del os.environ["KEBAB_TEST_MAIN"]


def test_answers_are_those_of_the_job(workers: Workers) -> None:
    assert len(workers) >= 1
    asked = [workers.submit("count", "x" * n) for n in range(5)]
    assert [one.result() for one in asked] == [0, 1, 2, 3, 4]


def test_a_job_that_brings_its_process_down_is_told_and_the_next_one_is_done(workers: Workers) -> None:
    ended, counted = workers.submit("end", None), workers.submit("count", "four")
    with pytest.raises(WorkerDied):
        ended.result()
    assert counted.result() == 4


def test_workers_that_rested_do_what_comes_next(workers: Workers) -> None:
    assert workers.submit("count", "one").result() == 3
    workers.rest()
    workers.rest()
    assert workers.submit("count", "more").result() == 4


def test_a_job_that_takes_too_long_is_stopped(workers: Workers) -> None:
    late, counted = workers.submit("sleep", 3.0, seconds=0.5), workers.submit("count", "four")
    with pytest.raises(WorkerOverdue):
        late.result()
    assert counted.result() == 4


def test_a_large_work_arrives_whole(workers: Workers) -> None:
    assert workers.submit("count", os.urandom(3 << 20)).result() == 3 << 20
