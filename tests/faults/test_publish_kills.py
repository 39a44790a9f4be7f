"""A publisher that is killed at any moment: readers see the release before or the one after, whole.

Some kills in every run; KEBAB_KILLS=50 does fifty at each kind of address.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from kebab.app import Kebab
from kebab.domain.queries import SearchMode
from kebab.errors import KebabError
from tests.faults.publish_victim import NOTES, write
from tests.object_store import BUCKET, NEEDED, environment, in_environment, running_store, weed

KILLS = int(os.environ.get("KEBAB_KILLS", "5"))
SEED = int(os.environ.get("KEBAB_SEED", "7"))
_VERSION = re.compile(r"rope of version (\d+)")


@pytest.fixture(scope="module")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    if weed() is None:
        pytest.skip(NEEDED)
    with running_store(tmp_path_factory.mktemp("store")) as port, in_environment(environment(port)):
        yield


@pytest.fixture(params=["folder", "s3"])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path / "published")
    request.getfixturevalue("object_store")
    return f"s3://{BUCKET}/{uuid4().hex}"


def reading(folder: Path, uri: str, *, cache: str = "cache") -> Kebab:
    overrides = {"index.url": uri, "index.cache_dir": str(folder / cache), "index.follow_s": 0.0}
    return Kebab.open(root=folder / "elsewhere", data_dir=folder / "home", overrides=overrides)


def version_of(replica: Kebab) -> int:
    """The one version that all notes are of."""
    hits = replica.search("rope", mode=SearchMode.LEXICAL, k=2 * NOTES).hits
    found = {int(match[1]) for hit in hits if (match := _VERSION.search(hit.snippet.text))}
    assert len(hits) == NOTES, f"{len(hits)} of {NOTES} notes"
    assert len(found) == 1, f"versions {found} in one release"
    return found.pop()


def killed_publisher(folder: Path, uri: str, *, version: int, delay_s: float) -> int:
    """Let a publisher work for a while, then kill it; returns the newest version it said is published."""
    command = [sys.executable, "-m", "tests.faults.publish_victim"]
    place = [str(folder / "notes"), str(folder / "data"), uri, str(version)]
    with subprocess.Popen([*command, *place], stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "begin\n"
        time.sleep(delay_s)
        victim.kill()
        said = [int(line) for line in victim.stdout.read().split()]
    return max(said, default=version - 1)


def test_readers_see_a_whole_release_whenever_the_publisher_is_killed(uri: str, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    write(tmp_path / "notes", 1)
    with Kebab.open(root=tmp_path / "notes", data_dir=tmp_path / "data") as kebab:
        kebab.ingest()
        kebab.publish(uri)
    promised = seen = 1
    with reading(tmp_path, uri) as follower:
        for trial in range(KILLS):
            promised = max(
                promised, killed_publisher(tmp_path, uri, version=seen + 1, delay_s=rng.uniform(0.05, 2.5))
            )
            with reading(tmp_path, uri, cache=f"cache-{trial}") as fresh:
                now = version_of(fresh)
            assert promised <= now <= promised + 1, f"trial {trial}: {now} is read, {promised} was promised"
            assert seen <= version_of(follower) <= now
            seen = promised = now
    write(tmp_path / "notes", seen + 1)
    with Kebab.open(root=tmp_path / "notes", data_dir=tmp_path / "data") as kebab:
        kebab.ingest()
        kebab.publish(uri)
        assert not [check for check in kebab.doctor().checks if check.status.value == "fault"]
    with reading(tmp_path, uri) as after:
        assert version_of(after) == seen + 1


def test_a_reader_is_not_broken_by_garbage_collection(uri: str, tmp_path: Path) -> None:
    write(tmp_path / "notes", 1)
    stop, wrong = threading.Event(), []

    def read() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            try:
                with reading(tmp_path, uri, cache=f"cache-{number}") as fresh:
                    version_of(fresh)
            except (KebabError, AssertionError) as error:
                wrong.append(f"{type(error).__name__}: {error}")

    with Kebab.open(root=tmp_path / "notes", data_dir=tmp_path / "data") as kebab:
        kebab.ingest()
        kebab.publish(uri)
        reader = threading.Thread(target=read)
        reader.start()
        for version in range(2, 8):
            write(tmp_path / "notes", version)
            kebab.ingest()
            kebab.publish(uri)
            # No time to finish for anybody: what a reader reads is gone under its hands.
            kebab.collect_published(uri, older_than=timedelta(0))
        stop.set()
        reader.join()
    assert wrong == []
    with reading(tmp_path, uri) as after:
        assert version_of(after) == 7
