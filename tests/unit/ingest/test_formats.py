"""Room for formats: each has its own versions, and a parser that misbehaves costs its own file alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kebab.domain.ingests import IngestReport
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.limits import IngestLimits
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.parse.parsed import Format
from kebab.ingest.pipeline import IngestPipeline
from kebab.ingest.scan import SourceFolder
from tests.fake_formats import APART, CRASHING, GREEDY, HANGING, PLACED
from tests.fakes import FakeDocumentStore, FakeEmbeddingStore, FakeLedger, FakeLexicalIndex

ALL: dict[str, Format] = {
    **FORMATS,
    ".placed": PLACED,
    ".apart": APART,
    ".hang": HANGING,
    ".greedy": GREEDY,
    ".crash": CRASHING,
}


@pytest.fixture
def pipeline(tmp_path: Path) -> IngestPipeline:
    root = tmp_path / "notes"
    root.mkdir()
    store = FakeDocumentStore()
    return IngestPipeline(
        sources=(SourceFolder("notes", root),),
        inbox=tmp_path / "data" / "inbox",
        policy=ChunkPolicy(),
        limits=IngestLimits(workers=1, file_seconds=5, worker_bytes=1 << 30),
        store=store,
        embeddings=FakeEmbeddingStore(store),
        ledger=FakeLedger(),
        lexical=FakeLexicalIndex(),
        formats=ALL,
    )


def write(pipeline: IngestPipeline, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (pipeline.sources[0].root / name).write_text(text, encoding="utf-8")


def told(report: IngestReport) -> dict[str, str]:
    return {item.path: item.reason or str(item.outcome) for item in report.items}


def test_another_chunker_reads_its_own_documents_again_and_no_others(pipeline: IngestPipeline) -> None:
    write(pipeline, {"a.md": "# A\n", "b.placed": "@p=1\nwords\n", "c.txt": "c\n"})
    assert pipeline.run().run.indexed == 3
    newer = replace(PLACED, chunker=replace(PLACED.chunker, version="by-place-v2"))
    report = replace(pipeline, formats={**ALL, ".placed": newer}).run()
    assert told(report) == {"b.placed": "indexed"}
    assert report.run.unchanged == 2


def test_one_files_bytes_may_have_two_texts(pipeline: IngestPipeline) -> None:
    """The same bytes as a note and as subtitles: the text of one must not replace the other's."""
    said = "1\n00:00:01,000 --> 00:00:02,000\nhello there\n"
    write(pipeline, {"talk.srt": said, "talk.txt": said})
    pipeline.run()
    texts = {doc.path: pipeline.store.source_text(doc.doc_id) for doc in pipeline.store.list_documents()}
    assert texts == {"talk.srt": "hello there", "talk.txt": said}


def test_a_file_that_changed_in_time_only_is_not_read_again(pipeline: IngestPipeline) -> None:
    write(pipeline, {"talk.srt": "1\n00:00:01,000 --> 00:00:02,000\nhello\n"})
    pipeline.run()
    file = pipeline.sources[0].root / "talk.srt"
    file.touch()
    report = pipeline.run()
    assert (report.run.unchanged, report.run.indexed) == (1, 0)


@pytest.mark.slow
def test_a_parser_that_hangs_crashes_or_eats_memory_fails_its_file_alone(pipeline: IngestPipeline) -> None:
    write(
        pipeline,
        {
            "a.md": "# A\n",
            "b.hang": "x",
            "c.greedy": "x",
            "d.crash": "x",
            "e.apart": "@p=1\nwords\n",
            "f.md": "# F\n",
        },
    )
    report = replace(pipeline, limits=replace(pipeline.limits, file_seconds=2)).run()
    assert told(report) == {
        "a.md": "indexed",
        "b.hang": "took more than 2 s to read (ingest.file_timeout_s)",
        "c.greedy": "needs more memory than ingest.worker_memory_mb allows",
        "d.crash": "the parser process died while reading it",
        "e.apart": "indexed",
        "f.md": "indexed",
    }


def test_one_file_of_an_isolated_format_is_read_in_a_process_of_its_own(pipeline: IngestPipeline) -> None:
    write(pipeline, {"d.crash": "x"})
    assert told(pipeline.run()) == {"d.crash": "the parser process died while reading it"}
    assert told(pipeline.run(dry_run=True)) == {"d.crash": "the parser process died while reading it"}
