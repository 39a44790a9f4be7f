"""The execution memory on real task records: import, search, recall, known items; Markdown on stdout.

    python -m benchmarks.memory --sizes 10000 50000 --native 10000

Commits and software tasks stand in for executions. Sizes beyond what there is are filled with copies that
lost some of their words. Queries are embedded beforehand; what that costs is told apart. "Brute force" is
the same search over everything in memory: exact cosine by numpy and BM25 over a dict.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory_brute import BruteForce
from kebab.adapters.embedders.static import StaticEmbedder
from kebab.assembly.memory import MemoryEngines
from kebab.domain.executions import Execution
from kebab.memory.embedding import model_label
from kebab.memory.room import ExecutionMemory
from kebab.ports import EmbeddingKind, MemoryKind
from kebab.search.analyze import Analyzer

PROJECT = Path(__file__).resolve().parent.parent
QUERIES = 200
HANGUL = re.compile("[가-힣]")


@dataclass(frozen=True)
class Query:
    text: str
    vector: tuple[float, ...]
    target: str
    korean: bool


def main() -> None:
    options = _options()
    records = list(real_records(options.data))
    embedder = StaticEmbedder()
    print(f"{len(records)} real records, {embedder.model_id}, {embedder.dimensions} dimensions\n")
    print(
        "| records | way | import /s (a CPU second) | leg | p50 ms | p95 ms | recall@10 |"
        "\n|---|---|---|---|---|---|---|"
    )
    kept: list[str] = []
    for size in options.sizes:
        ways = ["derived", *(["native"] if size <= options.native else [])]
        executions = _embedded(_filled(records, size), embedder)
        queries = _queries(executions[: len(records)], embedder)
        brute = _print_brute(executions, queries)
        for way in ways:
            kept += _print_way(way, executions, queries, brute)
    print("\n| records | way | leg | English in top 5 | Korean in top 5 | all |\n|---|---|---|---|---|---|")
    print("\n".join(kept))
    _print_bulk(records[:2000], embedder)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument(
        "--native", type=int, default=10_000, help="largest size for the engine's own indexes"
    )
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    return parser.parse_args()


# --- records ---------------------------------------------------------------------------------------


def real_records(data: Path) -> Iterator[Execution]:
    with tarfile.open(data / "git-commits-10k.tar.gz") as archive:
        member = archive.extractfile("git-commits-10k/corpus.jsonl")
        assert member is not None
        for line in member:
            yield _commit(json.loads(line))
    with (data / "swebench-lite" / "corpus.jsonl").open(encoding="utf-8") as lines:
        for text in lines:
            yield _task(json.loads(text))


def _commit(row: dict[str, str]) -> Execution:
    text = row["text"]
    repository = re.search(r"Repository: (\S+)", text)
    date = re.search(r"Date: (\S+)", text)
    files = re.search(r"Files changed \(\d+\): (.*)", text)
    body = re.sub(r"(Repository|Date|Files changed \(\d+\)): .*", "", text).strip()
    finished = datetime.fromisoformat(date[1]) if date else datetime(2024, 1, 1, tzinfo=UTC)
    documents = tuple(filter(None, files[1].split(", ")))[:5] if files else ()
    return _execution(
        row["id"], f"{row['title']}\n{body}", repository[1] if repository else "?", finished, documents
    )


def _task(row: dict[str, str]) -> Execution:
    kind = re.search(r"Repository: (\S+)", row["text"])
    finished = datetime(2024, 1, 1, tzinfo=UTC)
    return _execution(row["id"], row["text"][:2000], kind[1] if kind else "?", finished, ())


def _execution(
    key: str, description: str, kind: str, finished: datetime, documents: tuple[str, ...]
) -> Execution:
    dice = random.Random(key)
    latency = dice.randrange(1_000, 600_000)
    return Execution(
        id=key,
        agent_id=f"agent-{dice.randrange(20)}",
        agent_role=dice.choice(["coder", "reviewer", None]),
        task_id=key,
        task_type=kind,
        task_description=description,
        success=dice.random() < 0.8,
        quality_score=dice.random(),
        latency_ms=latency,
        cost_cents=dice.randrange(100),
        provider=dice.choice(["local", "remote"]),
        started_at=finished - timedelta(milliseconds=latency),
        finished_at=finished,
        documents_used=documents,
    )


def _filled(records: Sequence[Execution], size: int) -> list[Execution]:
    """The first ``size`` records, or all and copies that lost a third of their words."""
    dice = random.Random(3)
    filled = list(records[:size]) if size < len(records) else list(records)
    while len(filled) < size:
        original = records[len(filled) % len(records)]
        words = [word for word in original.task_description.split() if dice.random() > 0.33]
        text = " ".join(words) or original.task_description
        filled.append(replace(original, id=f"{original.id}-{len(filled)}", task_description=text))
    return filled


def _embedded(records: Sequence[Execution], embedder: StaticEmbedder) -> list[Execution]:
    vectors = embedder.embed([item.task_description for item in records], EmbeddingKind.DOCUMENT)
    label = model_label(embedder)
    return [
        replace(item, embedding=tuple(vector.tolist()), embedding_model=label) if vector.any() else item
        for item, vector in zip(records, vectors, strict=True)
    ]


def _queries(records: Sequence[Execution], embedder: StaticEmbedder) -> list[Query]:
    """Paraphrases of sampled records: two words in five dropped, the others in another order."""
    dice = random.Random(11)
    korean = [item for item in records if HANGUL.search(item.task_description)]
    sample = dice.sample(list(records), QUERIES) + dice.sample(korean, min(QUERIES, len(korean)))
    texts = [_paraphrase(item.task_description, dice) for item in sample]
    vectors = embedder.embed(texts, EmbeddingKind.QUERY)
    return [
        Query(text, tuple(vector.tolist()), item.id, HANGUL.search(item.task_description) is not None)
        for text, vector, item in zip(texts, vectors, sample, strict=True)
    ]


def _paraphrase(text: str, dice: random.Random) -> str:
    words = text.split()[:40]
    kept = dice.sample(words, max(1, round(len(words) * 0.6)))
    return " ".join(kept)


# --- measuring -------------------------------------------------------------------------------------


def open_memory(
    folder: Path, way: str = "derived", *, embedder: StaticEmbedder | None = None
) -> ExecutionMemory:
    """The memory of a data folder, as the product opens it."""
    from kebab.config.sections import Memory

    analyzer = Analyzer()
    search: Any = way
    engines = MemoryEngines(Memory(search=search), folder=folder, analyzer=analyzer, readonly=False)
    return ExecutionMemory(
        engines.store,
        engines.index(MemoryKind.EXECUTIONS),
        engines.index(MemoryKind.TASKS),
        StaticEmbedder() if embedder is None else embedder,
        analyzer,
    )


def _print_way(way: str, executions: list[Execution], queries: list[Query], brute: BruteForce) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="kebab-memory-") as folder:
        memory = open_memory(Path(folder), way)
        began, worked = time.perf_counter(), time.process_time()
        memory.record_many(executions)
        rate = len(executions) / (time.perf_counter() - began)
        busy = len(executions) / (time.process_time() - worked)
        searches: dict[str, Callable[[Query], list[str]]] = {
            "similar": lambda query: _ids(
                memory.find_similar_executions(embedding=query.vector, min_score=0)
            ),
            "words": lambda query: _ids(memory.search_words(query.text, min_score=0)),
            "hybrid": lambda query: _ids(
                memory.hybrid_search(query.text, embedding=query.vector, min_score=0)
            ),
        }
        kept = _print_searches(
            f"{len(executions)} | {way} | {rate:,.0f} ({busy:,.0f})", searches, queries, brute
        )
        memory.close()
    return [f"| {len(executions)} | {way} | {line}" for line in kept]


def _print_brute(executions: list[Execution], queries: list[Query]) -> BruteForce:
    brute = BruteForce(executions, Analyzer())
    searches: dict[str, Callable[[Query], list[str]]] = {
        "similar": lambda query: brute.nearest(query.vector, 10),
        "words": lambda query: brute.words(query.text, 10),
        "hybrid": lambda query: brute.hybrid(query.text, query.vector, 10),
    }
    _print_searches(f"{len(executions)} | brute force | –", searches, queries, brute)
    return brute


def _print_searches(
    head: str,
    searches: dict[str, Callable[[Query], list[str]]],
    queries: list[Query],
    brute: BruteForce,
) -> list[str]:
    kept = []
    for leg, search in searches.items():
        for query in queries[:5]:
            search(query)
        times, found = [], []
        for query in queries:
            began = time.perf_counter()
            found.append(search(query))
            times.append((time.perf_counter() - began) * 1000)
        recall = f"{_recall(found, queries, brute):.4f}" if leg == "similar" else ""
        p50, p95 = statistics.median(times[:QUERIES]), np.percentile(times[:QUERIES], 95)
        print(f"| {head} | {leg} | {p50:.1f} | {p95:.1f} | {recall} |", flush=True)
        kept.append(f"{leg} | {_known_items(found, queries)} |")
    return kept


def _recall(found: list[list[str]], queries: list[Query], brute: BruteForce) -> float:
    """Share of the exact ten nearest that were found; a tie at the tenth place counts as found."""
    shares = [brute.share_of_nearest(query.vector, ids) for query, ids in zip(queries, found, strict=True)]
    return statistics.mean(shares)


def _known_items(found: list[list[str]], queries: list[Query]) -> str:
    """The first QUERIES are a plain sample; the Korean column adds the Korean sample to it."""
    hits = [query.target in ids[:5] for query, ids in zip(queries, found, strict=True)]
    plain = list(zip(queries, hits, strict=True))[:QUERIES]
    english = [hit for query, hit in plain if not query.korean]
    korean = [hit for query, hit in zip(queries, hits, strict=True) if query.korean]
    every = [hit for _, hit in plain]
    return " | ".join(
        f"{sum(part)}/{len(part)} = {sum(part) / len(part):.1%}" for part in (english, korean, every)
    )


def _ids(found: object) -> list[str]:
    return [hit.execution.id for hit in found.hits]  # type: ignore[attr-defined]


def _print_bulk(records: Sequence[Execution], embedder: StaticEmbedder) -> None:
    """Import of ndjson without vectors, as a user does it: parsing and embedding included."""
    from kebab.memory.shape import to_json

    lines = [json.dumps(to_json(item), ensure_ascii=False) for item in records]
    with tempfile.TemporaryDirectory(prefix="kebab-memory-") as folder:
        memory = open_memory(Path(folder), embedder=embedder)
        began = time.perf_counter()
        report = memory.import_lines(lines)
        took = time.perf_counter() - began
        began = time.perf_counter()
        for query in records[:200]:
            embedder.embed([query.task_description[:200]], EmbeddingKind.QUERY)
        embed_ms = (time.perf_counter() - began) * 1000 / 200
        memory.close()
    print(
        f"\nndjson import with embedding: {report.recorded / took:,.0f} records/s; {embed_ms:.1f} ms a query"
    )


if __name__ == "__main__":
    main()
