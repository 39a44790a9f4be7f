"""Two writers on one knowledge base: between any two turns of one run another one, or an editor, comes in."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.domain.ingests import FileState, IngestReport
from kebab.ingest.pipeline import IngestPipeline
from tests.fakes import FakeDocumentStore
from tests.unit.ingest.test_pipeline import Bench

Visit = Callable[[], object]


@dataclass
class Visited:
    """Turns of a run that is in charge; before each one a visitor comes, until there are no more."""

    visits: list[Visit] = field(default_factory=list)
    charged: bool = True
    left: int = 0
    rival: Visited | None = None
    _inside: bool = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        if not self._inside and self.visits:
            self.visits.pop(0)()
        outer, self._inside = self._inside, True
        try:
            yield
        finally:
            self._inside = outer

    def take_charge(self) -> bool:
        """Nobody can while another run is in charge; once that has left, whoever comes can."""
        return self.charged or (self.rival is not None and self.rival.left > 0)

    def leave_charge(self) -> None:
        self.left += 1

    def in_charge(self) -> str | None:
        return "`ingest` (process 1 on here), for 3 s"


class World:
    """A folder, and two pipelines over the same stores: one that is in charge, and one that is not."""

    def __init__(self, folder: Path, store: FakeDocumentStore | None = None) -> None:
        self.bench = Bench(folder / "notes", folder / "data", store=store or FakeDocumentStore())
        self.beside = Visited(charged=False)
        self.other: IngestPipeline = replace(self.bench.pipeline, turns=self.beside)
        self.clock = 1_700_000_000

    def write(self, name: str, text: str) -> None:
        # The clock moves on: two versions of equal length within one tick of a file system would look alike.
        self.clock += 1
        file = self.bench.write(name, text)
        os.utime(file, (self.clock, self.clock))

    def remove(self, name: str) -> None:
        (self.bench.root / name).unlink(missing_ok=True)

    def ingest_beside(self) -> IngestReport:
        return self.other.run(allow_mass_delete=True)

    def run(self, *visits: Visit) -> IngestReport:
        turns = self.beside.rival = Visited(list(visits))
        report = replace(self.bench.pipeline, turns=turns).run(allow_mass_delete=True)
        assert turns.left == 1
        return report

    def disk(self) -> dict[str, str]:
        return {file.name: file.read_text() for file in self.bench.root.iterdir()}

    def stored(self) -> dict[str, str]:
        store = self.bench.store
        documents = [doc for doc in store.list_documents() if doc.source_id == "notes"]
        return {doc.path: store.source_text(doc.doc_id) or "" for doc in documents}

    def assert_in_step(self) -> None:
        """Both indexes hold exactly the chunks that are stored."""
        chunks = {stored.chunk.chunk_id for stored in self.bench.store.stored_chunks()}
        assert self.bench.lexical.chunk_ids() == chunks
        assert self.bench.vectors.chunk_ids() == chunks


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def nothing() -> None:
    pass


TURNS = range(12)


@pytest.mark.parametrize("at", TURNS)
def test_what_another_writer_adds_is_not_removed_by_a_run_that_looked_before(world: World, at: int) -> None:
    world.write("a.md", "apple")

    def add() -> None:
        world.write("b.md", "banana")
        world.ingest_beside()

    world.run(*[nothing] * at, add)
    if "b.md" in world.disk():
        assert world.stored() == {"a.md": "apple", "b.md": "banana"}
        world.assert_in_step()


class Asked(FakeDocumentStore):
    """Something happens at the moment when it is asked what it knows of a source."""

    def __init__(self) -> None:
        super().__init__()
        self.visits: list[Visit] = []

    def file_states(self, source_id: str, under: Collection[str] = ()) -> dict[str, FileState]:
        if self.visits:
            self.visits.pop(0)()
        return super().file_states(source_id, under)


def test_what_is_added_during_a_scan_does_not_look_gone(tmp_path: Path) -> None:
    store = Asked()
    world = World(tmp_path, store)
    world.write("a.md", "apple")

    def add() -> None:
        world.write("b.md", "banana")
        world.ingest_beside()

    store.visits = [add]
    world.run()
    assert world.stored() == {"a.md": "apple", "b.md": "banana"}


@pytest.mark.parametrize("at", TURNS)
def test_a_file_that_comes_back_is_kept(world: World, at: int) -> None:
    world.write("a.md", "apple")
    world.write("b.md", "banana")
    world.run()
    world.remove("b.md")

    def bring_back() -> None:
        world.write("b.md", "banana")
        world.ingest_beside()

    world.run(*[nothing] * at, bring_back)
    if "b.md" in world.disk():
        assert world.stored() == world.disk()


@pytest.mark.parametrize("at", TURNS)
def test_an_older_reading_never_replaces_a_newer_one(world: World, at: int) -> None:
    for name in ("a.md", "b.md", "c.md"):
        world.write(name, f"first {name}")

    def edit() -> None:
        world.write("c.md", "second c.md")
        world.ingest_beside()

    world.run(*[nothing] * at, edit)
    if world.disk()["c.md"].startswith("second"):
        assert world.stored()["c.md"] == "second c.md"


@pytest.mark.parametrize("at", TURNS)
def test_a_touched_file_that_another_writer_stored_anew_is_not_called_unchanged(
    world: World, at: int
) -> None:
    world.write("a.md", "first")
    world.run()
    world.write("a.md", "first")

    def edit() -> None:
        world.write("a.md", "other")
        world.ingest_beside()

    world.run(*[nothing] * at, edit)
    world.run()
    assert world.stored() == world.disk()


def test_the_same_work_is_not_done_twice(world: World) -> None:
    for number in range(5):
        world.write(f"{number}.md", f"text {number}")
    report = world.run(nothing, nothing, world.ingest_beside)
    runs = world.bench.ledger.runs()
    assert sum(run.indexed for run in runs) == 5
    assert report.run.status == "completed"


def test_a_run_beside_another_one_leaves_the_indexes_to_it_and_says_so(world: World) -> None:
    reports: list[IngestReport] = []
    world.write("a.md", "apple")
    notes = [nothing] * 4 + [lambda: reports.append(world.other.ingest_text("Mine", "a note"))]
    world.run(*notes)
    assert "the indexes follow when `ingest` (process 1" in reports[0].degraded[0]
    assert reports[0].run.indexed == 1
    world.assert_in_step()


def test_a_note_saved_beside_a_long_run_is_found_by_its_words_at_once(world: World) -> None:
    for number in range(30):
        world.write(f"{number}.md", f"text {number}")
    world.run()
    world.write("31.md", "more")
    found: list[set[str]] = []

    def save() -> None:
        world.other.ingest_text("Mine", "harbour")
        hits = world.bench.lexical.chunk_ids()
        stored = world.bench.store.hydrate(sorted(hits))
        found.append({chunk.title for chunk in stored.values()})

    world.run(nothing, save)
    assert "Mine" in found[0]


def test_the_record_of_a_run_at_work_is_not_closed_by_another(world: World) -> None:
    world.write("a.md", "apple")
    world.run(nothing, nothing, nothing, world.ingest_beside)
    assert [run.status for run in world.bench.ledger.runs()] == ["completed", "completed"]


ACTIONS = st.sampled_from(["nothing", "ingest", "note", "write", "remove", "write and ingest"])


@settings(max_examples=60)
@given(
    st.lists(st.tuples(ACTIONS, st.sampled_from("abcdef"), st.sampled_from("xyz")), max_size=25),
    st.sets(st.sampled_from("abcdef")),
)
def test_whatever_two_writers_and_an_editor_do_one_quiet_run_makes_it_right(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, str, str]], before: set[str]
) -> None:
    world = World(tmp_path_factory.mktemp("two"))
    for name in sorted(before):
        world.write(f"{name}.md", "first")
    notes: set[str] = set()

    def visit(action: str, name: str, text: str) -> None:
        if "write" in action:
            world.write(f"{name}.md", text)
        if "ingest" in action:
            world.ingest_beside()
        if action == "remove":
            world.remove(f"{name}.md")
        if action == "note":
            notes.add(text)
            world.other.ingest_text("Note", text)

    world.run(*(lambda one=one: visit(*one) for one in actions))
    world.assert_in_step()
    inbox = [doc for doc in world.bench.store.list_documents() if doc.source_id == "inbox"]
    assert len(inbox) == len(notes)
    world.run()
    assert world.stored() == world.disk()
    world.assert_in_step()
