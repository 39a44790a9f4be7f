"""One odd file among good ones: whatever its date, size, name or bytes, the others are indexed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kebab.app import Kebab
from kebab.domain.ingests import Outcome, RunStatus
from tests.faults.conftest import Base, make_base

YEAR_NS = 31_556_952 * 10**9
TIMES = [-(2**63), -70 * YEAR_NS, -1, 0, 292 * YEAR_NS, 2**63 - 1, 2**63, 2**64, 330 * YEAR_NS, 470 * YEAR_NS]


@pytest.fixture
def base(tmp_path: Path) -> Base:
    return make_base(tmp_path, notes=3)


def words_only(base: Base) -> Kebab:
    return base.open(models__embedding__provider="none")


def set_time(file: Path, mtime_ns: int) -> None:
    try:
        os.utime(file, ns=(mtime_ns, mtime_ns))
    except (OverflowError, OSError):
        pytest.skip(f"this file system takes no time of {mtime_ns}")


@pytest.mark.parametrize("mtime_ns", TIMES)
def test_a_file_of_any_date_is_indexed_and_unchanged_afterwards(base: Base, mtime_ns: int) -> None:
    set_time(base.root / "n1.md", mtime_ns)
    with words_only(base) as kb:
        report = kb.ingest()
        assert (report.run.status, report.run.indexed, report.run.failed) == (RunStatus.COMPLETED, 3, 0)
        assert kb.search("ship1").hits[0].doc_path == "n1.md"
        assert kb.ingest().run.unchanged == 3
        assert not kb.search("ship1").hits[0].stale


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(-(2**65), 2**65))
def test_any_date_the_file_system_takes_fails_no_file(base: Base, mtime_ns: int) -> None:
    try:
        os.utime(base.root / "n1.md", ns=(mtime_ns, mtime_ns))
    except (OverflowError, OSError):
        return
    with words_only(base) as kb:
        assert kb.ingest(force=True).run.indexed == 3


def test_a_huge_sparse_file_is_skipped_and_the_others_are_indexed(base: Base) -> None:
    with (base.root / "n0-huge.md").open("wb") as file:
        file.truncate(1 << 40)
    with words_only(base) as kb:
        report = kb.ingest()
    assert (report.run.indexed, report.run.skipped, report.run.failed) == (3, 1, 0)


@pytest.mark.skipif(os.name == "nt", reason="file names are Unicode there")
def test_a_name_that_no_encoding_writes_fails_alone(base: Base) -> None:
    Path(os.fsdecode(os.fsencode(base.root) + b"/a\xff.md")).write_text("# Odd\n")
    with words_only(base) as kb:
        report = kb.ingest()
    assert (report.run.indexed, report.run.failed) == (3, 1)
    assert [item.path for item in report.items if item.outcome is Outcome.FAILED] == ["a\\xff.md"]


BAD_BYTES = {
    "a Latin-1 letter": b"caf\xe9 au lait, said the old ship\n",
    "a stray byte in Korean": "밧줄은 말린다. 배가 왔다.\n".encode() + b"\xff\n",
    "a cut last letter": "The rope of the ship is 밧줄".encode()[:-1],
    "half a UTF-16 letter": "the rope is dry".encode("utf-16")[:-1],
    "a stray byte in code page 949": ("밧줄은 말린다. 배가 왔다. " * 9).encode("cp949") + b"\xff\n",
}


@pytest.mark.parametrize("content", BAD_BYTES.values(), ids=BAD_BYTES)
def test_a_few_bad_bytes_are_replaced_and_told_of_once(base: Base, content: bytes) -> None:
    base.write("odd.md", content)
    with words_only(base) as kb:
        first = kb.ingest()
        assert (first.run.indexed, first.run.failed) == (4, 0)
        (odd,) = [item for item in first.items if item.warnings]
        assert odd.path == "odd.md"
        assert odd.warnings[0].startswith("not valid ")
        assert [item for item in kb.run_items(first.run.run_id) if item.warnings] == [odd]
        second = kb.ingest()
        assert (second.run.unchanged, second.run.failed, second.items) == (4, 0, ())
        text = kb.fetch_doc("odd.md").text
    assert "\ufffd" in text
    assert text.count("\ufffd") <= 2


BINARIES = {
    "NUL": b"text\0more",
    "random": bytes(range(128, 256)) * 4,
    "UTF-16 with NUL": "\0a".encode("utf-16"),
    "another encoding": "Съешь ещё этих мягких французских булок".encode("koi8-r"),
}


@pytest.mark.parametrize("content", BINARIES.values(), ids=BINARIES)
def test_a_binary_file_is_skipped_with_the_reason_every_time(base: Base, content: bytes) -> None:
    base.write("odd.md", content)
    with words_only(base) as kb:
        for expected in ((3, 0), (0, 3)):
            run = kb.ingest().run
            assert (run.indexed, run.unchanged) == expected
            assert (run.skipped, run.failed) == (1, 0)


def test_a_document_that_became_binary_fails_until_it_is_mended(base: Base) -> None:
    with words_only(base) as kb:
        kb.ingest()
        base.write("n1.md", b"\0" * 40)
        assert [kb.ingest().run.failed, kb.ingest().run.failed] == [1, 1]
        assert kb.search("ship1").hits[0].doc_path == "n1.md"
