"""The execution memory beside agent-memory packages that run without a model of their own.

    KEBAB_BENCH_PEERS=OTHER/bin/python python -m benchmarks.memory_peers --records 5000

``KEBAB_BENCH_PEERS`` names a Python that can import ``langgraph.store.sqlite`` or ``mem0`` (with faiss); what
it lacks is left out. All of them get the same texts and the same vectors of our model: what differs is
the store and the search. Each adds every record by the call that an agent uses, one at a time, then answers
the same queries; one process each, warm. kebab searches by words and by meaning, the others by meaning alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
TOP = 5

Add = Callable[[str, str], object]
Search = Callable[[str], list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=5_000)
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--peer", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        print(json.dumps(measured(PEERS[options.peer[0]], Path(options.peer[1]))))
        return
    with tempfile.TemporaryDirectory(prefix="kebab-peers-") as work:
        _prepare(Path(work), options.data, options.records)
        print("| memory | add ms p50 (p95) | search ms p50 (p95) | known item in the first five |")
        print("|---|---|---|---|", flush=True)
        for name, python in _runs().items():
            _print(name, python, Path(work))


def _runs() -> dict[str, str]:
    runs = {"kebab": sys.executable}
    if other := os.environ.get("KEBAB_BENCH_PEERS"):
        runs |= {"langgraph": other, "mem0": other}
    return runs


def _print(name: str, python: str, work: Path) -> None:
    command = [python, "-m", "benchmarks.memory_peers", "--peer", name, str(work)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"| {name} | not measured: {done.stderr.strip().splitlines()[-1][:90]} | | |", flush=True)
        return
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    cells = [f"{middle:.1f} ({late:.1f})" for middle, late in (found["add"], found["search"])]
    print(f"| {found['name']} | {' | '.join(cells)} | {found['known']:.1%} |", flush=True)


def _prepare(work: Path, data: Path, size: int) -> None:
    """The records, the queries and a vector for each text, for whatever Python reads them."""
    import numpy as np

    from benchmarks.memory import _queries, real_records
    from kebab.adapters.embedders.static import StaticEmbedder
    from kebab.ports import EmbeddingKind

    records = list(real_records(data))[:size]
    queries = _queries(records, StaticEmbedder())[:200]
    texts = [item.task_description for item in records]
    vectors = StaticEmbedder().embed(texts, EmbeddingKind.DOCUMENT)
    np.save(work / "vectors.npy", np.concatenate([vectors, np.array([query.vector for query in queries])]))
    known = {
        "records": [(item.id, item.task_description) for item in records],
        "queries": [(query.text, query.target) for query in queries],
    }
    (work / "known.json").write_text(json.dumps(known), encoding="utf-8")


def measured(opened: Callable[[Path, dict[str, Any]], tuple[str, Add, Search]], work: Path) -> dict[str, Any]:
    import numpy as np

    known = json.loads((work / "known.json").read_text(encoding="utf-8"))
    texts = [text for _, text in known["records"]] + [text for text, _ in known["queries"]]
    name, add, search = opened(work, dict(zip(texts, np.load(work / "vectors.npy"), strict=True)))
    adding = [_timed(partial(add, key, text))[0] for key, text in known["records"]]
    search(known["queries"][0][0])
    found = [(_timed(partial(search, text)), target) for text, target in known["queries"]]
    return {
        "name": name,
        "add": _spread(adding),
        "search": _spread([spent for (spent, _), _ in found]),
        "known": statistics.mean(target in ids[:TOP] for (_, ids), target in found),
    }


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = call()
    return 1000 * (time.perf_counter() - began), result


def _spread(times: list[float]) -> tuple[float, float]:
    return statistics.median(times), sorted(times)[int(0.95 * len(times))]


def _kebab(work: Path, vectors: dict[str, Any]) -> tuple[str, Add, Search]:
    from dataclasses import replace
    from datetime import UTC, datetime

    from benchmarks.memory import _execution, open_memory
    from kebab.adapters.embedders.static import StaticEmbedder
    from kebab.memory.embedding import model_label

    memory = open_memory(work / "kebab")
    label = model_label(StaticEmbedder())

    def add(key: str, text: str) -> None:
        vector = tuple(map(float, vectors[text]))
        run = _execution(key, text, "?", datetime.now(UTC), ())
        memory.record(replace(run, embedding=vector, embedding_model=label))

    def search(text: str) -> list[str]:
        found = memory.hybrid_search(text, embedding=tuple(map(float, vectors[text])), limit=TOP, min_score=0)
        return [hit.execution.id for hit in found.hits]

    return "kebab, hybrid", add, search


def _langgraph(work: Path, vectors: dict[str, Any]) -> tuple[str, Add, Search]:
    from importlib.metadata import version

    from langgraph.store.sqlite import SqliteStore

    index: Any = {
        "dims": len(next(iter(vectors.values()))),
        # It hands over the whole value as JSON.
        "embed": lambda texts: [vectors[_plain(text)].tolist() for text in texts],
    }
    connection = sqlite3.connect(work / "langgraph.sqlite", check_same_thread=False, isolation_level=None)
    store = SqliteStore(connection, index=index)
    store.setup()
    name = f"langgraph SqliteStore {version('langgraph-checkpoint-sqlite')}"
    return (
        name,
        lambda key, text: store.put(("runs",), key, {"text": text}),
        lambda text: [item.key for item in store.search(("runs",), query=text, limit=TOP)],
    )


def _plain(text: str) -> str:
    return str(json.loads(text)["text"]) if text.startswith('{"text"') else text


def _mem0(work: Path, vectors: dict[str, Any]) -> tuple[str, Add, Search]:
    from importlib.metadata import version

    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(work / "mem0"), "OPENAI_API_KEY": "none"}
    from mem0 import Memory

    dimensions = len(next(iter(vectors.values())))
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "faiss",
                "config": {"path": str(work / "faiss"), "embedding_model_dims": dimensions},
            },
            "history_db_path": str(work / "history.db"),
        }
    )
    memory.embedding_model.embed = lambda text, *_, **__: vectors[text].tolist()
    memory.embedding_model.embed_batch = lambda texts, *_, **__: [vectors[text].tolist() for text in texts]

    def search(text: str) -> list[str]:
        found = memory.search(text, filters={"agent_id": "one"}, top_k=TOP)
        return [item["metadata"]["key"] for item in found["results"]]

    return (
        f"mem0 {version('mem0ai')}, faiss",
        lambda key, text: memory.add(text, agent_id="one", infer=False, metadata={"key": key}),
        search,
    )


PEERS: dict[str, Callable[[Path, dict[str, Any]], tuple[str, Add, Search]]] = {
    "kebab": _kebab,
    "langgraph": _langgraph,
    "mem0": _mem0,
}

if __name__ == "__main__":
    main()
