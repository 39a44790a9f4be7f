"""Reading standard collections and turning them into files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kebab.errors import InvalidInput
from kebab.evaluate import collections, golden

CORPUS = [
    {"id": "a/../b #1", "title": "Ownership", "text": "Each value has an owner."},
    {"id": "2", "title": "", "text": "제목 없는 글"},
    {"_id": "3", "title": "Traits", "text": "# Traits\n\nShared behaviour."},
]
QUERIES = [{"id": "q1", "text": "who owns"}, {"id": "q2", "text": "제목"}, {"id": "q3", "text": "unjudged"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\ta/../b #1\t2\nq1\t2\t0\nq2\t2\t1\n"


def collection(folder: Path, *, qrels: str = QRELS, corpus: list[dict[str, str]] | None = None) -> Path:
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in corpus or CORPUS)
    (folder / "corpus.jsonl").write_text(lines, encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, QUERIES)), encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return folder


def test_judgements_become_graded_targets_and_unjudged_queries_are_left_out(tmp_path: Path) -> None:
    read = collections.read(collection(tmp_path))
    assert {q.query_id: dict(q.targets) for q in read.queries.queries} == {
        "q1": {"a/../b #1": 2},
        "q2": {"2": 1},
    }
    assert [d.key for d in read.documents] == ["a/../b #1", "2", "3"]


def test_a_header_is_optional_and_trec_columns_are_understood(tmp_path: Path) -> None:
    read = collections.read(collection(tmp_path, qrels="q1\t0\t2\t1\nq2\t0\t3\t1\n"))
    assert [dict(q.targets) for q in read.queries.queries] == [{"2": 1}, {"3": 1}]


def test_documents_are_written_inside_the_folder_whatever_their_ids(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    keys = collections.write_documents(collections.read(collection(source)), target)
    written = {path.relative_to(target).as_posix(): path.read_text("utf-8") for path in target.rglob("*.md")}
    assert set(written) == set(keys)
    by_key = {keys[path]: text for path, text in written.items()}
    assert by_key["a/../b #1"] == "# Ownership\n\nEach value has an owner."
    assert by_key["2"] == "제목 없는 글"
    assert by_key["3"] == "# Traits\n\nShared behaviour."


def test_the_golden_file_of_a_collection_reads_back(tmp_path: Path) -> None:
    read = collections.read(collection(tmp_path))
    keys = collections.write_documents(read, tmp_path / "out")
    collections.write_golden(read, keys, tmp_path / "golden.yaml")
    entries = golden.read(tmp_path / "golden.yaml")
    assert [(e.id, e.query) for e in entries] == [("q1", "who owns"), ("q2", "제목")]
    assert {keys[path] for e in entries for path in e.expect.paths} == {"a/../b #1", "2"}


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        ("q1\tnowhere\t1\n", "nowhere"),
        ("q1\t2\n", "separated by tabs"),
        ("q1\t2\t1\nq1\t2\tmuch\n", r"qrels\.tsv:2"),
        ("q1\t2\t0\n", "no query"),
    ],
)
def test_a_bad_judgement_is_told_with_its_line(tmp_path: Path, qrels: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        collections.read(collection(tmp_path, qrels=qrels))


def test_a_missing_file_and_a_repeated_id_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"corpus\.jsonl"):
        collections.read(tmp_path)
    with pytest.raises(InvalidInput, match="stands twice"):
        collections.read(collection(tmp_path, corpus=[*CORPUS, CORPUS[0]]))
