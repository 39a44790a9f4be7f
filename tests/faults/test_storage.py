"""Files that are cut or gone, permissions that are lost, disks that are full, clocks that go backwards.

Each is told of, mended, or harmless; never a wrong result without a word. KEBAB_FLIPS=200 tries everything.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kebab.adapters.sqlite.connection import Database
from kebab.app import Kebab
from kebab.domain.executions import Execution
from kebab.domain.reports import CheckStatus
from kebab.errors import KebabError, StorageError
from tests.faults.conftest import Base, check_of, make_base, mount, resize, sick
from tests.faults.test_flips import (
    FLIPS,
    SEED,
    Pristine,
    flip,
    gist,
    look,
    make,
    opened,
    outcome,
    victims,
)
from tests.memory_fakes import run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flips")]

PROJECT = Path(__file__).parents[2]
LONG = FLIPS >= 100


def cut(path: Path, keep: int) -> None:
    with path.open("r+b") as file:
        file.truncate(keep)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "halved": lambda path: cut(path, path.stat().st_size // 2),
    "gone": Path.unlink,
    "emptied": lambda path: cut(path, 0),
    "one byte short": lambda path: cut(path, path.stat().st_size - 1),
}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Pristine:
    return make(tmp_path_factory.mktemp("tantivy"), "tantivy")


def trials(kinds: list[str]) -> Iterator[tuple[str, str]]:
    """Kinds of files with a damage each, the damages in turn; every pair in the long form."""
    names = list(DAMAGES)
    for number, kind in enumerate(kinds):
        for damage in names if LONG else [names[number % len(names)]]:
            yield kind, damage


def test_no_file_that_is_cut_or_gone_changes_what_is_found_without_a_word(
    pristine: Pristine, tmp_path: Path
) -> None:
    told: dict[str, str] = {}
    for kind, damage in trials(sorted(victims(pristine.base.data))):
        base = pristine.copied(tmp_path / "copy")
        DAMAGES[damage](random.Random(SEED).choice(victims(base.data)[kind]))
        told[f"{kind} {damage}"] = outcome(pristine, base)
        if kind.startswith("index/"):
            mended(pristine, base)
    assert {what: how for what, how in told.items() if how == "SILENT"} == {}


def mended(pristine: Pristine, base: Base) -> None:
    with opened(base, pristine.engine) as kb:
        assert sick(kb.doctor(repair=True)) == []
    with opened(base, pristine.engine) as kb:
        seen, degraded = look(kb)
    assert (gist(seen), degraded) == (gist(pristine.seen), False)


# --- the memory --------------------------------------------------------------------------------------------

RUNS = 8


def recalled(base: Base) -> tuple[list[object], list[list[str]]]:
    with base.open() as kb:
        runs: list[object] = [
            replace(one, embedding=None, embedding_model=None) for one in kb.memory.select(limit=None)
        ]
        found = [kb.memory.search_words(f"number{number}").hits for number in range(RUNS)]
        return runs, [[hit.execution.id for hit in hits] for hits in found]


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Base:
    """Runs in the store, in the indexes and, the last of them, in the journal alone."""
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    base = make_base(tmp_path_factory.mktemp("memory"), notes=1)
    with base.open() as kb:
        kb.memory.record_many(bare(number) for number in range(RUNS // 2))
        kb.ingest()
        kb.doctor(repair=True)  # empties the journal into the store
        kb.memory.record_many(bare(number) for number in range(RUNS // 2, RUNS))
    return base


def bare(number: int, **changed: object) -> Execution:
    return run(number, embedding=None, embedding_model=None, **changed)


DAMAGED_MEMORY: dict[str, Callable[[Path], object]] = {
    **DAMAGES,
    "flipped": lambda path: flip(path, random.Random(SEED)),
}


@pytest.mark.parametrize("damage", DAMAGED_MEMORY)
def test_no_damage_to_the_memory_loses_or_changes_a_run_without_a_word(
    remembered: Base, tmp_path: Path, damage: str
) -> None:
    expected, silent = recalled(remembered), []
    memory = remembered.data / "memory"
    files = [file for file in sorted(memory.rglob("*")) if file.is_file() and file.stat().st_size]
    tried = files if LONG else random.Random(f"{SEED}{damage}").sample(files, min(4, len(files)))
    for number, file in enumerate(tried):
        # A folder each: threads of the memory's engine may still write into one whose store is closed.
        base = Base(remembered.root, tmp_path / f"data{number}")
        shutil.copytree(remembered.data, base.data)
        DAMAGED_MEMORY[damage](base.data / file.relative_to(remembered.data))
        if not _is_told(base, expected):
            silent.append(str(file.relative_to(memory)))
    assert silent == []


def _is_told(base: Base, expected: object) -> bool:
    try:
        if recalled(base) == expected:
            return True
    except KebabError:
        return True
    with base.open() as kb:
        return not kb.doctor(full=True).healthy


@pytest.mark.parametrize("shelved", [True, False])
@pytest.mark.parametrize("damage", ["halved", "gone"])
def test_a_journal_that_lost_lines_is_told_of_takes_new_runs_and_is_mended(
    tmp_path: Path, damage: str, shelved: bool
) -> None:
    """What only the shelf still holds is brought into the store; a shelf alone is not built from nothing."""
    base = make_base(tmp_path, notes=1)
    with base.open() as kb:
        kb.ingest()
        kb.memory.record_many(bare(number) for number in range(40 if shelved else 3))
    (journal,) = (base.data / "memory" / "journal").glob("*.log")
    DAMAGES[damage](journal)
    with base.open() as kb:
        kb.memory.record(bare(100))
        assert [hit.execution.id for hit in kb.memory.search_words("number100").hits] == ["run-00100"]
        kept = {one.id for one in kb.memory.select(limit=None)}
        assert len(kept) == 41 if shelved else len(kept) < 4
        assert "journal" in check_of(kb.doctor(), "execution memory").detail
        assert check_of(kb.doctor(repair=True), "execution memory").status is CheckStatus.REPAIRED
    with base.open() as kb:
        assert {one.id for one in kb.memory.select(limit=None)} == kept
        assert check_of(kb.doctor(), "execution memory").status is CheckStatus.OK
        kb.memory.record(bare(101))
        assert kb.memory.search_words("number101").hits[0].execution.id == "run-00101"


# --- permissions -------------------------------------------------------------------------------------------

COMMANDS = (
    ("search", "rope ship3"),
    ("ingest",),
    ("doctor",),
    ("memory", "search", "mend"),
    ("export", "out.kebab", "--force"),
)


def limited(base: Base, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command without the right to read and write whatever it likes, which root has."""
    command = [sys.executable, "-m", "kebab", "--json", *arguments]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may read everything, and setpriv is not installed")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", *command]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KEBAB_")}
    own = {"KEBAB_WORKSPACE__ROOT": str(base.root), "KEBAB_STORAGE__DATA_DIR": str(base.data)}
    return subprocess.run(
        command, cwd=base.root.parent, env=kept | own, capture_output=True, text=True, timeout=120
    )


PLACES = ("kebab.sqlite", "index", "index/tantivy", "index/vectors", "writer.lock", ".")


@pytest.mark.parametrize("place", PLACES)
def test_lost_permissions_are_an_error_with_a_name_and_nothing_is_changed(base: Base, place: str) -> None:
    before = base.texts()
    path = base.data / place
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        for arguments in COMMANDS:
            done = limited(base, *arguments)
            said = done.stderr.strip().splitlines()
            assert "Traceback" not in done.stderr, (arguments, done.stderr)
            if done.returncode not in (0, 1):
                told = json.loads(said[-1])
                assert told["code"] != "generic", told
                assert told["message"], told
            elif arguments[0] == "search" and done.returncode == 0:
                response = json.loads(done.stdout)
                assert response["degraded"] or response["hits"][0]["doc_path"] == "n3.md"
    finally:
        path.chmod(mode)
    assert base.texts() == before
    with base.open() as kb:
        kb.ingest()
        assert sick(kb.doctor()) == []


# --- a full disk -------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount") or not mount(folder, "size=1m"):
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_runs_that_were_recorded_before_the_disk_was_full_are_kept(small_disk: Path, tmp_path: Path) -> None:
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    base = Base(tmp_path, small_disk / "data")
    told: set[str] = set()
    for kilobytes in (150, 300, 600, 900):
        resize(small_disk, f"size={kilobytes}k")
        with base.open(models__embedding__provider="none") as kb:
            told |= _recorded_until_full(kb, kilobytes)
        resize(small_disk, "size=300m")
        with base.open(models__embedding__provider="none") as kb:
            assert told <= {one.id for one in kb.memory.select(limit=None)}
            assert kb.doctor().healthy
    assert told


def _recorded_until_full(kb: Kebab, kilobytes: int) -> set[str]:
    """The ids of the runs that were acknowledged before an error said that there is no room."""
    told: set[str] = set()
    for number in range(600):
        key = f"full-{kilobytes}-{number}"
        try:
            kb.memory.record(bare(number, id=key, result="rope " * 200))
        except StorageError:
            break
        told.add(key)
    return told


@pytest.mark.parametrize("kilobytes", [100, 400, 800, 1600])
def test_an_import_that_does_not_fit_leaves_what_stood_there(
    small_disk: Path, base: Base, kilobytes: int
) -> None:
    bundle = base.root.parent / "all.kebab"
    with base.open() as kb:
        kb.export_bundle(bundle)
    resize(small_disk, "size=300m")
    held = make_base(small_disk / "held", notes=3)
    with held.open() as kb:
        kb.ingest()
        used = kilobytes_used(small_disk)
    before = held.texts()
    resize(small_disk, f"size={used + kilobytes}k")
    with held.open() as kb, suppress(StorageError):
        kb.import_bundle(bundle, force=True)
    resize(small_disk, "size=300m")
    assert held.texts() in (before, base.texts())
    with held.open() as kb:
        kb.doctor(repair=True)
        assert kb.search("rope ship2").hits[0].doc_path == "n2.md"
        assert not (held.data / ".import").exists()


def kilobytes_used(folder: Path) -> int:
    found = os.statvfs(folder)
    return (found.f_blocks - found.f_bfree) * found.f_bsize // 1024


# --- the clock ---------------------------------------------------------------------------------------------


def test_a_store_that_was_made_after_the_clock_went_back_takes_no_old_index_for_its_own(base: Base) -> None:
    """The index that a deleted store left behind stands at a later time than the new store begins."""
    for suffix in ("", "-wal", "-shm"):
        (base.data / f"kebab.sqlite{suffix}").unlink(missing_ok=True)
    base.write("n0.md", "# Note 0\n\nThe rope of ship0 was exchanged.\n")
    (base.root / "n1.md").unlink()
    Database(base.data / "kebab.sqlite").close()  # a new store without documents
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection, connection:
        connection.execute("UPDATE counters SET value = 1000 WHERE name = 'outbox_pruned'")
        connection.execute("UPDATE sqlite_sequence SET seq = 1000 WHERE name = 'outbox'")
    with base.open() as kb:
        kb.ingest()
        assert sick(kb.doctor(full=True)) == []
        assert kb.search("ship0 exchanged").hits[0].doc_path == "n0.md"
        assert "n1.md" not in {hit.doc_path for hit in kb.search("rope", k=50).hits}


def test_a_file_that_is_older_or_younger_than_the_clock_is_read_when_it_changes(base: Base) -> None:
    with base.open() as kb:
        for number, year in enumerate((1980, 2099, 1990)):
            base.write("n0.md", f"# Note 0\n\nEdition zz{number} of the rope.\n")
            moment = datetime(year, 1, 1, tzinfo=UTC).timestamp()
            os.utime(base.root / "n0.md", (moment, moment))
            kb.ingest()
            assert kb.search(f"zz{number}").hits[0].doc_path == "n0.md"
        assert sick(kb.doctor(full=True)) == []
        assert kb.runs()[0].indexed == 1


def test_a_run_of_the_future_is_kept_beside_those_of_today(base: Base) -> None:
    with base.open() as kb:
        tomorrow = datetime(2099, 1, 1, tzinfo=UTC)
        kb.memory.record(bare(1, id="late", started_at=tomorrow, finished_at=tomorrow))
        kb.memory.record(bare(2, id="now"))
        assert {one.id for one in kb.memory.select(limit=None)} == {"late", "now"}
        assert {hit.execution.id for hit in kb.memory.search_words("mend").hits} == {"late", "now"}
