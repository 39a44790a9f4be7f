"""Doctor names what killed exports and imports left, the next writer removes it; the living keep theirs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from kebab.disk.scratch import leftovers, scratch_folder, sweep
from kebab.domain.reports import CheckStatus
from tests.faults.conftest import Base, check_of, make_base

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]


@contextmanager
def stopped(task: str, base: Base, bundle: Path, *, scratch_in: Path) -> Iterator[Path]:
    """The folder in which a process works that stands still in the middle of its task; killed afterwards."""
    command = [sys.executable, "-m", "tests.faults.move_victim", task]
    victim = subprocess.Popen([*command, str(base.root), str(base.data), str(bundle)], cwd=PROJECT)
    try:
        assert os.WIFSTOPPED(os.waitpid(victim.pid, os.WUNTRACED)[1])
        (folder,) = scratch_in.glob(f".kebab-{task}-*/")
        assert any(copy.stat().st_size for copy in folder.rglob("kebab.sqlite"))
        yield folder
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.parametrize("remover", ["ingest", "doctor --repair", "reset all"])
@pytest.mark.parametrize("task", ["import", "export"])
def test_what_a_killed_process_left_is_named_and_then_removed(
    base: Base, tmp_path: Path, task: str, remover: str
) -> None:
    bundle = tmp_path / "all.kebab"
    with base.open() as kb:
        kb.export_bundle(bundle)
    place = base.data if task == "import" else tmp_path / "elsewhere"
    place.mkdir(exist_ok=True)
    target = bundle if task == "import" else place / "copy.kebab"
    with stopped(task, base, target, scratch_in=place) as folder, base.open() as kb:
        kb.ingest()
        assert folder.exists(), "its owner lives"
        assert check_of(kb.doctor(), "leftovers").status is CheckStatus.OK
    assert folder.exists()
    with base.open() as kb:
        named = check_of(kb.doctor(), "leftovers")
        assert named.status is CheckStatus.WARNING
        assert str(folder) in named.detail
        if remover == "ingest":
            kb.ingest()
        elif remover == "reset all":
            assert str(folder) in kb.reset("all").removed
        else:
            assert check_of(kb.doctor(repair=True), "leftovers").status is CheckStatus.REPAIRED
    assert not folder.exists()
    assert not list(base.data.glob(".kebab-*"))


def test_a_scratch_folder_is_private_and_gone_after_an_error(tmp_path: Path) -> None:
    with suppress(KeyError), scratch_folder(tmp_path, "export") as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert leftovers(tmp_path) == []
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_a_forged_note_removes_nothing_but_a_folder_of_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "precious").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    for number, place in enumerate((tmp_path / "precious", tmp_path / "link", Path("/"), Path("\0"))):
        (tmp_path / "data" / f".kebab-export-{number}.place").write_bytes(os.fsencode(place))
    sweep(tmp_path / "data")
    assert (tmp_path / "precious").is_dir()
    assert list((tmp_path / "data").iterdir()) == []


def test_folders_of_versions_that_locked_none_are_removed_when_they_are_old(tmp_path: Path) -> None:
    for name in ("young", "old"):
        (tmp_path / f".kebab-import-{name}").mkdir()
        (tmp_path / f".kebab-import-{name}" / "kebab.sqlite").write_bytes(b"all my notes")
    week = time.time() - 7 * 86400
    os.utime(tmp_path / ".kebab-import-old", (week, week))
    assert [path.name for path in sweep(tmp_path)] == [".kebab-import-old"]
    assert [path.name for path in tmp_path.iterdir()] == [".kebab-import-young"]


def test_a_half_done_removal_is_finished_by_the_next_writer(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=1)
    with base.open() as kb:
        kb.ingest()
        (base.data / ".index.removed" / "tantivy").mkdir(parents=True)
        assert ".index.removed" in check_of(kb.doctor(), "leftovers").detail
        kb.ingest()
    assert not (base.data / ".index.removed").exists()
