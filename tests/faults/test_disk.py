"""A disk that is full, a folder that is read-only: a clear error, nothing lost, and going on later."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.domain.reports import CheckStatus
from kebab.errors import EngineError, KebabError, NotIndexed, StorageError
from tests.faults.conftest import Base, check_of, make_base, resize, sick
from tests.folders import remove

pytestmark = pytest.mark.slow
PROJECT = Path(__file__).parents[2]


def many_notes(folder: Path) -> Base:
    base = make_base(folder, notes=0)
    for number in range(150):
        lines = [f"Line {line} of note {number}, about ropes and ship{number}-{line}." for line in range(60)]
        base.write(f"n{number}.md", f"# Note {number}\n\n" + "\n\n".join(lines))
    return base


def test_a_disk_that_fills_at_any_stage_loses_nothing(small_disk: Path, tmp_path: Path) -> None:
    base = many_notes(tmp_path)
    failed = []
    for kilobytes in (300, 700, 1200, 1800, 2500, 3200, 4000, 5000):
        resize(small_disk, f"size={kilobytes}k")
        data = small_disk / str(kilobytes)
        error = failure_of(Base(base.root, data))
        if error is not None:
            failed.append(kilobytes)
            assert isinstance(error, StorageError), (kilobytes, repr(error))
            assert error.hint
        resize(small_disk, "size=700m")
        went_on(Base(base.root, data))
        remove(data)
    assert len(failed) >= 4, f"only {failed} were too small; the test no longer fills a disk"


def failure_of(base: Base) -> EngineError | None:
    with base.open() as kb:
        try:
            kb.ingest()
        except EngineError as error:
            return error
    return None


def went_on(base: Base) -> None:
    """With room again, the doctor mends and the next run completes."""
    with base.open() as kb:
        stored = paths(kb)
        assert kb.doctor(repair=True).healthy
        kb.ingest()
        after = {doc.path for doc in kb.list_docs()}
        assert stored <= after
        assert len(after) == 150
        assert sick(kb.doctor()) == []


def paths(kb: Kebab) -> set[str]:
    """The documents; none where there was not even room for empty tables."""
    try:
        return {doc.path for doc in kb.list_docs()}
    except NotIndexed:
        return set()


def test_where_a_file_cannot_grow_the_command_says_so_and_the_next_one_goes_on(tmp_path: Path) -> None:
    base = many_notes(tmp_path)
    victim = [sys.executable, "-m", "tests.faults.ingest_victim", "ingest", str(base.root), str(base.data)]
    codes = set()
    for kilobytes in (64, 400, 1000, 1600):
        # Python ignores the signal that comes with the limit: writing fails with EFBIG instead.
        limited = ["bash", "-c", f'ulimit -f {kilobytes} && exec "$@"', "limited", *victim]
        done = subprocess.run(limited, cwd=PROJECT, capture_output=True, text=True)
        codes.add(done.returncode)
        last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
        assert done.returncode == 0 or "kebab.errors.StorageError" in last, (kilobytes, last)
    assert 1 in codes, "nothing was limited"
    went_on(base)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Root may write anywhere by permission, so for root the folder becomes a read-only mount."""
    if os.geteuid() != 0:
        paths = [folder, *folder.rglob("*")]
        for path in paths:
            path.chmod(path.stat().st_mode & ~0o222)
        try:
            yield
        finally:
            for path in paths:
                path.chmod(path.stat().st_mode | 0o200)
        return
    bound = subprocess.run(["mount", "--bind", str(folder), str(folder)], capture_output=True)
    if bound.returncode != 0:
        pytest.skip("root may write anywhere, and mounting is not allowed here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_read_only_data_folder_is_searched_and_not_written(base: Base) -> None:
    with base.open() as kb:
        expected = kb.search("rope ship3")
    before = base.texts()
    with read_only(base.data):
        with base.open() as kb:
            assert kb.search("rope ship3") == expected
            finding = check_of(kb.doctor(), "data folder")
            assert (finding.status, bool(finding.hint)) == (CheckStatus.FAULT, True)
        with base.open() as kb:
            assert not kb.doctor(repair=True).healthy
        for attempt in (Kebab.ingest, Kebab.index):
            with base.open() as kb, pytest.raises(KebabError) as raised:
                attempt(kb)
            assert raised.value.code == "io_error"
            assert raised.value.hint
    assert base.texts() == before
    with base.open() as kb:
        kb.ingest()
        assert sick(kb.doctor()) == []


def test_a_bundle_does_not_half_replace_what_stood_there_when_the_disk_is_full(
    small_disk: Path, base: Base
) -> None:
    target = small_disk / "all.kebab"
    target.write_bytes(b"what stood there")
    resize(small_disk, "size=64k")
    with base.open() as kb, pytest.raises(StorageError):
        kb.export_bundle(target, force=True)
    assert target.read_bytes() == b"what stood there"
    assert [path.name for path in small_disk.iterdir()] == ["all.kebab"]
