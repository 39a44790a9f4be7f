"""Files that were not meant kindly: each is read, or fails with a reason, in a moment."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.ingest.parse.decode import Undecodable, decode
from tests.document_files import epub_file
from tests.fake_formats import PLACED
from tests.unit.ingest.building import document, failure


@pytest.fixture(autouse=True)
def in_a_moment() -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < 10


def test_a_file_with_nul_bytes_is_binary(tmp_path: Path) -> None:
    assert failure(tmp_path, "a.md", b"text\0more") == "skipped: binary: it holds a NUL byte"


def test_a_bad_byte_is_replaced_with_a_warning_that_names_its_place(tmp_path: Path) -> None:
    stored, _ = document(tmp_path, "a.md", b"caf\xe9 au lait")
    assert stored.text == "caf\ufffd au lait"
    assert stored.warnings == ("not valid UTF-8: byte 3; replaced what cannot be read",)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_text_or_have_a_reason(content: bytes) -> None:
    found = decode(content)
    if isinstance(found, Undecodable):
        assert found.reason
    else:
        found.text.encode()
        assert (found.fault is not None) or "\ufffd" not in found.text or "\ufffd".encode() in content


def test_utf_16_with_a_mark_is_read(tmp_path: Path) -> None:
    stored, _ = document(tmp_path, "a.txt", "안녕 hello\nsecond".encode("utf-16"))
    assert stored.text == "안녕 hello\nsecond"


def test_truncated_utf_16_keeps_what_can_be_read(tmp_path: Path) -> None:
    stored, _ = document(tmp_path, "a.txt", "abcdefghijkl".encode("utf-16")[:-1])
    assert stored.text == "abcdefghijk\ufffd"
    assert stored.warnings[0].startswith("not valid UTF-16")


def test_notes_of_korean_windows_are_read(tmp_path: Path) -> None:
    text = "# 회의록\n\n다음 주까지 보고서를 제출하기로 했다. API 문서도 고친다.\n"
    stored, _ = document(tmp_path, "a.md", text.encode("cp949"))
    assert (stored.title, stored.lang, stored.text) == ("회의록", "ko", text)


@pytest.mark.parametrize(
    "text",
    [
        "> " * 10_000 + "deep",
        "- " * 10_000 + "deep",
        "".join("  " * n + "- level\n" for n in range(1_000)),
        "[" * 50_000,
        "*a " * 50_000,
        "|a" * 1_000 + "|\n" + "|-" * 1_000 + "|\n",
        "`" * 10_000,
        "# " * 10_000,
    ],
    ids=["quotes", "lists", "indented lists", "brackets", "stars", "table", "ticks", "hashes"],
)
def test_deep_nesting_is_only_text(tmp_path: Path, text: str) -> None:
    stored, chunks = document(tmp_path, "a.md", text)
    assert chunks
    assert stored.text == text


def test_thousands_of_headings_in_a_row_stay_within_the_limit(tmp_path: Path) -> None:
    _, chunks = document(tmp_path, "a.md", "".join(f"# heading {n}\n" for n in range(5_000)))
    assert max(chunk.token_estimate for chunk in chunks) <= 1000
    assert sum(chunk.text.count("# heading") for chunk in chunks) == 5_000


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_a_line_of_many_megabytes_is_cut(tmp_path: Path, name: str) -> None:
    stored, chunks = document(tmp_path, name, "word " * 2_000_000)
    assert "".join(chunk.text for chunk in chunks) == stored.text
    assert {(chunk.spans[0].start, chunk.spans[0].end) for chunk in chunks} == {(1, 1)}


def test_an_empty_file_is_a_document_that_is_found_by_its_name_alone(tmp_path: Path) -> None:
    stored, chunks = document(tmp_path, "empty.md", b"")
    assert (stored.title, [chunk.text for chunk in chunks]) == ("empty", [""])


def test_whatever_goes_wrong_inside_is_that_files_failure(tmp_path: Path) -> None:
    # This parser raises at a place that is none; it stands for any error that a parser did not foresee.
    reason = failure(tmp_path, "a.placed", b"@p=x", {".placed": PLACED})
    assert reason == "failed: ValueError: not a place: 'p=x'"


def test_an_archive_whose_parts_lie_before_its_beginning_is_damaged(tmp_path: Path) -> None:
    whole = bytearray(epub_file(["<p>rope</p>"]))
    directory = int.from_bytes(whole[-6:-2], "little")
    whole[-6:-2] = (directory + 30).to_bytes(4, "little")
    assert "damaged" in failure(tmp_path, "a.epub", bytes(whole))
