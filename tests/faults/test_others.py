"""A second writer, a model that vanished, and files that are meant to hurt."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from kebab.domain.ingests import IngestItem, IngestProgress, Outcome, RunStatus
from kebab.domain.queries import SearchMode
from kebab.domain.reports import CheckStatus
from kebab.errors import Locked, ModelUnavailable, StorageError
from tests.faults.conftest import Base, check_of, make_base, sick

pytestmark = pytest.mark.slow
PROJECT = Path(__file__).parents[2]
HOLDER = """
import sys
from pathlib import Path
from kebab.adapters.writer_lock import writer_lock
with writer_lock(Path(sys.argv[1]), command="ingest"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_told_who_writes_while_reading_goes_on(base: Base) -> None:
    command = [sys.executable, "-c", HOLDER, str(base.data / "writer.lock")]
    with subprocess.Popen(
        command, cwd=PROJECT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with base.open(storage__lock_timeout_s=0.2) as kb:
            for attempt in (kb.ingest, kb.index, lambda: kb.doctor(repair=True), lambda: kb.reset("data")):
                with pytest.raises(Locked) as raised:
                    attempt()
                assert f"process {other.pid}" in raised.value.message
            assert f"process {other.pid}" in check_of(kb.doctor(), "lock").detail
            assert kb.search("rope ship3").hits[0].doc_path == "n3.md"
            assert kb.export_bundle(base.data.parent / "b.kebab").documents == 12
        other.kill()
    with base.open() as kb:
        assert check_of(kb.doctor(), "lock").detail == "nobody writes"
        kb.ingest()


def test_a_command_that_waits_says_for_whom_and_goes_on_when_it_may(base: Base) -> None:
    command = [sys.executable, "-c", HOLDER, str(base.data / "writer.lock")]
    with subprocess.Popen(
        command, cwd=PROJECT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        threading.Timer(2, other.kill).start()
        own = {"KEBAB_STORAGE__DATA_DIR": str(base.data), "KEBAB_WORKSPACE__ROOT": str(base.root)}
        saving = [sys.executable, "-m", "kebab", "ingest", "-", "--title", "Mine"]
        done = subprocess.run(
            saving, cwd=PROJECT, env={**os.environ, **own}, input="a note", text=True, capture_output=True
        )
    assert f"waiting for `ingest` (process {other.pid}" in done.stderr
    assert (done.returncode, done.stdout.split(" ·")[0]) == (0, "1 indexed")


def test_a_note_is_saved_and_found_while_a_long_ingest_goes_on(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=600)
    with base.open() as kb:
        kb.ingest()
    command = [sys.executable, "-m", "tests.faults.ingest_victim", "force", str(base.root), str(base.data)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "begin\n"
        with base.open() as kb:
            while kb.runs(1)[0].status is not RunStatus.RUNNING:
                assert other.poll() is None
            report = kb.ingest_text("moored in the harbour", title="Mine")
            statuses = [run.status for run in kb.runs(2)]
            found = kb.search("harbour", mode=SearchMode.LEXICAL).hits
        assert other.wait(120) == 0
    assert report.run.indexed == 1
    assert statuses == [RunStatus.COMPLETED, RunStatus.RUNNING], (
        "the note waited for the end of the other run"
    )
    with base.open() as kb:
        assert kb.search("harbour", mode=SearchMode.VECTOR).hits[0].title == "Mine"
        assert sick(kb.doctor(full=True)) == []
    assert not found or found[0].title == "Mine"


def test_whoever_empties_the_knowledge_base_waits_for_a_run_that_is_in_charge(base: Base) -> None:
    with (
        base.open() as kb,
        base.open(storage__lock_timeout_s=0.2) as other,
        kb.engines.session("ingest", in_charge=True),
    ):
        for attempt in (lambda: other.reset("data"), lambda: other.reset("vectors"), other.index):
            with pytest.raises(Locked, match="`ingest`"):
                attempt()
        assert len(other.list_docs()) == 12


def test_a_run_that_was_overtaken_by_a_reset_ends_and_makes_no_new_store(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=30)
    resets: list[str] = []

    def reset(event: IngestProgress) -> None:
        if event.item and not resets:
            resets.append("done")
            for file in base.data.glob("kebab.sqlite*"):
                file.unlink()

    with base.open() as kb, pytest.raises(StorageError, match="was reset or replaced meanwhile"):
        kb.ingest(progress=reset)
    assert not (base.data / "kebab.sqlite").exists()


def test_without_its_model_words_are_found_and_the_lack_is_said(base: Base, tmp_path: Path) -> None:
    gone: dict[str, Any] = {
        "models__embedding__provider": "onnx",
        "models__embedding__path": str(tmp_path / "gone"),
    }
    base.write("more.md", "# More\n\nThe anchor is new.\n")
    with base.open(**gone) as kb:
        found = kb.search("rope ship3")
        assert found.hits[0].doc_path == "n3.md"
        assert [one.code for one in found.degraded] == ["model_unavailable"]
        report = kb.doctor()
        assert check_of(report, "embedding model").status is CheckStatus.FAULT
        assert not kb.doctor(repair=True).healthy
        assert any("not embedded" in note for note in kb.ingest().degraded)
        assert kb.search("anchor", mode=SearchMode.LEXICAL).hits[0].doc_path == "more.md"
        with pytest.raises(ModelUnavailable):
            kb.index(embeddings=True)
        assert kb.index().degraded
    with base.open() as kb:
        assert kb.index().embedded == 1
        assert sick(kb.doctor()) == []


HOSTILE: dict[str, bytes] = {
    "invalid-utf8.md": b"# Broken\n\n\xff\xfe\xfa\x80 bytes \xc3\x28\n" * 50,
    "nul.md": b"# NUL\n\nzero \x00 byte\n" * 20,
    "front.md": b"---\ntitle: [unclosed\ntags: {a: b\n: : :\n---\n# After\n\nharbour text\n",
    "bomb.md": b"---\na: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(b"%c: &%c [" % (n + 1, n + 1) + b",".join([b"*%c" % n] * 9) + b"]\n" for n in range(97, 105))
    + b"---\n\nquay text\n",
    "deep-list.md": b"".join(b" " * (2 * depth) + b"- item\n" for depth in range(2000))
    + b"- " * 10_000
    + b"innermost\n",
    "quotes.md": b">" * 10_000 + b" deep quote\n",
    "brackets.md": b"[" * 50_000 + b"x" + b"](" * 50_000,
    "html.md": b"<div>" * 20_000,
    "empty.md": b"",
}


def items_of(base: Base) -> dict[str, IngestItem]:
    with base.open() as kb:
        report = kb.ingest()
        for item in report.items:
            assert item.outcome in (Outcome.INDEXED, Outcome.SKIPPED) or item.reason, item
        assert sick(kb.doctor()) == []
        return {item.path: item for item in report.items}


def test_hostile_files_are_indexed_or_reported_and_stop_nothing(base: Base) -> None:
    for name, content in HOSTILE.items():
        base.write(name, content)
    base.write("zz-last.md", "# Last\n\nThe lighthouse stands.\n")
    items = items_of(base)
    assert set(items) == {*HOSTILE, "zz-last.md"}
    assert items["nul.md"].outcome in (Outcome.FAILED, Outcome.SKIPPED)
    assert items["invalid-utf8.md"].outcome is Outcome.SKIPPED
    assert items["front.md"].outcome is Outcome.INDEXED
    assert items["front.md"].warnings
    assert items["deep-list.md"].outcome is Outcome.INDEXED
    with base.open() as kb:
        assert kb.search("lighthouse").hits[0].doc_path == "zz-last.md"
        assert kb.search("harbour").hits[0].doc_path == "front.md"
        assert kb.search("innermost").hits[0].doc_path == "deep-list.md"
        assert kb.search("rope ship3").hits[0].doc_path == "n3.md"


def test_a_line_of_fifty_megabytes_is_a_reported_skip_and_below_the_limit_it_is_cut(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=1)
    base.write("huge.md", b"word " * (11 << 20))
    base.write("large.txt", b"buoy " * (1 << 20))
    with base.open(models__embedding__provider="none", ingest__max_file_mb=50) as kb:
        report = kb.ingest()
        items = {item.path: item for item in report.items}
        assert items["huge.md"].outcome is Outcome.SKIPPED
        assert "50 MB" in (items["huge.md"].reason or "")
        assert items["large.txt"].outcome is Outcome.INDEXED
        assert kb.search("buoy").hits[0].citation.uri == "large.txt#L1"
        assert sick(kb.doctor()) == []


def test_a_file_that_vanishes_during_the_run_is_reported(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=30)

    def vanish(event: IngestProgress) -> None:
        if event.kind == "progress" and (base.root / "n7.md").exists():
            (base.root / "n7.md").unlink()

    with base.open() as kb:
        report = kb.ingest(progress=vanish)
        item = next(item for item in report.items if item.path == "n7.md")
        assert (item.outcome, "vanished" in (item.reason or "")) == (Outcome.SKIPPED, True)
        assert len(kb.list_docs()) == 29
        assert sick(kb.doctor()) == []


def test_a_source_that_vanishes_loses_nothing(base: Base) -> None:
    before = base.texts()
    shutil.move(base.root, base.root.with_name("elsewhere"))
    with base.open() as kb:
        report = kb.ingest()
        assert report.run.failed == 1
        assert check_of(kb.doctor(), "sources").status is CheckStatus.WARNING
        hit = kb.search("rope ship3").hits[0]
        assert (hit.doc_path, hit.citation.stale) == ("n3.md", False)
    assert base.texts() == before


def test_readers_see_whole_states_while_another_thread_ingests(base: Base) -> None:
    """Every answer names a chunk of a document that exists, however often the notes change meanwhile."""
    over = threading.Event()
    faults: list[str] = []

    def read() -> None:
        with base.open() as kb:
            while not over.is_set():
                found = [hit.snippet.text for hit in kb.search("rope ship", k=20).hits]
                faults.extend(text for text in found if "rope" not in text)

    reader = threading.Thread(target=read)
    reader.start()
    with base.open() as kb:
        for version in range(6):
            for number in range(12):
                base.write(
                    f"n{number}.md", f"# Note {number}\n\nThe rope of ship{number}, version {version}.\n"
                )
            kb.ingest()
    over.set()
    reader.join()
    assert faults == []


def test_special_files_are_skipped(base: Base) -> None:
    os.mkfifo(base.root / "pipe.md")
    (base.root / "loop").symlink_to(base.root)
    (base.root / "dangling.md").symlink_to(base.root / "nothing.md")
    with base.open(ingest__follow_symlinks=True) as kb:
        assert kb.ingest().run.indexed == 0
        assert len(kb.list_docs()) == 12
