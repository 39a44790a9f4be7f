"""Measures an exported model beside and together with BM25, nDCG@10. Needs `bm25s` and `PyStemmer`.

python -m training.fusion --model FOLDER --collections FOLDER
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import bm25s
import numpy as np
import Stemmer

from kebab.adapters.embedders.static import StaticEmbedder
from training.evaluate import NAMES, ndcg, read_jsonl, scores

_TERM = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_STEM = Stemmer.Stemmer("porter")
DEPTH = 100


def terms(text: str) -> list[str]:
    """Return stemmed words, and syllable bigrams of Hangul."""
    found: list[str] = []
    for run in _TERM.findall(text.lower()):
        if "가" <= run[0] <= "힣":
            found += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
        else:
            found.append(_STEM.stemWord(run))
    return found


def lexical(folder: Path, queries: list[dict[str, str]]) -> np.ndarray:
    """Return the BM25 score of every document for every query."""
    texts = [f"{doc.get('title', '')} {doc['text']}" for doc in read_jsonl(folder / "corpus.jsonl")]
    index = bm25s.BM25(k1=0.9, b=0.4, method="lucene")
    index.index([terms(text) for text in texts], show_progress=False)
    known = index.vocab_dict
    return np.stack([index.get_scores([t for t in terms(q["text"]) if t in known] or [""]) for q in queries])


def rrf(legs: list[np.ndarray], *, k: int = 60) -> np.ndarray:
    """Fuse rows of scores by reciprocal rank; a document with no score above zero is absent from its leg."""
    fused = np.zeros_like(legs[0], dtype=np.float64)
    for leg in legs:
        order = np.argsort(-leg, axis=1, kind="stable")[:, :DEPTH]
        for row, places in enumerate(order):
            present = places[leg[row, places] > 0]
            fused[row, present] += 1.0 / (k + 1 + np.arange(len(present)))
    return fused


def convex(words: np.ndarray, vectors: np.ndarray, *, share: float) -> np.ndarray:
    """Add scores divided by the row's highest, `share` of the vectors' side."""
    highest = np.maximum(words.max(axis=1, keepdims=True), 1e-9)
    fused: np.ndarray = (1 - share) * words / highest + share * vectors / vectors.max(axis=1, keepdims=True)
    return fused


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--collections", type=Path, required=True)
    arguments = parser.parse_args()
    model = StaticEmbedder(arguments.model)
    for name in NAMES:
        found = scores(model, arguments.collections / name, size=100)
        both = found["whole"] + found["best"]
        words = lexical(arguments.collections / name, found["queries"])
        views = {"bm25": words, "whole": found["whole"], "both": both}
        views |= {"rrf whole": rrf([words, found["whole"]]), "rrf both": rrf([words, both])}
        views |= {f"convex {share}": convex(words, both, share=share) for share in (0.3, 0.4, 0.5)}
        means = {
            key: np.mean(
                [ndcg(row, found["ids"], rel) for row, rel in zip(view, found["judged"], strict=True)]
            )
            for key, view in views.items()
        }
        print(f"{name:24}", *(f"{key} {value:.3f}" for key, value in means.items()), flush=True)


if __name__ == "__main__":
    main()
