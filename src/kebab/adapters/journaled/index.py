"""ShelfIndex: words and vectors of what has settled, joined with what has not."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import log
from typing import TYPE_CHECKING

from kebab.adapters.journaled.ops import record_of
from kebab.adapters.journaled.queries import where
from kebab.adapters.journaled.settle import settled_folder
from kebab.adapters.journaled.settled import Settled
from kebab.adapters.journaled.shelf import Shelf, note
from kebab.adapters.journaled.tables import KIND
from kebab.domain.executions import ExecutionFilters
from kebab.domain.fusion import Ranked
from kebab.ports import Frequencies, MemoryEntry, MemoryKind, Saved, VectorSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 1.2, 0.75
"""What the index of words uses, so that scores of both parts can be compared."""

_LOOSE = "+kind = ? AND seq > ?"
"""What has not settled. The signs keep the engine from an index that holds every record of the kind."""


class ShelfIndex:
    """ExecutionIndex over a shelf; it sees every acknowledged record and writes nothing."""

    def __init__(self, shelf: Shelf, kind: MemoryKind) -> None:
        self._shelf = shelf
        self._kind = kind
        self._settled: Settled | None = None
        self._terms: dict[int, Counter[str]] = {}
        self._spaces: dict[VectorSpace, int] = {}
        self._counted: object = None

    def refresh(self) -> str:
        with self._shelf.reading():
            return ""

    def follow(self, saved: Saved | None, entries: Sequence[MemoryEntry]) -> None:
        """Nothing to do: the journal is read with the shelf."""

    def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
        weights = self._shelf.analyzer.query_weights(text)
        if not weights:
            return []
        with self._shelf.reading() as db:
            filters, settled = self._needed(db, filters), self._current(db)
            loose = self._loose_terms(db, settled)
            scores = self._settled_words(db, settled, weights, filters=filters, limit=limit)
            if loose:
                allowed = _allowed(db, self._kind, filters, after=settled.manifest.upto)
                scores |= self._scored(settled, loose, weights, allowed)
            return _named(db, scores, limit=limit)

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]:
        import numpy as np

        query = np.asarray(vector, dtype=np.float32)
        query = query / np.float32(np.linalg.norm(query) or 1.0)
        with self._shelf.reading() as db:
            filters, settled = self._needed(db, filters), self._current(db)
            scores = _settled_nearest(db, settled, query, space, self._kind, filters=filters, limit=limit)
            loose = _loose_vectors(db, space, self._kind, filters, after=settled.manifest.upto)
            scores |= {seq: _cosine(content, query) for seq, content in loose}
            return _named(db, scores, limit=limit)

    def spaces(self) -> dict[VectorSpace, int]:
        with self._shelf.reading() as db:
            if self._shelf.stamp != self._counted:
                rows = db.execute(
                    "SELECT model, dimensions, n FROM model_counts WHERE kind = ? AND n > 0",
                    (KIND[self._kind],),
                )
                self._spaces = {VectorSpace(model, dimensions): count for model, dimensions, count in rows}
                self._counted = self._shelf.stamp
            return dict(self._spaces)

    def frequencies(self, terms: Collection[str]) -> Frequencies:
        with self._shelf.reading() as db:
            settled = self._current(db)
            return _frequencies(settled, self._loose_terms(db, settled), terms)

    def held(self, texts: Mapping[str, str], terms: Collection[str]) -> dict[str, set[str]]:
        """By the terms that the shelf keeps: cutting the texts again would take longer than the search."""
        wanted, marks = set(terms), ", ".join("?" * len(texts))
        with self._shelf.reading() as db:
            rows = db.execute(
                "SELECT id, (SELECT terms FROM bodies WHERE bodies.seq = records.seq) FROM records "
                f"WHERE kind = ? AND id IN ({marks})",
                (KIND[self._kind], *texts),
            )
            kept = dict(rows.fetchall())
        return {
            key: wanted.intersection(kept[key].split())
            if kept.get(key)
            else self._shelf.analyzer.held(text, wanted)
            for key, text in texts.items()
        }

    def _current(self, db: sqlite3.Connection) -> Settled:
        name = note(db, "settled") or "none"
        folder = settled_folder(self._shelf, name, self._kind)
        if self._settled is None or self._settled.folder != folder:
            self._settled = Settled(folder)
        self._settled.refresh()
        return self._settled

    def _needed(self, db: sqlite3.Connection, filters: ExecutionFilters) -> ExecutionFilters:
        """Without the question for expiry where nothing expires: it would cost every search."""
        if filters.valid_at is None or _any_expires(db):
            return filters
        return replace(filters, valid_at=None)

    def _loose_terms(self, db: sqlite3.Connection, settled: Settled) -> dict[int, Counter[str]]:
        """The terms of each record that has not settled."""
        rows = db.execute(
            f"SELECT seq FROM records WHERE {_LOOSE}", (KIND[self._kind], settled.manifest.upto)
        )
        places = {seq for (seq,) in rows}
        self._terms = {seq: counts for seq, counts in self._terms.items() if seq in places}
        for seq in places - self._terms.keys():
            self._terms[seq] = Counter(self._terms_of(db, seq))
        return self._terms

    def _terms_of(self, db: sqlite3.Connection, seq: int) -> list[str]:
        body, terms = db.execute("SELECT body, terms FROM bodies WHERE seq = ?", (seq,)).fetchone()
        if not terms:  # it stands in the journal still
            terms = self._shelf.analyzer.index_text(record_of(self._kind, body, None, None).searched_text)
        return str(terms).split()

    def _settled_words(
        self,
        db: sqlite3.Connection,
        settled: Settled,
        weights: Mapping[str, float],
        *,
        filters: ExecutionFilters,
        limit: int,
    ) -> dict[int, float]:
        if settled.words is None:
            return {}
        dead = _dead(db)
        found = settled.words.search(weights, filters=filters, limit=limit + len(dead))
        upto = settled.manifest.upto
        return {int(hit.id): hit.score for hit in found if int(hit.id) <= upto and int(hit.id) not in dead}

    def _scored(
        self,
        settled: Settled,
        loose: Mapping[int, Counter[str]],
        weights: Mapping[str, float],
        allowed: set[int] | None,
    ) -> dict[int, float]:
        known = _frequencies(settled, loose, weights)
        tokens = settled.manifest.tokens + sum(counts.total() for counts in loose.values())
        mean = tokens / max(known.records, 1) or 1.0
        scores = {
            seq: _bm25(counts, weights, known, mean=mean)
            for seq, counts in loose.items()
            if allowed is None or seq in allowed
        }
        return {seq: score for seq, score in scores.items() if score > 0}


def _bm25(counts: Counter[str], weights: Mapping[str, float], known: Frequencies, *, mean: float) -> float:
    score, norm = 0.0, K1 * (1 - B + B * counts.total() / mean)
    for term, weight in weights.items():
        if count := counts[term]:
            holding = known.holding[term]
            rarity = log(1 + (known.records - holding + 0.5) / (holding + 0.5))
            score += weight * rarity * count * (K1 + 1) / (count + norm)
    return score


def _frequencies(settled: Settled, loose: Mapping[int, Counter[str]], terms: Iterable[str]) -> Frequencies:
    terms = list(terms)
    known = settled.words.frequencies(terms) if settled.words else Frequencies(0, dict.fromkeys(terms, 0))
    here = {term: sum(term in counts for counts in loose.values()) for term in terms}
    return Frequencies(known.records + len(loose), {term: known.holding[term] + here[term] for term in terms})


def _dead(db: sqlite3.Connection) -> set[int]:
    return {seq for (seq,) in db.execute("SELECT seq FROM dead")}


def _any_expires(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM records WHERE expires_at IS NOT NULL LIMIT 1").fetchone() is not None


def _allowed(
    db: sqlite3.Connection, kind: MemoryKind, filters: ExecutionFilters, *, after: int = 0
) -> set[int] | None:
    """Places that pass; None where there is no filter."""
    if not filters:
        return None
    condition, values = where(filters)
    rows = db.execute(f"SELECT seq FROM records WHERE {_LOOSE} AND {condition}", (KIND[kind], after, *values))
    return {seq for (seq,) in rows}


def _settled_nearest(
    db: sqlite3.Connection,
    settled: Settled,
    query: NDArray[np.float32],
    space: VectorSpace,
    kind: MemoryKind,
    *,
    filters: ExecutionFilters,
    limit: int,
) -> dict[int, float]:
    import numpy as np

    held = settled.vectors(space)
    if held is None:
        return {}
    places, rows = held
    allowed = _allowed(db, kind, filters)
    among = (
        None
        if allowed is None
        else np.flatnonzero(np.isin(places, np.array(sorted(allowed), dtype=np.int64)))
    )
    # Not rows @ query: BLAS shares the work among threads and waits for the slowest, which on a busy machine
    # costs more than the work.
    few = among is not None and 8 * len(among) <= len(places)
    scores = np.vecdot(rows[among] if few else rows, query)
    if among is not None and not few:
        scores = scores[among]
    here = places if among is None else places[among]
    if dead := _dead(db):
        scores = np.where(np.isin(here, np.array(sorted(dead), dtype=np.int64)), -np.inf, scores)
    best = np.arange(len(scores)) if len(scores) <= limit else np.argpartition(-scores, limit - 1)[:limit]
    return {int(here[row]): float(scores[row]) for row in best if scores[row] > -2}


def _loose_vectors(
    db: sqlite3.Connection, space: VectorSpace, kind: MemoryKind, filters: ExecutionFilters, *, after: int
) -> list[tuple[int, bytes]]:
    condition, values = where(filters)
    return db.execute(
        "SELECT seq, (SELECT vector FROM vectors WHERE vectors.seq = records.seq) FROM records "
        f"WHERE {_LOOSE} AND +model = ? AND dimensions = ? AND {condition}",
        (KIND[kind], after, space.model, space.dimensions, *values),
    ).fetchall()


def _cosine(content: bytes, query: NDArray[np.float32]) -> float:
    import numpy as np

    row = np.frombuffer(content, dtype="<f4")
    return float(np.dot(row, query) / np.float32(np.linalg.norm(row) or 1.0))


def _named(db: sqlite3.Connection, scores: Mapping[int, float], *, limit: int) -> list[Ranked]:
    """Places become ids; a place that no record holds any more is left out."""
    places = list(scores)
    found: list[Ranked] = []
    for start in range(0, len(places), 500):
        part = places[start : start + 500]
        marks = ", ".join("?" * len(part))
        rows = db.execute(f"SELECT seq, id FROM records WHERE seq IN ({marks})", part)
        found += [Ranked(key, scores[seq]) for seq, key in rows]
    return sorted(found, key=lambda hit: (-hit.score, hit.id))[:limit]
