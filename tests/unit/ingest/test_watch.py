"""The watcher, batch by batch: what it looks at, what it keeps, and that it ends where a whole run would."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.domain.ingests import IngestReport, IngestRun, RunStatus
from kebab.errors import Closed, Locked
from kebab.ingest.noise import conflict_of, is_temporary
from kebab.ingest.refresh import Refreshed
from kebab.ingest.targets import Target
from kebab.ingest.watch import MANY, Heard, Watcher
from tests.folder_fakes import FakeFolderEvents, Step
from tests.unit.ingest.test_pipeline import Bench

ANCHORS = [f"anchor{n}.md" for n in range(8)]
"""Notes that nobody touches: what a test removes is less than half."""


@dataclass
class Scene:
    """A folder that is watched while a script is played."""

    bench: Bench
    mounts: set[str] = field(default_factory=set)
    looks: list[list[tuple[str, ...]]] = field(default_factory=list)
    runs: list[IngestReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    busy: int = 0
    """How many looks meet another writer first."""
    now: float = 0.0

    def play(self, *script: Step) -> FakeFolderEvents:
        events = FakeFolderEvents(list(script), quiet=6)
        watcher = Watcher(
            sources=self.bench.pipeline.sources,
            own=self.bench.data,
            events=events,
            refresh=self._refresh,
            heard=Heard(run=self.runs.append, note=self.notes.append),
            mounted=lambda: frozenset(self.mounts),
            pause=self._pass,
            clock=self._time,
        )
        watcher.run(lambda: events.done)
        return events

    def _refresh(self, targets: Sequence[Target]) -> Refreshed:
        self.looks.append([target.under for target in targets])
        if self.busy:
            self.busy -= 1
            raise Locked("another process writes")
        return self.bench.pipeline.refresh(targets)

    def _pass(self, seconds: float) -> None:
        self.now += seconds

    def _time(self) -> float:
        self.now += 1.0
        return self.now

    @property
    def small_looks(self) -> list[list[tuple[str, ...]]]:
        """Looks at named paths."""
        return [look for look in self.looks if look != [()]]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    bench = Bench(tmp_path / "notes", tmp_path / "notes" / ".kebab")
    for name in ANCHORS:
        bench.write(name, f"# {name}\n\nstill water\n")
    bench.run()
    return Scene(bench)


def test_a_saved_note_is_found_and_nothing_else_is_looked_at(scene: Scene) -> None:
    scene.play(lambda: None, lambda: scene.bench.write("sub/new.md", "mango\n"))
    assert scene.bench.found("mango") == {"sub/new.md"}
    assert scene.small_looks == [[("sub",)]] or scene.small_looks == [[("sub", "sub/new.md")]]
    assert [run.run.indexed for run in scene.runs] == [1]


@pytest.mark.parametrize("name", ["README", "list.xyz"])
def test_a_text_of_no_known_extension_is_followed_like_any_other(scene: Scene, name: str) -> None:
    scene.play(lambda: None, lambda: scene.bench.write(name, "mango\n" * 20))
    fresh = Bench(scene.bench.root, scene.bench.data / "other")
    fresh.run()
    assert contents(scene.bench) == contents(fresh)
    assert name in contents(fresh)


def test_what_changed_before_the_watcher_came_is_found(scene: Scene) -> None:
    scene.bench.write("early.md", "mango\n")
    scene.play()
    assert scene.bench.found("mango") == {"early.md"}


def test_what_a_killed_run_left_undone_is_done_at_the_start(scene: Scene) -> None:
    scene.bench.lexical.clear()
    scene.play()
    assert scene.bench.found("water") == set(ANCHORS)


def test_without_a_change_no_run_is_recorded(scene: Scene) -> None:
    before = len(scene.bench.ledger.runs(100))
    scene.play(lambda: None, lambda: scene.bench.write("picture.zip", "…"), lambda: None)
    assert len(scene.bench.ledger.runs(100)) == before
    assert scene.runs == []


def test_a_note_that_is_saved_beside_and_renamed_is_the_new_text_and_nothing_else(scene: Scene) -> None:
    def save() -> None:
        draft = scene.bench.write("draft.tmp", "mango\n")
        os.replace(draft, scene.bench.root / ANCHORS[0])

    scene.play(lambda: None, save)
    assert scene.bench.found("mango") == {ANCHORS[0]}
    assert sorted(scene.bench.paths()) == ANCHORS


def test_a_note_that_is_away_for_a_moment_is_not_removed(scene: Scene) -> None:
    note, backup = scene.bench.root / ANCHORS[0], scene.bench.root / f"{ANCHORS[0]}~"

    def back(seconds: float) -> None:
        if backup.exists():
            note.write_text("mango\n")
            backup.unlink()

    scene._pass = back  # type: ignore[method-assign]
    scene.play(lambda: None, lambda: note.rename(backup))
    assert scene.bench.found("mango") == {ANCHORS[0]}
    assert [run.run.removed for run in scene.runs] == [0]


def test_a_deleted_note_is_gone(scene: Scene) -> None:
    scene.play(lambda: None, (scene.bench.root / ANCHORS[0]).unlink)
    assert scene.bench.found("water") == set(ANCHORS[1:])


def fill(scene: Scene, folder: str, count: int) -> list[str]:
    names = [f"{folder}/{n}.md" for n in range(count)]
    for name in names:
        scene.bench.write(name, f"# {name}\n\nmango {name}\n")
    scene.bench.run()
    return names


def test_a_moved_folder_is_no_mass_deletion(scene: Scene) -> None:
    fill(scene, "old", 30)
    scene.play(lambda: None, lambda: (scene.bench.root / "old").rename(scene.bench.root / "new"))
    assert scene.bench.found("mango") == {f"new/{n}.md" for n in range(30)}
    assert scene.notes == []


def test_a_folder_that_is_away_between_two_batches_keeps_its_documents_until_it_is_back_elsewhere(
    scene: Scene, tmp_path: Path
) -> None:
    fill(scene, "old", 30)
    seen: list[int] = []

    def leave() -> None:
        (scene.bench.root / "old").rename(tmp_path / "elsewhere")

    def arrive() -> None:
        seen.append(len(scene.bench.found("mango")))
        (tmp_path / "elsewhere").rename(scene.bench.root / "new")

    scene.play(lambda: None, leave, arrive)
    assert seen == [30]
    assert scene.bench.found("mango") == {f"new/{n}.md" for n in range(30)}
    assert len([note for note in scene.notes if "--allow-mass-delete" in note]) == 1


def test_a_root_that_is_missing_keeps_its_documents_and_is_watched_again_when_it_is_back(
    scene: Scene, tmp_path: Path
) -> None:
    root = scene.bench.root
    kept: list[list[str]] = []

    def back() -> None:
        kept.append(sorted(scene.bench.paths()))
        (tmp_path / "away").rename(root)

    events = scene.play(
        lambda: None,
        lambda: root.rename(tmp_path / "away"),
        lambda: None,
        back,
        lambda: None,
        lambda: scene.bench.write("late.md", "mango\n"),
    )
    assert kept == [ANCHORS]
    assert scene.bench.found("mango") == {"late.md"}
    assert events.roots == [[root], [], [root]]
    assert any("does not exist" in note for note in scene.notes)


def test_an_emptied_root_keeps_its_documents_and_says_so_once(scene: Scene) -> None:
    def empty() -> None:
        for name in ANCHORS:
            (scene.bench.root / name).unlink()

    scene.play(lambda: None, empty, lambda: None, lambda: scene.bench.write("late.md", "mango\n"))
    assert sorted(scene.bench.paths()) == [*ANCHORS, "late.md"]
    assert len([note for note in scene.notes if "gone from" in note and "kept" in note]) == 1


def test_documents_on_a_disk_that_is_gone_are_kept_until_it_is_back(scene: Scene, tmp_path: Path) -> None:
    """Fewer than half of the documents: only the ground tells that nobody deleted them."""
    fill(scene, "usb", 3)
    usb = scene.bench.root / "usb"
    scene.mounts.add(str(usb))
    kept: list[set[str]] = []

    def unmount() -> None:
        shutil.move(usb, tmp_path / "stick")
        usb.mkdir()
        scene.mounts.discard(str(usb))

    def work_on() -> None:
        scene.bench.write("home.md", "papaya\n")

    def mount() -> None:
        kept.append(scene.bench.found("mango"))
        usb.rmdir()
        (tmp_path / "stick" / "1.md").unlink()
        shutil.move(tmp_path / "stick", usb)
        scene.mounts.add(str(usb))

    scene.play(lambda: None, unmount, lambda: None, work_on, mount, lambda: None)
    assert kept == [{"usb/0.md", "usb/1.md", "usb/2.md"}]
    assert scene.bench.found("papaya") == {"home.md"}
    assert scene.bench.found("mango") == {"usb/0.md", "usb/2.md"}
    assert f"the disk at {usb} is gone; the documents on it are kept" in scene.notes


def test_an_ignore_file_is_about_its_whole_folder(scene: Scene) -> None:
    fill(scene, "sub", 3)
    scene.play(lambda: None, lambda: scene.bench.write("sub/.gitignore", "1.md\n"))
    assert scene.bench.found("mango") == {"sub/0.md", "sub/2.md"}


def test_a_look_that_meets_another_writer_is_made_again_and_misses_nothing(scene: Scene) -> None:
    def save() -> None:
        scene.busy = 3
        scene.bench.write("a.md", "mango\n")

    scene.play(lambda: None, save, lambda: scene.bench.write("b.md", "mango\n"), *[lambda: None] * 30)
    assert scene.bench.found("mango") == {"a.md", "b.md"}
    assert scene.notes == ["another process writes"]


def test_a_burst_is_one_look_at_everything_and_one_more_when_it_has_ended(scene: Scene) -> None:
    def burst() -> None:
        scene.looks.clear()
        for n in range(MANY + 1):
            scene.bench.write(f"burst/{n}.md", "mango\n")

    scene.play(lambda: None, burst)
    assert len(scene.bench.found("mango")) == MANY + 1
    assert scene.looks == [[()], [()]]


def test_it_ends_when_the_knowledge_base_is_closed(scene: Scene) -> None:
    def closed(_: Sequence[Target]) -> Refreshed:
        raise Closed("closed")

    scene._refresh = closed  # type: ignore[method-assign, assignment]
    assert not scene.play().done


def test_a_conflict_copy_is_indexed_and_named(scene: Scene) -> None:
    name = "plan.sync-conflict-20240501-120000-ABCDEF1.md"
    scene.play(lambda: None, lambda: scene.bench.write(name, "mango\n"))
    assert scene.bench.found("mango") == {name}
    assert scene.notes == [f"{name} is a sync program's conflict copy of plan.md"]


@pytest.mark.parametrize(
    "name",
    ["~$report.docx", ".#note.md", "#note.md#", "note.md~", "4913", "a.md___jb_tmp___", ".~lock.a.odt#"],
)
def test_files_that_editors_keep_for_a_moment_are_known(name: str) -> None:
    assert is_temporary(name)


@pytest.mark.parametrize("name", ["note.md", "$5.md", "a~b.md", "#1.md", "49131.txt", "locks.md"])
def test_files_that_people_write_are_not_taken_for_them(name: str) -> None:
    assert not is_temporary(name)


@pytest.mark.parametrize(
    ("name", "original"),
    [
        ("plan (Kim's conflicted copy 2024-05-01).md", "plan.md"),
        ("plan (conflicted copy 2024-05-01 120000).md", "plan.md"),
        ("계획.sync-conflict-20240501-120000-ABCDEF1.md", "계획.md"),
        ("plan_conflict-20240501-120000.md", "plan.md"),
        ("plan (1).md", None),
        ("conflicted copy.md", None),
    ],
)
def test_conflict_copies_are_known_by_their_names(name: str, original: str | None) -> None:
    assert conflict_of(name) == original


OPERATION = st.tuples(
    st.sampled_from(["write", "delete", "move", "move folder", "ignore"]),
    st.sampled_from(["a.md", "b.md", "s/a.md", "s/b.md", "s/t/c.md", "t/d.md", "odd.xyz", "s/README"]),
    st.sampled_from(["a.md", "n.md", "s/n.md", "u/a.md"]),
    st.integers(0, 9),
)


def operate(root: Path, kind: str, name: str, other: str, value: int) -> None:
    file, target = root / name, root / other
    if kind == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"text{value} of {name}\n" * (value + 1))
    elif kind == "delete":
        file.unlink(missing_ok=True)
    elif kind == "move" and file.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        file.rename(target)
    elif kind == "move folder" and file.parent.is_dir() and file.parent != root:
        moved = root / f"m{value}"
        if not moved.exists():
            file.parent.rename(moved)
    elif kind == "ignore":
        (root / ".gitignore").write_text(f"{name}\n" if value % 2 else "")


def operate_all(root: Path, batch: Sequence[tuple[str, str, str, int]]) -> None:
    for operation in batch:
        operate(root, *operation)


@settings(max_examples=40)
@given(st.lists(st.lists(OPERATION, max_size=4), max_size=6))
def test_whatever_happens_in_whatever_batches_what_is_stored_is_what_a_whole_run_would_store(
    batches: list[list[tuple[str, str, str, int]]],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        watched = Scene(Bench(Path(place) / "notes", Path(place) / "data"))
        for name in ANCHORS:
            watched.bench.write(name, f"# {name}\n")
        steps = [partial(operate_all, watched.bench.root, batch) for batch in batches]
        watched.play(lambda: None, *steps)
        fresh = Bench(watched.bench.root, Path(place) / "other")
        fresh.run()
        assert contents(watched.bench) == contents(fresh)


def contents(bench: Bench) -> dict[str, str]:
    return {path: state.asset_id for path, state in bench.store.file_states("notes").items()}


def test_an_interrupted_look_is_recorded_as_such(scene: Scene) -> None:
    scene.bench.write("a.md", "mango\n")
    found = scene.bench.pipeline.refresh(cancelled=lambda: True)
    assert isinstance(found.report, IngestReport)
    run: IngestRun = found.report.run
    assert run.status is RunStatus.CANCELLED
