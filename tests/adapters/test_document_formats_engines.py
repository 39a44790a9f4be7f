"""Every format on the real engines: found, cited, fetched, replaced when it changes, told of when bad."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kebab.domain.ingests import Outcome
from kebab.domain.reports import CheckStatus
from kebab.ingest.parse.formats import ANY, FORMATS
from tests.document_files import (
    DOCUMENTS,
    bear_note,
    docx_file,
    docx_paragraph,
    epub_file,
    hwpx_file,
    jex_file,
    joplin_record,
    mail_file,
    notebook_file,
    odt_file,
    pdf_file,
    pdf_page,
    pptx_file,
    pptx_shape,
    xlsx_file,
    zipped,
)
from tests.faults.conftest import make_base

pytestmark = pytest.mark.slow

INSTALLED = [made for made in DOCUMENTS if made[0] not in (".png", ".wav")]
"""Images and recordings have tests of their own."""

MADE: dict[str, Callable[[str], bytes | str]] = {
    ".html": lambda words: f"<p>{words}</p>",
    ".pdf": lambda words: pdf_file([pdf_page(words)]),
    ".docx": lambda words: docx_file(docx_paragraph(words)),
    ".pptx": lambda words: pptx_file([pptx_shape(words)]),
    ".xlsx": lambda words: xlsx_file({"One": [["knot", "use"], ["bowline", words]]}),
    ".csv": lambda words: f"knot,use\nbowline,{words}\n",
    ".epub": lambda words: epub_file([f"<p>{words}</p>"]),
    ".odt": lambda words: odt_file(f"<text:p>{words}</text:p>"),
    ".hwpx": lambda words: hwpx_file(words),
    ".ipynb": lambda words: notebook_file(("markdown", words)),
    ".eml": lambda words: mail_file(body=words),
    ".org": lambda words: f"* Ropes\n{words}\n",
    ".canvas": lambda words: f'{{"nodes": [{{"type": "text", "text": "{words}"}}]}}',
    ".opml": lambda words: f'<opml><body><outline text="{words}"/></body></opml>',
    ".jsonl": lambda words: f'{{"role": "user", "content": "{words}"}}\n',
    ".md": lambda words: f"# Ropes\n\n{words}\n",
    ".srt": lambda words: f"1\n00:00:01,000 --> 00:00:04,000\n{words}\n",
    ".vtt": lambda words: f"WEBVTT\n\n00:01.000 --> 00:04.000\n{words}\n",
    ".tsv": lambda words: f"knot\tuse\nbowline\t{words}\n",
    ".rst": lambda words: f"Ropes\n=====\n\n{words}\n",
    ".adoc": lambda words: f"= Ropes\n\n{words}\n",
    ".tex": lambda words: f"\\section{{Ropes}}\n{words}\n",
    ".mbox": lambda words: b"From a@example.org Mon\n" + mail_file(body=words),
    ".enex": lambda words: (
        f"<en-export><note><content><![CDATA[<p>{words}</p>]]></content></note></en-export>"
    ),
    ".textpack": lambda words: zipped(bear_note(words)),
    ".bearnote": lambda words: zipped(bear_note(words)),
    ".jex": lambda words: jex_file(joplin_record("Ropes", words, name="a")),
    ".py": lambda words: f"def rope():\n    # {words}\n    return 1\n",
    ".odd": lambda words: f"{words}\n",
}


def test_what_is_found_in_any_format_is_cited_and_fetched_as_it_was_indexed(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=0)
    for number, (ending, content, _, _) in enumerate(INSTALLED):
        base.write(f"f{number}{ending}", content)
    with base.open(models__embedding__provider="none") as kb:
        assert kb.ingest().run.indexed == len(INSTALLED)
        for number, (ending, _, kinds, _) in enumerate(INSTALLED):
            found = kb.inspect_doc(f"f{number}{ending}")
            for stored in found.chunks:
                cited = kb.inspect_chunk(stored.chunk.chunk_id).citation
                assert cited.kind in kinds
                assert stored.chunk.text in kb.fetch_citation(cited.uri).text
        assert [check for check in kb.doctor().checks if check.status is not CheckStatus.OK] == []


def test_an_edited_file_of_any_format_replaces_what_it_said(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=0)
    with base.open(models__embedding__provider="none") as kb:
        for words in ("zanzibar", "quetzal"):
            for ending, make in MADE.items():
                base.write(f"file{ending}", make(words))
            assert kb.ingest().run.indexed == len(MADE)
            assert {hit.doc_path for hit in kb.search(words, k=50).hits} == {
                f"file{ending}" for ending in MADE
            }
        assert kb.search("zanzibar").hits == ()
        assert kb.ingest().run.unchanged == len(MADE)


def test_damaged_files_of_any_format_are_told_of_and_stop_nothing(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=2)
    names = []
    for ending, _, _, damaged in INSTALLED:
        for number, content in enumerate(damaged):
            names.append(f"bad{number}{ending}")
            base.write(names[-1], content)
    with base.open(models__embedding__provider="none") as kb:
        report = kb.ingest()
    assert (report.run.indexed, report.run.failed) == (2, 0)
    skipped = {item.path: item.reason for item in report.items if item.outcome is Outcome.SKIPPED}
    assert set(skipped) == set(names)
    assert all(skipped.values())


def test_an_empty_file_of_any_extension_is_told_of_and_fails_nothing(tmp_path: Path) -> None:
    base = make_base(tmp_path, notes=1)
    names = [f"empty{ending}" for ending in FORMATS if ending != ANY]
    for name in names:
        base.write(name, b"")
    with base.open(models__embedding__provider="none") as kb:
        report = kb.ingest()
    assert report.run.failed == 0
    assert set(names) <= {item.path for item in report.items}
