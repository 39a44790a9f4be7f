"""``Kebab.search`` on real notes, in every way that it is used: what ``benchmarks.run`` starts as a process.

python -m benchmarks.searching measure FOLDER    # one round; prints one JSON object
python -m benchmarks.searching rate FOLDER       # searches a second of this process
python -m benchmarks.searching write FOLDER      # changes a note and ingests it, until killed

FOLDER holds ``notes``, ``data`` and ``queries.json``.
"""

from __future__ import annotations

import heapq
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic import Block, Floats
from kebab import Kebab
from kebab.domain.ids import ChunkId
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import Locked
from kebab.ingest.lean import leaning
from kebab.ports import Embedder, EmbeddingKind, ModelKey

PROJECT = Path(__file__).resolve().parent.parent
THREADS = 8
RECALL_QUERIES = 100
DOCS_A_BLOCK = 500


def opened(folder: Path) -> Kebab:
    """The knowledge base below a folder, as anybody would open it, with the default settings."""
    config, notes = folder / "config.toml", folder / "notes"
    config.write_text("", encoding="utf-8")  # nothing from this machine's own configuration
    notes.mkdir(exist_ok=True)
    return Kebab.open(config, root=notes, data_dir=folder / "data")


def queries(folder: Path) -> tuple[list[str], list[str]]:
    """Those that warm the process up and those that are measured; no query is both."""
    texts: list[str] = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    return texts[::2], texts[1::2]


def measure(folder: Path) -> dict[str, Any]:
    """Milliseconds of each search by the way it was asked, searches a second, and memory in MB."""
    with opened(folder) as kb:
        warm, texts = queries(folder)
        for text in warm:
            kb.search(text, k=10)
        ways: dict[str, Callable[[str], object]] = {
            "hybrid": lambda text: kb.search(text, k=10),
            "lexical": lambda text: kb.search(text, k=10, mode=SearchMode.LEXICAL),
            "vector": lambda text: kb.search(text, k=10, mode=SearchMode.VECTOR),
            "grouped": lambda text: kb.search(text, k=10, by_document=True),
        }
        ways |= {
            f"filter: {name}": (lambda text, own=own: kb.search(text, k=10, filters=own))  # type: ignore[misc]
            for name, own in _filters(kb).items()
        }
        found: dict[str, Any] = {"times": {name: _times(way, texts) for name, way in ways.items()}}
        found["rss"], found["peak"] = memory()
        with _writing(folder):
            found["times"]["beside a writer"] = _times(ways["hybrid"], texts)
        found["rates"] = {f"{n} threads": _rate(kb, texts, n) for n in (1, THREADS)}
    found["rates"] |= {f"{n} processes": _processes(folder, n) for n in (1, 2)}
    return found


def _filters(kb: Kebab) -> dict[str, SearchFilters]:
    """One document, about half of them, all but few, and nearly all by a pattern."""
    one = kb.list_docs()[0].path
    return {
        "one document": SearchFilters(path=(one,)),
        "lang=en": SearchFilters(lang=("en",)),
        "path=**/*.md": SearchFilters(path=("**/*.md",)),
    }


def _times(way: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    spent = []
    for text in texts[:10]:
        way(text)
    for text in texts:
        started = time.perf_counter()
        way(text)
        spent.append(1000 * (time.perf_counter() - started))
    return spent


def _rate(kb: Kebab, texts: Sequence[str], threads: int) -> float:
    """Searches a second of so many threads together."""
    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        list(pool.map(lambda text: kb.search(text, k=10), texts))
        return len(texts) / (time.perf_counter() - started)


def _processes(folder: Path, number: int) -> float:
    """Searches a second of so many processes at once, summed."""
    command = [sys.executable, "-m", "benchmarks.searching", "rate", str(folder)]
    running = [
        subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) for _ in range(number)
    ]
    return sum(float(process.communicate()[0]) for process in running)


def rate(folder: Path) -> float:
    with opened(folder) as kb:
        warm, texts = queries(folder)
        for text in warm:
            kb.search(text, k=10)
        return _rate(kb, texts, 1)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Another process that ingests small changes meanwhile."""
    command = [sys.executable, "-m", "benchmarks.searching", "write", str(folder)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        try:
            yield
        finally:
            writer.kill()


def write(folder: Path) -> None:
    """Change a note and ingest it until killed; says once that it has begun."""
    note = folder / "notes" / "changing.md"
    with opened(folder) as kb:
        for number in count():
            note.write_text(f"# Changing\n\nThis is edition {number}.\n", encoding="utf-8")
            with suppress(Locked):
                kb.ingest([note])
            if not number:
                print("writing", flush=True)
            time.sleep(0.05)


# --- what peers get, and the truth -------------------------------------------------------------------------


def model_of(kb: Kebab) -> tuple[Embedder, ModelKey]:
    embedder = kb.engines.embedder
    assert embedder is not None, "the built-in model is always there"
    return embedder, ModelKey.of(embedder)


def embedded(kb: Kebab, texts: Sequence[str]) -> Floats:
    vectors: Floats = np.asarray(model_of(kb)[0].embed(texts, EmbeddingKind.QUERY), dtype=np.float32)
    return vectors


def blocks(kb: Kebab) -> Iterator[tuple[list[ChunkId], Block]]:
    """All chunks with their names, texts and vectors as they are indexed, some thousand at a time."""
    stores, model = kb.engines.reading, model_of(kb)[1]
    documents = [summary.doc_id for summary in stores.documents.list_documents()]
    start = 0
    for first in range(0, len(documents), DOCS_A_BLOCK):
        chunks = list(stores.documents.stored_chunks(documents[first : first + DOCS_A_BLOCK]))
        vectors = leaning(chunks, stores.embeddings.vectors(model, [one.content_key for one in chunks]))
        known = [one for one in chunks if one.chunk.chunk_id in vectors]
        if known:
            rows = np.stack([vectors[one.chunk.chunk_id] for one in known]).astype(np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            yield [one.chunk.chunk_id for one in known], Block(start, [one.chunk.text for one in known], rows)
            start += len(known)


def recall(folder: Path) -> float:
    """Of the ten nearest by float32, how many the vector leg gives among its first ten."""
    with opened(folder) as kb:
        texts = queries(folder)[1][:RECALL_QUERIES]
        vectors = embedded(kb, texts)
        best: list[list[tuple[float, ChunkId]]] = [[] for _ in texts]
        for names, block in blocks(kb):
            scores = vectors @ block.vectors.T
            for place, row in enumerate(scores):
                top = np.argpartition(-row, min(10, len(row) - 1))[:10]
                mine = [(float(row[at]), names[at]) for at in top]
                best[place] = heapq.nlargest(10, [*best[place], *mine])
        index = kb.engines.vector_index(model_of(kb)[1])
        found = [{item.id for item in index.search(vector, limit=10)} for vector in vectors]
    return float(
        np.mean([len({name for _, name in truth} & own) / 10 for truth, own in zip(best, found, strict=True)])
    )


def memory() -> tuple[float, float]:
    """Resident memory now and at its highest, in MB (Linux; elsewhere both are 0)."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return 0.0, 0.0
    values = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
    now, highest = (int(values[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    return now, highest


if __name__ == "__main__":
    task, place = sys.argv[1], Path(sys.argv[2])
    if task == "write":
        write(place)
    else:
        print(json.dumps({"measure": measure, "rate": rate, "recall": recall}[task](place)))
