"""An ingest run from the outside: what is stored, found, removed and reported."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.domain.chunks import Chunk, StoredChunk
from kebab.domain.documents import Document
from kebab.domain.ingests import FileState, IngestProgress, IngestReport, IngestRun, Outcome, RunStatus
from kebab.errors import InvalidInput, MassDelete, ModelUnavailable, StorageError
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.ledger import RUNS_KEPT
from kebab.ingest.limits import IngestLimits
from kebab.ingest.pipeline import IngestPipeline
from kebab.ingest.scan import SourceFolder
from kebab.ports import EmbeddingKind, LexicalQuery, Vectors
from tests.fakes import (
    FakeDocumentStore,
    FakeEmbedder,
    FakeEmbeddingStore,
    FakeLedger,
    FakeLexicalIndex,
    FakeVectorIndex,
)


@dataclass
class Bench:
    """A pipeline over a folder, on fakes."""

    root: Path
    data: Path
    store: FakeDocumentStore = field(default_factory=FakeDocumentStore)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    ledger: FakeLedger = field(default_factory=FakeLedger)
    lexical: FakeLexicalIndex = field(default_factory=FakeLexicalIndex)
    events: list[IngestProgress] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.embeddings = FakeEmbeddingStore(self.store)
        self.vectors = FakeVectorIndex(self.embedder.key)
        self.pipeline = IngestPipeline(
            sources=(SourceFolder("notes", self.root, (".*",)),),
            inbox=self.data / "inbox",
            policy=ChunkPolicy(),
            store=self.store,
            embeddings=self.embeddings,
            ledger=self.ledger,
            lexical=self.lexical,
            embedder=self.embedder,
            vectors=self.vectors,
        )

    def write(self, name: str, text: str) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def run(self, *paths: Path, allow_mass_delete: bool = False, force: bool = False) -> IngestReport:
        self.events.clear()
        return self.pipeline.run(
            paths, allow_mass_delete=allow_mass_delete, force=force, progress=self.events.append
        )

    def found(self, word: str) -> set[str]:
        """The paths at which a word is found, the same in both indexes."""
        hits = self.lexical.search(LexicalQuery((word,)), limit=1000)
        stored = self.store.hydrate([hit.id for hit in hits])  # type: ignore[misc]
        assert len(stored) == len(hits), "the index knows a chunk that the store does not"
        assert self.vectors.chunk_ids() == self.lexical.chunk_ids()
        return {chunk.path for chunk in stored.values()}

    def paths(self) -> list[str]:
        return [document.path for document in self.store.list_documents()]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "notes", tmp_path / "data")


def outcomes(report: IngestReport) -> dict[str, str]:
    return {item.path: str(item.outcome) for item in report.items}


def test_a_folder_becomes_searchable(bench: Bench) -> None:
    bench.write("a.md", "# Apple\n\nred fruit\n")
    bench.write("sub/b.txt", "banana\n")
    bench.write("c.zip", "picture")
    report = bench.run()
    assert outcomes(report) == {"a.md": "indexed", "sub/b.txt": "indexed", "c.zip": "skipped"}
    assert (report.run.status, report.run.chunks, report.run.embedded) == (RunStatus.COMPLETED, 2, 2)
    assert report.skipped_by_extension == {".zip": 1}
    assert bench.found("banana") == {"sub/b.txt"}


def test_a_second_run_changes_nothing(bench: Bench) -> None:
    bench.write("a.md", "# Apple\n")
    bench.run()
    before, calls = bench.store.revision(), len(bench.embedder.calls)
    report = bench.run()
    assert (report.run.unchanged, report.run.indexed, report.items) == (1, 0, ())
    assert (bench.store.revision(), len(bench.embedder.calls)) == (before, calls)


def test_a_touched_file_is_unchanged_and_its_time_is_remembered(bench: Bench) -> None:
    file = bench.write("a.md", "# Apple\n")
    bench.run()
    before = bench.store.revision()
    os.utime(file, ns=(5, 5_000_000_000))
    assert bench.run().run.unchanged == 1
    assert bench.store.revision() == before
    assert bench.store.file_states("notes")["a.md"].mtime_ns == 5_000_000_000


def test_an_edit_leaves_no_old_text(bench: Bench) -> None:
    bench.write("a.md", "# Apple\n\nolder words\n")
    bench.run()
    bench.write("a.md", "# Apple\n\nnewer text here\n")
    bench.run()
    assert bench.found("older") == set()
    assert bench.found("newer") == {"a.md"}


def test_a_deleted_file_is_gone_everywhere(bench: Bench) -> None:
    bench.write("a.md", "apple")
    gone = bench.write("b.md", "banana")
    bench.run()
    gone.unlink()
    report = bench.run()
    assert outcomes(report) == {"b.md": "removed"}
    assert bench.found("banana") == set()


def test_a_moved_file_is_not_embedded_again(bench: Bench) -> None:
    file = bench.write("a.md", "# Title\n\napple")
    bench.run()
    calls = len(bench.embedder.calls)
    file.rename(bench.root / "b.md")
    report = bench.run()
    assert outcomes(report) == {"b.md": "indexed", "a.md": "removed"}
    assert len(bench.embedder.calls) == calls
    assert bench.found("apple") == {"b.md"}


def test_a_renamed_folder_is_no_mass_deletion(bench: Bench) -> None:
    for n in range(6):
        bench.write(f"old/{n}.md", f"note {n}")
    bench.run()
    (bench.root / "old").rename(bench.root / "new")
    bench.run()
    assert bench.paths() == [f"new/{n}.md" for n in range(6)]


def test_a_file_that_is_now_ignored_disappears(bench: Bench) -> None:
    bench.write("a.md", "apple")
    bench.write("draft.md", "draft")
    bench.run()
    bench.write(".kebabignore", "draft.md\n")
    report = bench.run()
    assert (report.run.removed, report.skipped_by_reason) == (1, {"ignored by .kebabignore": 1})
    assert bench.paths() == ["a.md"]


def test_a_missing_root_removes_nothing_and_other_sources_go_on(bench: Bench, tmp_path: Path) -> None:
    bench.write("a.md", "apple")
    bench.run()
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("banana")
    bench.root.rename(tmp_path / "away")
    pipeline = replace(bench.pipeline, sources=(*bench.pipeline.sources, SourceFolder("other", other)))
    report = pipeline.run()
    failed = [item for item in report.items if item.outcome is Outcome.FAILED]
    assert [item.source_id for item in failed] == ["notes"]
    assert "does not exist" in (failed[0].reason or "")
    assert bench.paths() == ["a.md", "b.md"]


def test_an_emptied_root_stops_the_run_before_anything_is_removed(bench: Bench) -> None:
    file = bench.write("a.md", "apple")
    bench.run()
    file.unlink()
    with pytest.raises(MassDelete, match="1 of 1 document of source 'notes' is gone"):
        bench.run()
    assert bench.found("apple") == {"a.md"}
    assert [event.kind for event in bench.events if event.run] == ["failed"]
    assert bench.ledger.runs()[0].status is RunStatus.FAILED
    bench.run(allow_mass_delete=True)
    assert bench.paths() == []


def test_more_than_half_is_a_mass_deletion_and_half_is_not(bench: Bench) -> None:
    files = [bench.write(f"{n}.md", f"note {n}") for n in range(8)]
    bench.run()
    for file in files[:4]:
        file.unlink()
    bench.run()
    assert len(bench.paths()) == 4
    for file in files[4:7]:
        file.unlink()
    with pytest.raises(MassDelete):
        bench.run()
    assert len(bench.paths()) == 4


def test_more_than_half_of_a_few_is_a_mass_deletion_too(bench: Bench) -> None:
    files = [bench.write(f"{n}.md", f"note {n}") for n in range(3)]
    bench.run()
    for file in files[:2]:
        file.unlink()
    with pytest.raises(MassDelete, match="2 of 3 documents"):
        bench.run()
    assert len(bench.paths()) == 3


def test_documents_of_a_source_no_longer_configured_are_told_of_and_removed_when_allowed(
    bench: Bench, tmp_path: Path
) -> None:
    bench.write("a.md", "apple")
    bench.run()
    (tmp_path / "other").mkdir()
    renamed = replace(bench.pipeline, sources=(SourceFolder("other", tmp_path / "other"),))
    report = renamed.run()
    assert report.degraded == (
        "documents of sources that are not configured are kept: notes (1); --allow-mass-delete removes them",
    )
    assert renamed.run([bench.write("b.md", "banana")]).degraded == ()
    assert bench.found("apple") == {"a.md"}
    rehearsed = renamed.run(dry_run=True, allow_mass_delete=True)
    assert (outcomes(rehearsed), rehearsed.degraded) == ({"a.md": "removed"}, ())
    assert renamed.run(allow_mass_delete=True).run.removed == 1
    assert [document.source_id for document in bench.store.list_documents()] == ["inbox"]


def test_a_bad_file_fails_alone_and_keeps_its_last_good_version(bench: Bench) -> None:
    bench.write("a.md", "apple")
    bad = bench.write("b.md", "banana")
    bench.run()
    bad.write_bytes(b"ban\0na")
    bench.write("a.md", "apricot")
    report = bench.run()
    assert outcomes(report) == {"a.md": "indexed", "b.md": "failed"}
    assert (report.run.status, report.run.failed) == (RunStatus.COMPLETED, 1)
    assert bench.found("apricot") == {"a.md"}
    assert bench.found("banana") == {"b.md"}


class PickyStore(FakeDocumentStore):
    """Cannot store what stands at one path."""

    def put(self, document: Document, chunks: Sequence[Chunk], state: FileState) -> list[StoredChunk]:
        if document.path == "b.md":
            raise InvalidInput("a number of more than 64 bits cannot be stored")
        return super().put(document, chunks, state)


@pytest.mark.parametrize("files", [3, 250], ids=["file by file", "in worker processes"])
def test_a_file_that_cannot_be_stored_fails_alone(tmp_path: Path, files: int) -> None:
    bench = Bench(tmp_path / "notes", tmp_path / "data", store=PickyStore())
    for name in ["a.md", "b.md", *(f"c{number}.md" for number in range(files - 2))]:
        bench.write(name, "apple")
    report = bench.run()
    assert (report.run.indexed, report.run.failed) == (files - 1, 1)
    (failed,) = [item for item in report.items if item.outcome is Outcome.FAILED]
    assert (failed.path, failed.reason) == (
        "b.md",
        "cannot be stored: a number of more than 64 bits cannot be stored",
    )
    assert len(bench.found("apple")) == files - 1


def test_another_chunk_size_reprocesses_and_reuses_vectors_of_equal_chunks(bench: Bench) -> None:
    bench.write("a.md", "# Title\n\nshort")
    bench.run()
    calls = len(bench.embedder.calls)
    report = replace(bench.pipeline, policy=ChunkPolicy(400, 80, 900)).run()
    assert (report.run.indexed, report.run.embedded) == (1, 0)
    assert len(bench.embedder.calls) == calls


def test_force_reads_everything_again(bench: Bench) -> None:
    bench.write("a.md", "apple")
    bench.run()
    assert bench.run(force=True).run.indexed == 1


def test_a_dry_run_reports_and_writes_nothing(bench: Bench) -> None:
    bench.write("a.md", "apple")
    gone = bench.write("b.md", "banana")
    bench.run()
    runs = len(bench.ledger.runs())
    gone.unlink()
    bench.write("c.md", "cherry")
    report = bench.pipeline.run(dry_run=True)
    assert outcomes(report) == {"b.md": "removed", "c.md": "indexed"}
    assert bench.paths() == ["a.md", "b.md"]
    assert len(bench.ledger.runs()) == runs


def test_named_paths_are_the_only_ones_looked_at(bench: Bench) -> None:
    bench.write("a.md", "apple")
    bench.write("sub/b.md", "banana")
    bench.write("sub/c.md", "cherry")
    bench.run(bench.root / "sub")
    assert bench.paths() == ["sub/b.md", "sub/c.md"]
    (bench.root / "sub/c.md").unlink()
    bench.run(bench.root / "sub/c.md", bench.root / "a.md")
    assert bench.paths() == ["a.md", "sub/b.md"]


def test_a_named_path_that_does_not_exist_is_a_failure(bench: Bench) -> None:
    report = bench.run(bench.root / "nothing.md")
    assert [(item.outcome, item.reason) for item in report.items] == [
        (Outcome.FAILED, "there is no such file")
    ]


def test_a_file_outside_every_source_is_kept_in_the_inbox(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere" / "z.md"
    outside.parent.mkdir()
    outside.write_text("# Zebra\n")
    bench.write("a.md", "apple")
    bench.run(outside)
    assert [(d.source_id, d.title) for d in bench.store.list_documents()] == [("inbox", "Zebra")]
    bench.run()
    assert [d.source_id for d in bench.store.list_documents()] == ["inbox", "notes"]
    outside.write_text("# Zebu\n")
    bench.run(outside)
    assert [d.title for d in bench.store.list_documents() if d.source_id == "inbox"] == ["Zebu"]


def test_a_folder_outside_every_source_is_refused(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="belongs to no source"):
        bench.run(tmp_path)


def test_a_second_text_of_one_title_is_a_second_note(bench: Bench) -> None:
    for text in ("첫 번째 안건\n", "두 번째 안건\n"):
        assert bench.pipeline.ingest_text("회의록 6/2", text).run.indexed == 1
    documents = bench.store.list_documents()
    assert [(d.source_id, d.title) for d in documents] == [("inbox", "회의록 6/2")] * 2
    texts = {(bench.store.source_text(d.doc_id) or "").splitlines()[-1] for d in documents}
    assert texts == {"첫 번째 안건", "두 번째 안건"}
    with pytest.raises(InvalidInput, match="no letter or digit"):
        bench.pipeline.ingest_text("///", "text")


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from(["A", "a", "A 2", "회의"]), st.sampled_from(["가", "나", "다", "라"])),
        max_size=8,
    )
)
def test_no_text_ever_replaces_another(
    tmp_path_factory: pytest.TempPathFactory, notes: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("inbox")
    bench = Bench(folder / "notes", folder / "data")
    for title, text in notes:
        bench.pipeline.ingest_text(title, text)
    stored = [(d.title, bench.store.source_text(d.doc_id) or "") for d in bench.store.list_documents()]
    assert sorted((title, text.splitlines()[-1]) for title, text in stored) == sorted(set(notes))


def test_the_same_text_again_is_unchanged(bench: Bench) -> None:
    bench.pipeline.ingest_text("Piped", "first")
    bench.pipeline.ingest_text("Piped", "second")
    for text in ("first", "second"):
        assert bench.pipeline.ingest_text("Piped", text).run.unchanged == 1
    assert len(bench.store.list_documents()) == 2


@pytest.mark.parametrize("text", ["", " \n\t\n", b"", b"\xef\xbb\xbf", "\u3000"])
def test_an_empty_text_is_refused(bench: Bench, text: str | bytes) -> None:
    with pytest.raises(InvalidInput, match="there is no text to store under 'Piped'"):
        bench.pipeline.ingest_text("Piped", text)
    assert not bench.pipeline.inbox.exists()


def test_titles_that_differ_in_their_signs_alone_name_different_texts(bench: Bench) -> None:
    titles = ["C", "C#", "C++", "a b", "a-b", "a/b", "x" * 300, "x" * 301]
    for title in titles:
        bench.pipeline.ingest_text(title, f"about {title}")
    assert sorted(document.title for document in bench.store.list_documents()) == sorted(titles)


@pytest.mark.parametrize("front", ["---\r\ntags: [pipe]\r\n---\r\n", "\ufeff---\ntags: [pipe]\n---\n"])
def test_a_text_keeps_its_front_matter_whatever_its_line_ends(bench: Bench, front: str) -> None:
    bench.pipeline.ingest_text("Piped", (front + "body\r\n").encode())
    (document,) = bench.store.list_documents()
    assert (document.title, document.tags, document.chunk_count) == ("Piped", ("pipe",), 1)


@pytest.mark.parametrize("content", [b"nul \0 here", b"not \xff\xfe\x80 UTF-8", "half \ud83d"])
def test_what_is_no_text_is_refused_and_not_kept(bench: Bench, content: str | bytes) -> None:
    with pytest.raises(InvalidInput, match="'Piped' cannot be stored"):
        bench.pipeline.ingest_text("Piped", content)
    assert not bench.pipeline.inbox.exists()


def test_a_text_above_the_limit_is_refused_and_not_kept(bench: Bench) -> None:
    pipeline = replace(bench.pipeline, limits=IngestLimits(max_file_bytes=1000))
    with pytest.raises(InvalidInput, match="'Piped' cannot be stored: larger than"):
        pipeline.ingest_text("Piped", "x" * 1001)
    assert not pipeline.inbox.exists()


def test_a_dry_run_of_a_text_keeps_nothing(bench: Bench) -> None:
    report = bench.pipeline.ingest_text("Piped", "text", dry_run=True)
    assert outcomes(report) == {"notes/piped.md": "indexed"}
    assert not bench.pipeline.inbox.exists()
    assert (bench.paths(), bench.ledger.runs()) == ([], [])


def test_a_file_from_outside_that_cannot_be_indexed_is_not_kept(bench: Bench, tmp_path: Path) -> None:
    bad, large = tmp_path / "bad.md", tmp_path / "large.md"
    bad.write_bytes(b"nul \0 here")
    large.write_text("x" * 1001)
    pipeline = replace(bench.pipeline, limits=IngestLimits(max_file_bytes=1000))
    report = pipeline.run([bad, large])
    assert outcomes(report) == {"bad.md": "skipped", "large.md": "skipped"}
    assert not pipeline.inbox.exists()


def test_cancelling_stores_whole_documents_and_the_next_run_goes_on(bench: Bench) -> None:
    for n in range(5):
        bench.write(f"{n}.md", f"note{n}")
    seen: list[IngestProgress] = []
    report = bench.pipeline.run(
        progress=seen.append, cancelled=lambda: sum(e.item is not None for e in seen) >= 2
    )
    assert (report.run.status, report.run.indexed) == (RunStatus.CANCELLED, 2)
    assert [event.kind for event in seen if event.run] == ["cancelled"]
    assert (bench.store.counts(), bench.lexical.count()) == ((2, 2), 2)
    assert bench.run().run.indexed == 3
    assert bench.found("note1") == {"1.md"}


def test_the_record_of_a_killed_run_is_closed_by_the_next(bench: Bench) -> None:
    bench.ledger.begin(IngestRun("killed", "2025-01-01T00:00:00Z", RunStatus.RUNNING))
    bench.run()
    latest, killed = bench.ledger.runs()
    assert (latest.status, killed.status) == (RunStatus.COMPLETED, RunStatus.FAILED)
    assert (killed.error, killed.finished_at) == ("the process ended before the run did", latest.started_at)


def test_the_record_of_a_killed_run_is_closed_however_many_ended_since(bench: Bench) -> None:
    bench.ledger.begin(IngestRun("killed", "2025-01-01T00:00:00Z", RunStatus.RUNNING))
    for number in range(40):
        bench.ledger.begin(IngestRun(f"note {number}", "2025-01-02T00:00:00Z", RunStatus.COMPLETED))
    bench.run()
    assert bench.ledger.runs(100)[-1].status == RunStatus.FAILED


def test_exactly_one_terminal_event_and_rates_come_with_progress(bench: Bench) -> None:
    bench.write("a.md", "apple")
    bench.write("b.md", "banana")
    bench.run()
    kinds = [event.kind for event in bench.events]
    assert kinds[0] == "started"
    assert [kind for kind in kinds if kind in ("completed", "cancelled", "failed")] == ["completed"]
    assert kinds[-1] == "completed"
    items = [event for event in bench.events if event.kind == "item"]
    assert [(event.done, event.total) for event in items] == [(1, 2), (2, 2)]
    assert all(event.rate is not None and event.eta_s is not None for event in items)


def test_the_ledger_keeps_every_item_but_the_unchanged(bench: Bench) -> None:
    bench.write("a.md", "apple")
    bench.run()
    bench.write("b.md", "banana")
    run = bench.run().run
    assert [item.path for item in bench.ledger.items(run.run_id)] == ["b.md"]
    assert (bench.ledger.runs()[0], run.unchanged) == (run, 1)


def test_the_ledger_forgets_its_oldest_runs(bench: Bench) -> None:
    for number in range(RUNS_KEPT + 5):
        bench.ledger.begin(IngestRun(f"batch-{number}", "2025-01-01T00:00:00Z", RunStatus.COMPLETED))
    bench.run()
    kept = bench.ledger.runs(RUNS_KEPT + 5)
    assert (len(kept), kept[-1].run_id) == (RUNS_KEPT, "batch-6")


class BrokenEmbedder(FakeEmbedder):
    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> Vectors:
        raise ModelUnavailable("the model file is gone")


def test_without_a_model_the_words_are_indexed_all_the_same(bench: Bench) -> None:
    for n in range(30):
        bench.write(f"{n}.md", f"apple{n}")
    report = replace(bench.pipeline, embedder=BrokenEmbedder()).run()
    assert report.run.status is RunStatus.COMPLETED
    assert report.degraded == ("not embedded: the model file is gone",)
    assert bench.lexical.count() == 30
    assert bench.run().run.embedded == 30


class FullStore(FakeDocumentStore):
    def put(self, document: Document, chunks: Sequence[Chunk], state: FileState) -> list[StoredChunk]:
        raise StorageError("the disk is full")


def test_an_error_of_the_store_ends_the_run_and_is_recorded(bench: Bench) -> None:
    bench.write("a.md", "apple")
    seen: list[IngestProgress] = []
    with pytest.raises(StorageError):
        replace(bench.pipeline, store=FullStore()).run(progress=seen.append)
    assert [event.kind for event in seen if event.run] == ["failed"]
    assert bench.ledger.runs()[0].error == "the disk is full"


def test_two_sources_may_hold_the_same_path(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("banana")
    bench.write("a.md", "apple")
    pipeline = replace(bench.pipeline, sources=(*bench.pipeline.sources, SourceFolder("other", other)))
    pipeline.run()
    assert [(d.source_id, d.path) for d in bench.store.list_documents()] == [
        ("notes", "a.md"),
        ("other", "a.md"),
    ]


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["a.md", "b.md", "d/c.txt"]),
        st.none() | st.lists(st.sampled_from(["ant", "bee", "cat", "# dog", ""]), max_size=4).map("\n".join),
    ),
    min_size=1,
    max_size=8,
)


@given(steps=_STEPS)
@settings(max_examples=40)
def test_after_any_edits_the_indexes_hold_what_the_folder_holds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str | None]]
) -> None:
    folder = tmp_path_factory.mktemp("edits")
    bench = Bench(folder / "notes", folder / "data")
    for name, text in steps:
        if text is None:
            (bench.root / name).unlink(missing_ok=True)
        else:
            bench.write(name, text)
        bench.run(allow_mass_delete=True)
    files = {file.relative_to(bench.root).as_posix(): file for file in bench.root.rglob("*.*")}
    assert bench.paths() == sorted(files)
    for word in ("ant", "bee", "cat", "dog"):
        # A title is searchable with every chunk of its document, and here it is a word of the text.
        assert bench.found(word) == {name for name, file in files.items() if word in file.read_text()}
    revision = bench.store.revision()
    bench.run(allow_mass_delete=True)
    assert bench.store.revision() == revision


def test_an_ingest_forgets_vectors_of_texts_that_are_gone_once_they_are_many(bench: Bench) -> None:
    bench.write("a.md", "one text")
    bench.pipeline.run()
    model = bench.embedder.key
    left = [f"gone {at}" for at in range(1_001)]
    bench.embeddings.put_vectors(model, left, np.ones((len(left), model.dimensions), dtype=np.float32))
    bench.write("a.md", "another text")
    bench.pipeline.run()
    assert bench.embeddings.models() == {model: 1}
    assert bench.vectors.count() == 1
