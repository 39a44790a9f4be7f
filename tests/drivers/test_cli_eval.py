"""``kebab eval`` as people run it: real processes, a real collection made on the spot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOPICS = {
    "tea": "Green tea is steeped at eighty degrees for two minutes.",
    "bike": "Oil the bicycle chain after every ride in the rain.",
    "moon": "달은 지구를 한 달에 한 바퀴 돈다.",
    "bread": "Let the dough rest over night in the fridge.",
}


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    corpus = [{"id": f"{key} #1", "title": key, "text": text} for key, text in TOPICS.items()]
    queries = {
        "q1": "steeped green tea",
        "q2": "bicycle chain oil",
        "q3": "달은 지구를",
        "q4": "zzz unheard of",
    }
    qrels = "query-id\tcorpus-id\tscore\nq1\ttea #1\t1\nq2\tbike #1\t1\nq3\tmoon #1\t1\nq4\tbread #1\t1\n"
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), encoding="utf-8")
    lines = [json.dumps({"id": key, "text": text}) for key, text in queries.items()]
    (folder / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return folder


def kebab(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command with words alone, on a configuration of its own."""
    config = tmp_path / "config.toml"
    if not config.exists():
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes" / "tea.md").write_text(f"# Tea\n\n{TOPICS['tea']}\n", encoding="utf-8")
        config.write_text(
            'workspace.root = "notes"\nstorage.data_dir = "data"\nmodels.embedding.provider = "none"\n',
            encoding="utf-8",
        )
    command = [str(Path(sys.executable).with_name("kebab")), *arguments, "--config", str(config)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"}
    )


def test_a_collection_is_scored_in_one_command(tmp_path: Path, collection: Path) -> None:
    done = kebab(tmp_path, "eval", "run", "--collection", str(collection), "--mode", "lexical", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["schema_version"] == "eval_report.v1"
    wanted = {"nDCG@10", "R@100", "MRR@10", "hit@1", "hit@3", "hit@5", "hit@10", "p50_ms", "p95_ms"}
    assert wanted <= report["metrics"].keys()
    assert report["metrics"]["hit@1"] == 0.75
    assert {s["query_id"]: s["first_rank"] for s in report["scores"]} == {
        "q1": 1,
        "q2": 1,
        "q3": 1,
        "q4": None,
    }
    assert report["scores"][0]["found"][0] == "tea #1"


def test_a_floor_decides_the_exit_code(tmp_path: Path, collection: Path) -> None:
    arguments = ("eval", "run", "--collection", str(collection), "--mode", "lexical")
    assert kebab(tmp_path, *arguments, "--floor", "hit@1=0.7").returncode == 0
    missed = kebab(tmp_path, *arguments, "--floor", "hit@1=0.8")
    assert missed.returncode == 1
    assert "below the floor: hit@1 0.7500" in missed.stderr


def test_two_saved_reports_are_compared(tmp_path: Path, collection: Path) -> None:
    saved = tmp_path / "run.json"
    done = kebab(tmp_path, "eval", "run", "--collection", str(collection), "--mode", "lexical", "--json")
    saved.write_text(done.stdout, encoding="utf-8")
    compared = kebab(tmp_path, "eval", "compare", str(saved), str(saved), "--json")
    assert compared.returncode == 0, compared.stderr
    comparison = json.loads(compared.stdout)
    assert comparison["schema_version"] == "eval_comparison.v1"
    assert comparison["unchanged"] == 4
    assert comparison["differences"][0]["difference"] == 0


def test_runs_are_kept_in_the_knowledge_base_and_compared_by_id(tmp_path: Path, collection: Path) -> None:
    assert kebab(tmp_path, "ingest").returncode == 0
    for _ in range(2):
        kebab(tmp_path, "eval", "run", "--collection", str(collection), "--mode", "lexical")
    runs = json.loads(kebab(tmp_path, "eval", "list", "--json").stdout)["runs"]
    assert len(runs) == 2
    compared = kebab(tmp_path, "eval", "compare", runs[1]["run_id"][:8], runs[0]["run_id"])
    assert compared.returncode == 0, compared.stderr
    assert "unchanged: 4" in compared.stdout


def test_an_imported_collection_is_evaluated_like_ones_own_notes(tmp_path: Path, collection: Path) -> None:
    target = tmp_path / "imported"
    done = kebab(tmp_path, "eval", "import", str(collection), str(target))
    assert done.returncode == 0, done.stderr
    arguments = ("--golden", str(target / "golden.yaml"), "--root", str(target / "documents"))
    ran = kebab(tmp_path, "eval", "run", *arguments, "--mode", "lexical", "--json")
    assert json.loads(ran.stdout)["metrics"]["hit@1"] == 0.75
    assert kebab(tmp_path, "eval", "import", str(collection), str(target)).returncode == 2


def test_a_golden_file_over_the_knowledge_base_names_what_it_lacks(tmp_path: Path) -> None:
    golden = tmp_path / "golden.yaml"
    golden.write_text(
        "- {id: a, query: green tea, expect: {paths: [tea.md]}}\n"
        "- {id: b, query: coffee, expect: {paths: [coffee.md]}}\n",
        encoding="utf-8",
    )
    assert kebab(tmp_path, "ingest").returncode == 0
    done = kebab(tmp_path, "eval", "run", "--golden", str(golden), "--mode", "lexical", "--json")
    assert done.returncode == 2
    error = json.loads(done.stderr)
    assert error["code"] == "invalid_input"
    assert "coffee.md" in error["message"]


def test_a_report_is_written_as_html(tmp_path: Path, collection: Path) -> None:
    file = tmp_path / "report.html"
    arguments = ("eval", "run", "--collection", str(collection), "--mode", "lexical", "--report", str(file))
    assert kebab(tmp_path, *arguments).returncode == 0
    assert "<svg" in file.read_text("utf-8")


def test_neither_or_both_sources_of_queries_is_a_usage_error(tmp_path: Path, collection: Path) -> None:
    done = kebab(tmp_path, "eval", "run")
    assert done.returncode == 2
    assert "--collection" in done.stderr


def test_the_notes_of_a_folder_are_looked_for_by_what_they_are_called(tmp_path: Path) -> None:
    notes = tmp_path / "kitchen"
    notes.mkdir()
    for name in ("bread", "pasta"):
        (notes / f"{name}.md").write_text(f"# {name.title()}\n\nHow to make {name} at home.\n")
    done = kebab(tmp_path, "eval", "names", str(notes), "--json")
    report = json.loads(done.stdout)
    assert report["schema_version"] == "eval_names.v1"
    assert (report["name"], report["documents"]) == ("kitchen", 2)
    shown = {row["kind"]: row["hit_1"] for row in report["rows"]}
    assert shown["title"] == shown["file stem"] == 1.0
    listed = kebab(tmp_path, "eval", "names", str(notes), "--missed")
    assert "title\t2\t1.00" in listed.stdout


BOUGHT = (
    "kettle",
    "drill",
    "tent",
    "piano",
    "ladder",
    "printer",
    "scooter",
    "toaster",
    "lamp",
    "sofa",
    "clock",
)
WISHED = (
    "yacht",
    "castle",
    "rocket",
    "tiara",
    "vineyard",
    "island",
    "statue",
    "harp",
    "tractor",
    "opal",
    "sword",
)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Receipts, which share little with a question about them; and questions about things nobody bought."""
    notes = tmp_path / "receipts"
    notes.mkdir()
    asked = []
    for number, (bought, wished) in enumerate(zip(BOUGHT, WISHED, strict=True)):
        price = 40 + 7 * number
        text = f"# Receipt\n\nShop by the station, number {number}, {bought}, EUR {price}.\n"
        (notes / f"receipt-{number}.md").write_text(text, encoding="utf-8")
        asked.append(
            f'- {{question: "How much money did the shop take for our new {bought}?", gold: EUR {price}}}'
        )
        asked.append(f'- {{question: "How much money did the shop take for our new {wished}?"}}')
    file = tmp_path / "mine.yaml"
    file.write_text(f"root: {notes}\nquestions:\n" + "\n".join(asked) + "\n", encoding="utf-8")
    return file


def test_answers_are_tuned_on_ones_own_questions_and_the_weights_are_used(
    tmp_path: Path, questions: Path
) -> None:
    target = tmp_path / "weights.json"
    done = kebab(tmp_path, "eval", "tune", "--questions", str(questions), "--write", str(target), "--json")
    told = json.loads(done.stdout)
    assert told["schema_version"] == "eval_answer_tuning.v1"
    assert done.returncode == (0 if told["better"] else 1), done.stderr
    assert target.exists() == told["better"] == (told["written"] is not None)
    assert told["better"], told
    assert told["after"]["sorted"] > told["before"]["sorted"]
    config = tmp_path / "config.toml"
    config.write_text(f'{config.read_text()}\n[rag]\nweights = "{target}"\n', encoding="utf-8")
    asked = kebab(tmp_path, "eval", "answers", str(questions), "--json")
    row = json.loads(asked.stdout)["rows"][0]
    assert row["recall"]["value"] >= told["before"]["sorted"]


def test_too_few_questions_to_tune_on_are_an_error_and_nothing_is_written(
    tmp_path: Path, questions: Path
) -> None:
    lines = questions.read_text(encoding="utf-8").splitlines()
    questions.write_text("\n".join(lines[:10]) + "\n", encoding="utf-8")
    target = tmp_path / "weights.json"
    done = kebab(tmp_path, "eval", "tune", "--questions", str(questions), "--write", str(target))
    assert done.returncode == 2
    assert "too few to learn from" in done.stderr
    assert not target.exists()
