"""The data folder on the real engines: closed to other users, and never left through a link."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kebab.adapters.writer_lock import lock_owner, writer_lock
from kebab.app import Kebab
from kebab.disk.data_folder import DataFolder
from kebab.disk.private import current_user
from kebab.errors import StorageError
from tests.faults.conftest import Base, make_base
from tests.memory_fakes import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(current_user() is None, reason="modes, owners and links are those of POSIX"),
]

SECRET = b"ssh-ed25519 AAAA me@home\n"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Base:
    """A knowledge base with everything in it: documents, inbox, answers, memory, both lexical engines."""
    base = make_base(tmp_path_factory.mktemp("whole"), notes=3)
    use_everything(base)
    return base


@pytest.fixture
def open_umask() -> Iterator[None]:
    """Whatever is created without a mode of its own is open to everybody."""
    before = os.umask(0)
    yield
    os.umask(before)


def use_everything(base: Base) -> None:
    with base.open(search__lexical_engine="fts5") as kb:
        kb.ingest()
    with base.open() as kb:
        kb.ingest()
        kb.ingest_text("rope and anchor", title="From stdin")
        kb.ask("where is the rope?")
        kb.memory.record(run(1))
        kb.memory.hybrid_search(text="mend", limit=3)


def entries(folder: Path) -> list[Path]:
    return sorted([folder, *folder.rglob("*")])


def open_to_others(folder: Path) -> list[str]:
    """What does not have exactly the private mode."""
    wanted = {True: 0o700, False: 0o600}
    return [
        f"{path} {stat.S_IMODE(path.lstat().st_mode):o}"
        for path in entries(folder)
        if stat.S_IMODE(path.lstat().st_mode) != wanted[path.is_dir()]
    ]


def copied(base: Base, folder: Path) -> Base:
    shutil.copytree(base.root, folder / "notes")
    shutil.copytree(base.data, folder / "data")
    return Base(folder / "notes", folder / "data")


# --- closed to others ------------------------------------------------------------------------------


@pytest.mark.usefixtures("open_umask")
def test_all_that_is_created_is_private_whatever_the_umask(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=3)
    use_everything(base)
    assert {path.name for path in base.data.iterdir()} >= {"index", "inbox", "memory", "kebab.sqlite"}
    assert open_to_others(base.data) == []


@pytest.mark.usefixtures("open_umask")
def test_an_exported_and_an_imported_knowledge_base_are_private(tmp_path: Path, whole: Base) -> None:
    bundle, other = tmp_path / "all.kebab", make_base(tmp_path / "other", notes=0)
    with whole.open() as kb:
        kb.export_bundle(bundle)
    with other.open() as kb:
        kb.import_bundle(bundle)
    assert stat.S_IMODE(bundle.stat().st_mode) == 0o600
    assert open_to_others(other.data) == []


def test_what_was_open_to_others_is_closed_at_the_next_write(tmp_path: Path, whole: Base) -> None:
    base = copied(whole, tmp_path)
    for path in entries(base.data):
        path.chmod(0o777 if path.is_dir() else 0o666)
    with base.open() as kb:
        kb.ingest()
    assert open_to_others(base.data) == []


def test_what_is_not_kebabs_keeps_its_mode(tmp_path: Path, whole: Base) -> None:
    base = copied(whole, tmp_path)
    for name in ("photo.jpg", "index.html", "memory.txt"):
        (base.data / name).write_bytes(b"")
        (base.data / name).chmod(0o644)
    with base.open() as kb:
        kb.ingest()
    assert {line.split()[-1] for line in open_to_others(base.data)} == {"644"}
    assert len(open_to_others(base.data)) == 3


# --- no links --------------------------------------------------------------------------------------


def write(kb: Kebab) -> None:
    kb.ingest(force=True)


def save_note(kb: Kebab) -> None:
    kb.ingest_text("the anchor", title="Anchor")


def search(kb: Kebab) -> None:
    kb.search("rope")


def record(kb: Kebab) -> None:
    kb.memory.record(run(2))


TASKS: dict[str, Callable[[Kebab], object]] = {
    "write": write,
    "save": save_note,
    "search": search,
    "record": record,
    "reset": lambda kb: kb.reset("all"),
}


@pytest.mark.parametrize("task", TASKS)
def test_nothing_is_read_or_written_through_a_link(tmp_path: Path, whole: Base, task: str) -> None:
    """Each entry in turn is a link to something of the user's, a file or a folder."""
    names = [path.relative_to(whole.data) for path in entries(whole.data)[1:]]
    absent = ["kebab.sqlite-wal", "kebab.sqlite-journal", "models.json", ".import", ".inbox.new"]
    planned = [*names, *map(Path, absent)]
    # Deep inside an index every name is like its neighbours.
    for number, name in enumerate(name for name in planned if len(name.parts) < 4):
        base = copied(whole, tmp_path / str(number))
        victim = plant(base.data / name, tmp_path / f"victim-{number}")
        with base.open() as kb, pytest.raises(StorageError, match="symbolic link"):
            TASKS[task](kb)
        assert untouched(victim), name
        shutil.rmtree(tmp_path / str(number))


def plant(place: Path, victim: Path) -> Path:
    """Put a link in place of an entry; returns where it leads."""
    if place.is_dir():
        shutil.copytree(place, victim)
        shutil.rmtree(place)
        (victim / "mine").write_bytes(SECRET)
    else:
        victim.write_bytes(SECRET)
        place.unlink(missing_ok=True)
    victim.chmod(0o755 if victim.is_dir() else 0o644)
    place.symlink_to(victim)
    return victim


def untouched(victim: Path) -> bool:
    if victim.is_dir():
        return (victim / "mine").read_bytes() == SECRET and stat.S_IMODE(victim.stat().st_mode) == 0o755
    return victim.read_bytes() == SECRET and stat.S_IMODE(victim.stat().st_mode) == 0o644


def test_a_draft_that_is_a_link_is_not_followed(tmp_path: Path, whole: Base) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(SECRET)
    base = copied(whole, tmp_path)
    finals = [path for path in entries(base.data) if path.name == "checkpoint.json" or path.suffix == ".md"]
    assert len(finals) >= 2
    for final in finals:
        for draft in (final.with_name(f".{final.name}.part"), final.with_name(f"{final.name}.tmp")):
            draft.symlink_to(victim)
    with pytest.raises(StorageError), base.open() as kb:
        kb.ingest(force=True)
    assert victim.read_bytes() == SECRET


def test_a_data_folder_that_is_a_link_is_refused_with_its_real_place(tmp_path: Path, whole: Base) -> None:
    link = tmp_path / "data"
    link.symlink_to(whole.data)
    with Base(whole.root, link).open() as kb, pytest.raises(StorageError) as caught:
        kb.search("rope")
    assert str(whole.data.resolve()) in (caught.value.hint or "")


def test_links_between_downloaded_models_are_allowed_and_others_are_not(tmp_path: Path) -> None:
    blob = tmp_path / "data" / "models" / "blobs" / "weights"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"1")
    link = tmp_path / "data" / "models" / "snapshot" / "model.onnx"
    link.parent.mkdir()
    link.symlink_to("../blobs/weights")
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    link.unlink()
    link.symlink_to("../../../outside")
    with pytest.raises(StorageError, match="symbolic link"):
        folder.prepare()


# --- somebody else's -------------------------------------------------------------------------------


def test_a_data_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    other = DataFolder(tmp_path / "data", user=os.geteuid() + 1)
    for task in (other.check, other.prepare):
        with pytest.raises(StorageError, match="belongs to another user"):
            task()


@pytest.mark.skipif(current_user() != 0, reason="only root can give a folder away")
def test_root_is_refused_the_folder_of_another_user_too(tmp_path: Path, whole: Base) -> None:
    base = copied(whole, tmp_path)
    os.chown(base.data, 4242, -1)
    with base.open() as kb:
        for task in (kb.ingest, lambda: kb.search("rope"), lambda: kb.memory.record(run(3))):
            with pytest.raises(StorageError, match="id 4242"):
                task()


def test_a_folder_shared_by_all_users_is_no_data_folder(tmp_path: Path) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(StorageError, match="shared by all users"):
        DataFolder(shared).prepare()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777


def test_a_lock_with_a_second_name_is_held_but_never_written(tmp_path: Path) -> None:
    keys, lock = tmp_path / "authorized_keys", tmp_path / "data" / "writer.lock"
    keys.write_bytes(SECRET)
    lock.parent.mkdir()
    os.link(keys, lock)
    with writer_lock(lock, command="ingest"):
        assert lock_owner(lock) is not None
        assert keys.read_bytes() == SECRET
    assert keys.read_bytes() == SECRET


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_lock_that_is_no_plain_file_is_refused(tmp_path: Path, kind: str) -> None:
    lock = tmp_path / "writer.lock"
    victim = tmp_path / "victim"
    victim.write_bytes(SECRET)
    plant: dict[str, Callable[[], object]] = {
        "link": lambda: lock.symlink_to(victim),
        "pipe": lambda: os.mkfifo(lock),
        "folder": lock.mkdir,
    }
    plant[kind]()
    with pytest.raises(StorageError), writer_lock(lock, command="ingest"):
        pytest.fail("locked something else")
    assert victim.read_bytes() == SECRET


def test_a_folder_that_went_with_the_folder_above_is_not_made_again(tmp_path: Path) -> None:
    project = tmp_path / "project"
    folder = DataFolder(project / ".kebab" / "data")
    folder.prepare()
    folder.path.rmdir()
    folder.prepare()  # deleted alone, it is made anew
    project.rename(tmp_path / "away")
    with pytest.raises(StorageError, match="does not exist any more"):
        folder.prepare()
    assert not project.exists()
    (tmp_path / "away").rename(project)
    folder.prepare()
