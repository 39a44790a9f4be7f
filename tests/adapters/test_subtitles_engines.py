"""Subtitles on the real engines: found, cited by their time, fetched, checked and moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.domain.citations import CitationKind
from kebab.domain.reports import CheckStatus
from kebab.errors import SpanNotSupported
from tests.faults.conftest import Base, make_base

pytestmark = pytest.mark.slow

SRT = (
    "1\n00:00:01,000 --> 00:00:04,000\nThe rope is dry.\n\n"
    "2\n00:02:00,000 --> 00:02:03,500\n밧줄을 다시 묶는다.\nWe tie the knot again.\n"
)


@pytest.fixture
def base(tmp_path: Path) -> Base:
    made = make_base(tmp_path, notes=2)
    # The same bytes three times: by name they are two talks, and a note about subtitles.
    for name in ("talk.srt", "copy.srt", "as-text.txt"):
        made.write(name, SRT)
    with made.open() as kb:
        assert kb.ingest().run.indexed == 5
    return made


def talk_of(kb: Kebab) -> str:
    return next(doc.doc_id for doc in kb.list_docs() if doc.path == "talk.srt")


def test_what_is_said_is_found_and_cited_by_its_time(base: Base) -> None:
    with base.open() as kb:
        hit = next(hit for hit in kb.search("tie the knot").hits if hit.doc_path == "talk.srt")
        assert hit.citation.kind is CitationKind.TIME
        assert hit.citation.uri == "talk.srt#t=120.000,123.500"
        fetched = kb.fetch_citation(hit.citation.uri)
        assert fetched.text == "밧줄을 다시 묶는다.\nWe tie the knot again."
        assert kb.fetch_citation("talk.srt#t=121").text == fetched.text
        assert kb.fetch_doc("talk.srt").text == "The rope is dry.\n" + fetched.text
        with pytest.raises(SpanNotSupported):
            kb.fetch_span("talk.srt", 1, 2)


def test_the_same_bytes_keep_a_text_for_each_parser(base: Base) -> None:
    with base.open() as kb:
        assert kb.fetch_doc("as-text.txt").text.startswith("1\n00:00:01,000")
        (base.root / "as-text.txt").unlink()
        (base.root / "copy.srt").unlink()
        kb.ingest()
        assert kb.fetch_doc("talk.srt").text.startswith("The rope")
        assert [check for check in kb.doctor().checks if check.status is not CheckStatus.OK] == []


def test_a_changed_file_makes_its_citations_stale(base: Base) -> None:
    with base.open() as kb:
        uri = "talk.srt#t=1.000,4.000"
        assert not kb.fetch_citation(uri).stale
        base.write("talk.srt", SRT.replace("dry", "wet"))
        assert kb.fetch_citation(uri).stale


def test_subtitles_travel_in_a_bundle(base: Base, tmp_path: Path) -> None:
    bundle = tmp_path / "all.kebab"
    with base.open() as kb:
        kb.export_bundle(bundle)
    with make_base(tmp_path / "other", notes=0).open() as kb:
        kb.import_bundle(bundle)
        assert kb.fetch_citation("talk.srt#t=1.000,4.000").text == "The rope is dry."
        assert kb.doctor().healthy
