"""Measures an exported model on collections in BEIR form: nDCG@10 of the vectors alone.

python -m training.evaluate --model FOLDER --collections FOLDER
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from kebab.adapters.embedders.static import StaticEmbedder
from kebab.adapters.embedders.subwords import words
from kebab.ports import EmbeddingKind

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n+")
NAMES = (
    "scifact",
    "cranfield",
    "autorag-ko",
    "rust-book/xlang-ko2en",
    "rust-book/xlang-en2ko",
    "tatoeba-ko2en",
)


def read_jsonl(path: Path) -> list[dict[str, str]]:
    """Return the objects of a file, one a line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Return the judged documents of every query that has a relevant one."""
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text("utf-8").splitlines():
        query, document, score = line.split("\t")[:3]
        if score.lstrip("-").isdigit() and int(score) > 0:
            judged[query][document] = int(score)
    return dict(judged)


def chunks(text: str, *, size: int) -> list[str]:
    """Cut a text at sentence ends into pieces of about `size` words."""
    found: list[list[str]] = []
    length = size
    for sentence in _SENTENCE_END.split(text):
        if length >= size:
            found.append([])
            length = 0
        found[-1].append(sentence)
        length += len(words(sentence))
    return [" ".join(part) for part in found] or [text]


def ndcg(scores: np.ndarray, ids: list[str], relevant: dict[str, int], *, k: int = 10) -> float:
    """Return nDCG@k of one query's scores; ties keep the collection's order."""
    top = np.argsort(-scores, kind="stable")[:k]
    gains = [relevant.get(ids[place], 0) / np.log2(rank + 2) for rank, place in enumerate(top)]
    ideal = sorted(relevant.values(), reverse=True)[:k]
    return float(sum(gains) / sum(gain / np.log2(rank + 2) for rank, gain in enumerate(ideal)))


def scores(model: StaticEmbedder, folder: Path, *, size: int) -> dict[str, Any]:
    """Return the cosines of queries and documents of a collection: whole documents, and best chunks."""
    corpus = read_jsonl(folder / "corpus.jsonl")
    judged = read_qrels(folder / "qrels.tsv")
    queries = [query for query in read_jsonl(folder / "queries.jsonl") if str(query["id"]) in judged]
    texts = [f"{document.get('title', '')}\n{document['text']}" for document in corpus]
    asked = model.embed([query["text"] for query in queries], EmbeddingKind.QUERY)
    whole = asked @ model.embed(texts, EmbeddingKind.DOCUMENT).T
    parts = [chunks(text, size=size) for text in texts]
    starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    flat = model.embed([piece for part in parts for piece in part], EmbeddingKind.DOCUMENT)
    best = np.maximum.reduceat(asked @ flat.T, starts, axis=1)
    return {
        "ids": [str(document["id"]) for document in corpus],
        "queries": queries,
        "judged": [judged[str(query["id"])] for query in queries],
        "whole": whole,
        "best": best,
    }


def measure(model: StaticEmbedder, folder: Path, *, size: int = 100) -> dict[str, float]:
    """Return nDCG@10 of one vector a document, of the best chunk, and of both added, and accuracy@1."""
    found = scores(model, folder, size=size)
    views = {"whole": found["whole"], "best": found["best"], "both": found["whole"] + found["best"]}
    result = {
        name: float(
            np.mean([ndcg(row, found["ids"], rel) for row, rel in zip(view, found["judged"], strict=True)])
        )
        for name, view in views.items()
    }
    first = [
        found["ids"][row.argmax()] in rel for row, rel in zip(found["whole"], found["judged"], strict=True)
    ]
    return {**result, "acc@1": float(np.mean(first))}


def measure_pairs(model: Path, path: Path) -> float:
    """Return the mean reciprocal rank of each text's partner in a file, `[[text, partner], ...]`."""
    embedder = StaticEmbedder(model)
    asked, wanted = zip(*json.loads(path.read_text("utf-8")), strict=True)
    found = embedder.embed(asked, EmbeddingKind.QUERY) @ embedder.embed(wanted, EmbeddingKind.DOCUMENT).T
    ranks = (found > np.diag(found)[:, None]).sum(axis=1) + 1
    return float((1 / ranks).mean())


def measure_all(model: Path, collections: Path) -> dict[str, dict[str, float]]:
    """Return the figures of every collection that is there."""
    embedder = StaticEmbedder(model)
    return {
        name: measure(embedder, collections / name)
        for name in NAMES
        if (collections / name / "corpus.jsonl").is_file()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--collections", type=Path, required=True)
    arguments = parser.parse_args()
    for name, figures in measure_all(arguments.model, arguments.collections).items():
        print(f"{name:24}", *(f"{key} {value:.4f}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
