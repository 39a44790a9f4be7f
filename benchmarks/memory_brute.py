"""The yardstick of the execution memory: everything in memory, nothing approximated, nothing stored."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from kebab.domain.executions import Execution
from kebab.domain.fusion import Ranked, rrf
from kebab.ports import Analyzer

POOL = 100


class BruteForce:
    def __init__(self, executions: Sequence[Execution], analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        held = [item for item in executions if item.embedding is not None]
        self._vector_ids = [item.id for item in held]
        matrix = np.array([item.embedding for item in held], dtype=np.float32)
        self._matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        self._places = {key: place for place, key in enumerate(self._vector_ids)}
        self._ids = [item.id for item in executions]
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for place, item in enumerate(executions):
            counts = Counter(analyzer.terms(item.task_description))
            self._lengths.append(sum(counts.values()))
            for term, count in counts.items():
                self._postings[term].append((place, count))
        self._mean = sum(self._lengths) / len(self._lengths)

    def nearest(self, vector: Sequence[float], limit: int) -> list[str]:
        return [hit.id for hit in self._nearest(vector, limit)]

    def words(self, text: str, limit: int) -> list[str]:
        return [hit.id for hit in self._words(text, limit)]

    def hybrid(self, text: str, vector: Sequence[float], limit: int) -> list[str]:
        fused = rrf({"lexical": self._words(text, POOL), "semantic": self._nearest(vector, POOL)})
        return [item.id for item in fused[:limit]]

    def share_of_nearest(self, vector: Sequence[float], found: Sequence[str]) -> float:
        """How many of ``found`` are as near as the tenth nearest, of ten."""
        scores = self._scores(vector)
        tenth = np.partition(scores, -10)[-10]
        return sum(bool(scores[self._places[key]] >= tenth - 1e-5) for key in found) / 10

    def _scores(self, vector: Sequence[float]) -> np.ndarray:
        query = np.asarray(vector, dtype=np.float32)
        scores: np.ndarray = self._matrix @ (query / (np.linalg.norm(query) or 1.0))
        return scores

    def _nearest(self, vector: Sequence[float], limit: int) -> list[Ranked]:
        scores = self._scores(vector)
        best = np.argpartition(-scores, limit)[:limit]
        ordered = best[np.argsort(-scores[best], kind="stable")]
        return [Ranked(self._vector_ids[place], float(scores[place])) for place in ordered]

    def _words(self, text: str, limit: int) -> list[Ranked]:
        scores: dict[int, float] = defaultdict(float)
        total = len(self._ids)
        for term in self._analyzer.query_terms(text):
            postings = self._postings.get(term, [])
            weight = math.log(1 + (total - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, count in postings:
                norm = 0.25 + 0.75 * self._lengths[place] / self._mean
                scores[place] += weight * count * 2.2 / (count + 1.2 * norm)
        best = sorted(scores.items(), key=lambda item: (-item[1], self._ids[item[0]]))[:limit]
        return [Ranked(self._ids[place], score) for place, score in best]
