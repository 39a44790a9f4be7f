"""What every parser promises: what it reads can be cited, and what is cited can be fetched.

A new format gets a Case: a file of its kind, and damaged ones.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kebab.domain.citations import CitationKind, SourceState
from kebab.domain.documents import LINED, TrustLevel
from kebab.domain.ingests import IngestItem
from kebab.domain.places import CodeUnit
from kebab.errors import SpanNotSupported
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.parse.parsed import Defaults, Format, Parsed
from kebab.ingest.parse.reading import Reading
from kebab.ingest.prepare import FileTask, Prepared, Result, fingerprint, prepare
from kebab.search.read import Reader
from tests.document_fakes import ReadingImages
from tests.document_files import DOCUMENTS
from tests.fake_formats import PLACED
from tests.fakes import FakeDocumentStore, FakeEmbeddingStore

SMALL = ChunkPolicy(target_tokens=16, overlap_tokens=4, max_tokens=32)


@dataclass(frozen=True, slots=True)
class Case:
    """A format, a file of it with several units, two of which say the same, and files that are damaged."""

    ending: str
    content: str | bytes
    kinds: frozenset[CitationKind]
    damaged: tuple[bytes, ...] = ()

    @property
    def whole(self) -> bytes:
        return self.content.encode() if isinstance(self.content, str) else self.content

    @property
    def kind(self) -> Format:
        return ALL[self.ending]


SAID = "The rope is dry and the ship is ready to sail at noon today."
ALL = {**FORMATS, ".placed": PLACED}
READING = Reading(ReadingImages())


def placed(*places: str) -> str:
    return "".join(f"@{place}\n{SAID}\n밧줄 {place}\n" for place in places)


CASES = [
    Case(".md", f"# One\n\n{SAID}\n\n# Two\n\n{SAID}\n", frozenset({CitationKind.LINE}), (b"bad\0",)),
    Case(".txt", f"{SAID}\n\n{SAID}\n\nlast words\n", frozenset({CitationKind.LINE}), (b"\xff\0",)),
    Case(
        ".srt",
        f"1\n00:00:01,000 --> 00:00:04,000\n{SAID}\n\n2\n00:01:05,000 --> 00:01:08,000\n{SAID}\n",
        frozenset({CitationKind.TIME}),
        (b"no cue at all", b"1\n00:00:01 --> nowhere\nwords\n"),
    ),
    Case(
        ".vtt",
        f"WEBVTT\n\n00:01.000 --> 00:04.000\n<v Mina>{SAID}\n\n01:05.000 --> 01:08.000\n{SAID}\n",
        frozenset({CitationKind.TIME}),
        (b"WEBVTT\n\nNOTE only this\n",),
    ),
    *(Case(*made) for made in DOCUMENTS),
    Case(
        ".py",
        f'"""{SAID}"""\n\n\ndef one():\n    return "{SAID}"\n\n\ndef one():\n    return "{SAID}"\n',
        frozenset({CitationKind.LINE, CitationKind.CODE}),
        (b"bad\0", b"# @generated\nx = 1\n"),
    ),
    Case(".placed", placed("p=1", "p=2", "p=3"), frozenset({CitationKind.PAGE}), (b"@p=x\nwords\n",)),
    Case(".placed", placed("slide=1", "slide=2"), frozenset({CitationKind.PAGE})),
    Case(".placed", placed("cell=A!A1:B9", "cell=B!A1:B9"), frozenset({CitationKind.REGION})),
    Case(".placed", placed("p=1&xywh=0,0,9,9", "p=2&xywh=0,0,9,9"), frozenset({CitationKind.REGION})),
    Case(
        ".placed", placed("xywh=0,0,9,9", "caption"), frozenset({CitationKind.REGION, CitationKind.CAPTION})
    ),
    Case(".placed", placed("t=0.000,5.000", "t=900.000,905.000"), frozenset({CitationKind.TIME})),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case.ending}-{'+'.join(sorted(case.kinds))}")
def case(request: pytest.FixtureRequest) -> Case:
    found = request.param
    assert isinstance(found, Case)
    return found


def result_of(folder: Path, case: Case, content: bytes, formats: dict[str, Format] | None = None) -> Result:
    file = folder / f"a talk{case.ending}"
    file.write_bytes(content)
    task = FileTask("notes", file.name, str(file), len(content), 0, "note", TrustLevel.PRIMARY)
    return prepare(task, SMALL, formats or ALL, reading=READING)


def prepared(folder: Path, case: Case) -> Prepared:
    found = result_of(folder, case, case.whole)
    assert isinstance(found, Prepared), found
    return found


@dataclass(frozen=True, slots=True)
class Files:
    """The files behind documents: all in one state."""

    now: SourceState = SourceState.CURRENT

    def state(self, source_id: str, path: str) -> SourceState | None:
        return self.now

    def states(self, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], SourceState | None]:
        return dict.fromkeys(places, self.now)


def reader_of(one: Prepared, files: Files = Files()) -> Reader:
    store = FakeDocumentStore()
    store.put(one.document, one.chunks, one.state)
    return Reader(store, FakeEmbeddingStore(store), files)


def test_every_format_of_the_table_has_a_case() -> None:
    assert {case.kind.media for case in CASES} >= {kind.media for kind in FORMATS.values()}


def test_blocks_are_in_order_share_no_line_and_hold_all_that_is_not_blank(case: Case) -> None:
    parsed = case.kind.parse(case.whole, Defaults("a talk", extension=case.ending, reading=READING))
    assert isinstance(parsed, Parsed)
    held = [line for block in parsed.blocks for line in range(block.start, block.end + 1)]
    assert held == sorted(set(held))
    assert {n for n in range(1, len(parsed.lines) + 1) if not parsed.lines.is_blank(n)} <= set(held)
    lined = case.kind.media in LINED
    located = [b for b in parsed.blocks if b.place is not None and not isinstance(b.place, CodeUnit)]
    assert not located if lined else len(located) == len(parsed.blocks)


def test_what_is_cited_is_what_is_fetched(case: Case, tmp_path: Path) -> None:
    one = prepared(tmp_path, case)
    reader = reader_of(one)
    kinds = set()
    for chunk in one.chunks:
        cited = reader.inspect_chunk(chunk.chunk_id).citation
        fetched = reader.fetch_citation(cited.uri)
        same = [other.text for other in one.chunks if other.place == chunk.place]
        assert (
            fetched.text == chunk.text
            if len(same) == 1 or chunk.place is None
            else chunk.text in fetched.text
        )
        assert fetched.citation == cited
        assert reader.fetch_chunk(chunk.chunk_id).citation == cited
        kinds.add(cited.kind)
    assert kinds == case.kinds


def test_a_text_without_lines_cannot_be_cited_by_them(case: Case, tmp_path: Path) -> None:
    one = prepared(tmp_path, case)
    reader = reader_of(one)
    if one.document.media in LINED:
        assert reader.fetch_span("a talk" + case.ending, 1, 1).line_end == 1
        return
    with pytest.raises(SpanNotSupported) as caught:
        reader.fetch_span("a talk" + case.ending, 1, 1)
    assert caught.value.hint is not None
    assert reader.fetch_citation(caught.value.hint.removeprefix("cite it so: ")).text


@pytest.mark.parametrize("state", list(SourceState))
def test_every_kind_of_citation_says_what_became_of_its_file(
    case: Case, tmp_path: Path, state: SourceState
) -> None:
    one = prepared(tmp_path, case)
    reader = reader_of(one, Files(state))
    for chunk in one.chunks:
        cited = reader.inspect_chunk(chunk.chunk_id).citation
        assert cited.source_state is state
        assert reader.fetch_citation(cited.uri).citation.source_state is state


def test_two_units_of_one_file_have_two_ids_even_if_they_say_the_same(case: Case, tmp_path: Path) -> None:
    one = prepared(tmp_path, case)
    assert len(one.chunks) >= 2
    assert len({chunk.chunk_id for chunk in one.chunks}) == len(one.chunks)
    blocks = [block for chunk in one.chunks for block in chunk.block_ids]
    assert len(set(blocks)) >= 2


def test_the_same_bytes_give_the_same_result(case: Case, tmp_path: Path) -> None:
    first, second = prepared(tmp_path, case), prepared(tmp_path, case)
    assert (first.chunks, first.document.doc_id) == (second.chunks, second.document.doc_id)


def test_another_parser_or_chunker_is_another_fingerprint(case: Case) -> None:
    def print_of(kind: Format) -> str:
        return fingerprint(kind, SMALL, source_type="note", trust_level=TrustLevel.PRIMARY)

    kind = case.kind
    others = [replace(kind, version="next"), replace(kind, chunker=replace(kind.chunker, version="next"))]
    assert len({print_of(kind), *map(print_of, others)}) == 3


def test_empty_and_damaged_files_end_in_a_reported_outcome(case: Case, tmp_path: Path) -> None:
    whole = case.whole
    cuts = (whole[: len(whole) * part // 10] for part in range(1, 10))
    for content in (b"", b"\n\n", *case.damaged, *cuts, whole[::-1], b"\xff" * 100):
        found = result_of(tmp_path, case, content)
        assert isinstance(found, Prepared) or found_reason(found)
    for content in case.damaged:
        assert isinstance(result_of(tmp_path, case, content), IngestItem), content


def found_reason(found: Result) -> str | None:
    return found.reason if isinstance(found, IngestItem) else None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(content=st.binary(max_size=300))
def test_no_bytes_escape_as_an_exception(case: Case, tmp_path: Path, content: bytes) -> None:
    found = result_of(tmp_path, case, content)
    assert isinstance(found, Prepared) or found_reason(found)


def test_asking_for_a_format_loads_none() -> None:
    script = (
        "import sys; from kebab.ingest.parse.formats import FORMATS;"
        "assert '.vtt' in FORMATS and len(FORMATS);"
        "print([name for name in sys.modules if name.startswith('kebab.ingest.parse.')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "subtitles" not in done.stdout
    assert "markdown" not in done.stdout
