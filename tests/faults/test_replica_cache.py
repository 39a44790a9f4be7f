"""What a replica keeps on this computer: bounded, whole, and shared, whatever becomes of who fetches it."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kebab.adapters.writer_lock import writer_lock
from kebab.domain.queries import SearchMode
from kebab.errors import StorageError
from tests.adapters.test_replica import Desk
from tests.faults.conftest import resize

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("KEBAB_KILLS", "4"))
SEED = int(os.environ.get("KEBAB_SEED", "5"))


def a_note_published(folder: Path, name: str) -> tuple[Desk, str]:
    desk, target = Desk(folder, name), str(folder / f"{name}-published")
    desk.write("a.md", f"alpha of {name}")
    desk.ingest()
    desk.publish(target)
    return desk, target


def test_more_than_the_cache_may_hold_is_refused_before_it_is_fetched(tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann"), str(tmp_path / "published")
    for number in range(600):
        desk.write(f"{number}.md", f"note {number}")
    desk.ingest()
    desk.publish(target)
    with pytest.raises(StorageError, match=r"index\.cache_mb allows 1"):
        desk.open(target, cache_mb=1)
    assert not list(desk.cache.rglob("kebab.sqlite"))


def test_the_cache_keeps_two_releases(tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann"), str(tmp_path / "published")
    for number in range(4):
        desk.write("a.md", f"alpha {number}")
        desk.ingest()
        desk.publish(target)
        with desk.open(target):
            pass
    assert len(list(desk.cache.glob("index-*/release-*"))) == 2


def test_what_is_in_the_cache_answers_while_the_address_is_away(tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann"), tmp_path / "published"
    desk.write("a.md", "alpha")
    desk.ingest()
    desk.publish(str(target))
    with desk.open(str(target)):
        pass
    target.rename(tmp_path / "away")
    with desk.open(str(target)) as replica:
        response = replica.search("alpha")
    assert len(response.hits) == 1
    assert [note.code for note in response.degraded] == ["not_followed"]


def test_an_address_that_was_begun_anew_is_read_anew(tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann"), tmp_path / "published"
    for text in ("alpha 1", "alpha 2", "alpha 3"):
        desk.write("a.md", text)
        desk.ingest()
        desk.publish(str(target))
        with desk.open(str(target)):
            pass
    shutil.rmtree(target)
    desk.write("a.md", "alpha again")
    desk.ingest()
    desk.publish(str(target))
    with desk.open(str(target)) as replica:
        assert [hit.snippet.text for hit in replica.search("alpha").hits] == ["alpha again"]
    target.rename(tmp_path / "away")
    with desk.open(str(target)) as replica:  # from the cache alone
        assert [hit.snippet.text for hit in replica.search("alpha").hits] == ["alpha again"]


def test_what_was_not_read_lately_makes_room_in_the_cache(tmp_path: Path) -> None:
    (desk, first), (_, second) = a_note_published(tmp_path, "ann"), a_note_published(tmp_path, "bob")
    with desk.open(first):
        pass
    (kept,) = desk.cache.glob("index-*")
    (kept / "filler").write_bytes(b"x" * 999_000)
    with pytest.raises(StorageError, match="what else is read here takes"):
        desk.open(second, cache_mb=1)
    os.utime(kept / "follow.lock", (0, time.time() - 7200))
    with desk.open(second, cache_mb=1) as replica:
        assert [hit.snippet.text for hit in replica.search("alpha").hits] == ["alpha of bob"]
    assert not kept.exists()


def test_an_address_is_not_removed_while_its_first_release_is_fetched(tmp_path: Path) -> None:
    (desk, first), (_, second) = a_note_published(tmp_path, "ann"), a_note_published(tmp_path, "bob")
    with desk.open(first):
        pass
    (kept,) = desk.cache.glob("index-*")
    (kept / "filler").write_bytes(b"x" * 999_000)
    with writer_lock(kept / "follow.lock", command="follow"):
        os.utime(kept / "follow.lock", (0, time.time() - 7200))
        with pytest.raises(StorageError, match="what else is read here takes"):
            desk.open(second, cache_mb=1)
    assert kept.exists()


def test_one_process_fetches_and_others_answer_with_what_there_is(tmp_path: Path) -> None:
    desk, target = a_note_published(tmp_path, "ann")
    with desk.open(target):
        pass
    desk.write("a.md", "alpha anew")
    desk.ingest()
    desk.publish(target)
    (lock,) = desk.cache.glob("index-*/follow.lock")
    with writer_lock(lock, command="follow"):
        began = time.monotonic()
        with desk.open(target) as replica:
            assert [hit.snippet.text for hit in replica.search("alpha").hits] == ["alpha of ann"]
        assert time.monotonic() - began < 10
    with desk.open(target) as replica:
        assert [hit.snippet.text for hit in replica.search("alpha").hits] == ["alpha anew"]


def test_a_replica_whose_disk_is_full_answers_on_and_follows_later(tmp_path: Path, small_disk: Path) -> None:
    desk, target = a_note_published(tmp_path, "ann")
    desk.cache = small_disk
    resize(small_disk, "size=3m")
    with desk.open(target) as replica:
        for number in range(300):
            desk.write(f"{number}.md", f"alpha {number}\n\n" + f"rope and anchor {number} " * 150)
        desk.ingest()
        desk.publish(target)
        until = time.monotonic() + 60
        while not (told := replica.search("rope").degraded) and time.monotonic() < until:
            time.sleep(0.05)
        assert "cannot be written" in told[0].message or "full" in told[0].message, told
        # Each search began another attempt; the last one ends too.
        while left := list(small_disk.glob("index-*/.kebab-*/work/*")):
            assert time.monotonic() < until, f"half-made and left: {left}"
            time.sleep(0.05)
        assert len(replica.search("alpha").hits) == 1
        resize(small_disk, "size=200m")
        while replica.search("rope").degraded and time.monotonic() < until:
            time.sleep(0.05)
        assert len(replica.search("rope", k=50).hits) > 10


def test_whoever_fetches_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann"), str(tmp_path / "published")
    dice = random.Random(SEED)
    desk.write("a.md", "alpha 0")
    desk.ingest()
    desk.publish(target)
    command = [
        sys.executable,
        "-m",
        "tests.faults.follow_victim",
        target,
        str(desk.cache),
        str(tmp_path / "reader"),
    ]
    for trial in range(1, KILLS + 1):
        for number in range(40):
            desk.write(f"{number}.md", f"rope {trial} in note {number}")
        desk.ingest()
        desk.publish(target)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
            assert victim.stdout is not None
            assert victim.stdout.readline() == "begin\n"
            time.sleep(dice.uniform(0, 0.5))
            victim.kill()
        with desk.open(target) as replica:
            hits = replica.search(f"rope {trial}", mode=SearchMode.LEXICAL, k=100).hits
            texts = [hit.snippet.text for hit in hits if hit.snippet.text.startswith(f"rope {trial} ")]
            assert len(set(texts)) == len(texts) == 40, f"trial {trial}"
            assert replica.doctor().healthy
        left = sorted(path.name for path in next(desk.cache.glob("index-*")).iterdir())
        assert [name for name in left if name.startswith(".kebab")] == []
        assert len(left) <= 3, left
