"""SurrealExecutionIndex: the engine's own BM25 and HNSW, the second way (``memory.search = "native"``).

English goes through the seed's analyzer over the description; terms of other scripts go through the companion
field, which holds them as the product's analyzer cut them. Vectors stand in one table for each model and
dimension, because an HNSW index has one length, with the columns that filters look at beside them: following
a link for each candidate took fifteen times as long.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kebab.adapters.surreal.connection import SurrealConnection
from kebab.adapters.surreal.filters import label, where
from kebab.adapters.surreal.keys import record_key
from kebab.adapters.surreal.rows import Row, more_text, to_record
from kebab.adapters.surreal.store import RECORD, TABLE
from kebab.domain.executions import Execution, ExecutionFilters
from kebab.domain.fusion import Ranked
from kebab.domain.ids import digest
from kebab.ports import Analyzer, Frequencies, MemoryChanges, MemoryEntry, MemoryKind, VectorSpace

SEARCH_EF = 150
"""How many neighbours the graph keeps in view; the more, the fewer it misses."""

_WIDER = 4
"""How many times as many neighbours are looked at where a filter may reject some."""

_TEXT = {MemoryKind.EXECUTIONS: "task_description", MemoryKind.TASKS: "description"}

_DEFINE_STATE = """
DEFINE TABLE IF NOT EXISTS kg_native TYPE NORMAL SCHEMAFULL;
DEFINE FIELD IF NOT EXISTS position ON kg_native TYPE int;
DEFINE FIELD IF NOT EXISTS version ON kg_native TYPE string;
DEFINE TABLE IF NOT EXISTS kg_vector_spaces TYPE NORMAL SCHEMAFULL;
DEFINE FIELD IF NOT EXISTS kind ON kg_vector_spaces TYPE string;
DEFINE FIELD IF NOT EXISTS model ON kg_vector_spaces TYPE string;
DEFINE FIELD IF NOT EXISTS dimensions ON kg_vector_spaces TYPE int;
"""

_DEFINE_WORDS = """
DEFINE INDEX IF NOT EXISTS idx_{table}_ft ON {table} FIELDS {text}
    FULLTEXT ANALYZER kg_text_analyzer BM25;
DEFINE INDEX IF NOT EXISTS idx_{table}_more ON {table} FIELDS more_text
    FULLTEXT ANALYZER kg_text_analyzer BM25;
DEFINE INDEX IF NOT EXISTS idx_{table}_terms ON {table} FIELDS task_terms
    FULLTEXT ANALYZER kg_terms_analyzer BM25;
"""

_DEFINE_SPACE = """
BEGIN TRANSACTION;
DEFINE TABLE IF NOT EXISTS {table} TYPE NORMAL SCHEMAFULL;
DEFINE FIELD IF NOT EXISTS agent_id ON {table} TYPE string;
DEFINE FIELD IF NOT EXISTS agent_role ON {table} TYPE option<string>;
DEFINE FIELD IF NOT EXISTS task_type ON {table} TYPE string;
DEFINE FIELD IF NOT EXISTS provider ON {table} TYPE string;
DEFINE FIELD IF NOT EXISTS success ON {table} TYPE bool;
DEFINE FIELD IF NOT EXISTS cost_cents ON {table} TYPE int | float;
DEFINE FIELD IF NOT EXISTS labels ON {table} TYPE option<array<string>>;
DEFINE FIELD IF NOT EXISTS expires_at ON {table} TYPE option<datetime>;
DEFINE FIELD IF NOT EXISTS finished_at ON {table} TYPE datetime;
DEFINE FIELD IF NOT EXISTS embedding ON {table} TYPE array<float>;
UPSERT type::record('kg_vector_spaces', $table) SET kind = $kind, model = $model, dimensions = $dimensions;
COMMIT TRANSACTION;
DEFINE INDEX IF NOT EXISTS idx_{table}_hnsw ON {table} FIELDS embedding
    HNSW DIMENSION {dimensions} DIST COSINE TYPE F32 M 16 EFC 200;
"""


class SurrealExecutionIndex:
    """ExecutionIndex by native queries. Its indexes are defined on first use and make every write slower."""

    def __init__(self, connection: SurrealConnection, *, kind: MemoryKind, analyzer: Analyzer) -> None:
        self._connection = connection
        self._kind = kind
        self._analyzer = analyzer
        self._defined = False

    @property
    def version(self) -> str:
        return f"native-2:{self._analyzer.version}"

    def position(self) -> int:
        rows = self._query("SELECT * FROM $state", state=self._state)[0]
        if rows and rows[0]["version"] != self.version:
            self.clear()
            self._refresh_terms()
            return 0
        return int(rows[0]["position"]) if rows else 0

    def apply(self, changes: MemoryChanges) -> None:
        gone = [*changes.removed, *(entry.id for entry in changes.entries)]
        spaces = self.spaces()
        for space in spaces:
            table = self._table(space)
            self._query(f"DELETE $gone.map(|$key| type::record('{table}', $key)) RETURN NONE", gone=gone)
        for space, rows in _by_space(changes.entries).items():
            self._put(space, rows)
        self._query(
            "UPSERT $state SET position = $position, version = $version RETURN NONE",
            state=self._state,
            position=changes.upto,
            version=self.version,
        )

    def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
        """Description, other texts and companion terms are a query each; scores add up."""
        terms = self._analyzer.query_terms(text)
        foreign = [term for term in terms if not term.isascii()]
        english = " ".join(re.findall(r"[A-Za-z0-9_]+", text))
        scores: dict[str, float] = {}
        columns = ((_TEXT[self._kind], english), ("more_text", english), ("task_terms", " ".join(foreign)))
        for column, wanted in columns:
            if wanted:
                for key, score in self._matching(column, wanted, filters, limit):
                    scores[key] = scores.get(key, 0.0) + score
        # The engine gives a term of more than half of the records no weight. Such hits count only where
        # there are no others: the tokenizer cuts word7 into word and 7, and every word would be a hit.
        hits = [Ranked(key, score) for key, score in scores.items() if score > 0]
        hits = hits or [Ranked(key, 0.0) for key in scores]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]:
        if not self._query("SELECT VALUE id FROM $space", space=self._space_key(space))[0]:
            return []
        found = (
            self._graph(vector, space, limit=limit)
            if not filters
            else self._filtered(vector, space, filters, limit)
        )
        hits = [Ranked(key, max(-1.0, min(1.0, score))) for key, score in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _graph(self, vector: Sequence[float], space: VectorSpace, *, limit: int) -> list[tuple[str, float]]:
        rows = self._query(
            "SELECT VALUE [record::id(id), vector::distance::knn()] "
            f"FROM {self._table(space)} WHERE embedding <|{int(limit)},{max(SEARCH_EF, limit)}|> $vector",
            vector=list(vector),
        )[0]
        return [(key, 1.0 - distance) for key, distance in rows]

    def _filtered(
        self, vector: Sequence[float], space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[tuple[str, float]]:
        """Those of the nearest that pass, where they are enough; else the cosine of every row that passes.

        The engine follows its graph with a condition by looking at one row after the other: 741 ms where this
        takes 46 (3,000 records, one in twenty passes).
        """
        condition, values = where(filters)
        near = dict(self._graph(vector, space, limit=_WIDER * limit))
        keys = [record_key(self._table(space), key) for key in near]
        passing = self._query(
            f"SELECT VALUE record::id(id) FROM $keys WHERE {condition}", keys=keys, **values
        )[0]
        if len(passing) >= limit:
            return [(key, near[key]) for key in passing]
        rows = self._query(
            "SELECT VALUE [record::id(id), vector::similarity::cosine(embedding, $vector)] "
            f"FROM {self._table(space)} WHERE {condition}",
            vector=list(vector),
            **values,
        )[0]
        return [(key, score) for key, score in rows]

    def spaces(self) -> dict[VectorSpace, int]:
        rows = self._query("SELECT * FROM kg_vector_spaces WHERE kind = $kind", kind=self._kind.value)[0]
        found = {}
        for row in rows:
            counted = self._query(f"SELECT count() FROM {row['id'].id} GROUP ALL")[0]
            if counted and counted[0]["count"]:
                found[VectorSpace(row["model"], row["dimensions"])] = int(counted[0]["count"])
        return found

    def frequencies(self, terms: Collection[str]) -> Frequencies:
        """The engine tells no frequencies: all terms count alike."""
        counted = self._query(f"SELECT count() FROM {TABLE[self._kind]} GROUP ALL")[0]
        return Frequencies(counted[0]["count"] if counted else 0, dict.fromkeys(terms, 0))

    def held(self, texts: Mapping[str, str], terms: Collection[str]) -> dict[str, set[str]]:
        return {key: self._analyzer.held(text, terms) for key, text in texts.items()}

    def clear(self) -> None:
        rows = self._query("SELECT VALUE id FROM kg_vector_spaces WHERE kind = $kind", kind=self._kind.value)
        for space in rows[0]:
            self._query(f"REMOVE TABLE IF EXISTS {space.id}; DELETE $space RETURN NONE", space=space)
        self._query("DELETE $state RETURN NONE", state=self._state)

    @property
    def _state(self) -> object:
        return record_key("kg_native", self._kind.value)

    def _space_key(self, space: VectorSpace) -> object:
        return record_key("kg_vector_spaces", self._table(space))

    def _query(self, statements: str, **values: object) -> list[Any]:
        if not self._defined:
            self._connection.require()
            table = TABLE[self._kind]
            self._connection.query(_DEFINE_STATE)
            self._connection.query(_DEFINE_WORDS.format(table=table, text=_TEXT[self._kind]))
            self._defined = True
        return self._connection.query(statements, **values)

    def _matching(
        self, column: str, wanted: str, filters: ExecutionFilters, limit: int
    ) -> list[tuple[str, float]]:
        condition, values = where(filters)
        rows = self._query(
            f"SELECT record::id(id) AS key, search::score(1) AS score FROM {TABLE[self._kind]} "
            f"WHERE {column} @1,OR@ $wanted AND ({condition}) ORDER BY score DESC LIMIT {int(limit)}",
            wanted=wanted,
            **values,
        )[0]
        return [(row["key"], float(row["score"])) for row in rows]

    def _table(self, space: VectorSpace) -> str:
        """A name that any model's name can be made into, and that tells models apart."""
        slug = re.sub(r"[^a-z0-9]+", "_", space.model.lower()).strip("_")[:40]
        mark = digest("vector space", space.model)[:8]
        return f"kg_vectors_{self._kind.value}_{slug}_{mark}_{space.dimensions}"

    def _put(self, space: VectorSpace, rows: Sequence[Row]) -> None:
        table = self._table(space)
        self._query(
            _DEFINE_SPACE.format(table=table, dimensions=space.dimensions),
            table=table,
            kind=self._kind.value,
            model=space.model,
            dimensions=space.dimensions,
        )
        self._query(f"INSERT INTO {table} $rows RETURN NONE", rows=list(rows))

    def _refresh_terms(self) -> None:
        """Another analyzer or version: write the columns that only native search reads anew."""
        for row in self._query(f"SELECT * FROM {TABLE[self._kind]}")[0]:
            record = to_record(row, RECORD[self._kind])
            foreign = [term for term in self._analyzer.terms(record.searched_text) if not term.isascii()]
            more = more_text(record) if isinstance(record, Execution) else ""
            self._query(
                "UPDATE $key SET task_terms = $terms, more_text = $more RETURN NONE",
                key=row["id"],
                terms=" ".join(foreign) or None,
                more=more or None,
            )


def _by_space(entries: Iterable[MemoryEntry]) -> dict[VectorSpace, list[Row]]:
    found: dict[VectorSpace, list[Row]] = {}
    for entry in entries:
        if entry.embedding is not None and entry.embedding_model is not None:
            space = VectorSpace(entry.embedding_model, len(entry.embedding))
            found.setdefault(space, []).append(_row(entry))
    return found


def _row(entry: MemoryEntry) -> Row:
    row: Row = {
        "id": entry.id,
        "agent_id": entry.agent_id,
        "agent_role": entry.agent_role,
        "task_type": entry.task_type,
        "provider": entry.provider,
        "success": entry.success,
        "cost_cents": entry.cost_cents,
        "finished_at": entry.finished_at,
        "expires_at": entry.expires_at,
        "labels": [label(*each) for each in entry.labels] or None,
        "embedding": list(entry.embedding or ()),
    }
    return {name: value for name, value in row.items() if value is not None}
