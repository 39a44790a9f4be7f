"""BM25 over analysed descriptions, by tantivy. The terms are made outside; tantivy only splits at blanks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from kebab.disk.private import make_folder
from kebab.domain.executions import ExecutionFilters
from kebab.domain.fusion import Ranked
from kebab.errors import EngineUnavailable
from kebab.ports import Analyzer, MemoryEntry

_TEXTS = {"agent": "agent_id", "role": "agent_role", "task_type": "task_type", "provider": "provider"}
_HEAP_BYTES = 30_000_000


class TantivyExecutionWords:
    """Which descriptions share terms with a text. The folder may be deleted at any time."""

    def __init__(self, folder: Path, *, analyzer: Analyzer) -> None:
        import tantivy

        self._tantivy: Any = tantivy
        self._analyzer = analyzer
        make_folder(folder)
        self._schema = self._build_schema()
        self._index = self._guarded(lambda: tantivy.Index(self._schema, path=str(folder)))
        splitter = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("terms", splitter)

    @staticmethod
    def exists(folder: Path) -> bool:
        return (folder / "meta.json").is_file()

    def apply(self, entries: Sequence[MemoryEntry], *, removed: Sequence[str]) -> None:
        self._guarded(lambda: self._write(entries, removed))

    def search(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
        weights = self._analyzer.query_weights(text)
        if not weights:
            return []
        query = self._query(weights, filters)
        self._index.reload()
        searcher = self._index.searcher()
        found = self._guarded(lambda: searcher.search(query, limit=limit, count=False)).hits
        hits = [Ranked(searcher.doc(address)["id"][0], float(score)) for score, address in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))

    def _write(self, entries: Sequence[MemoryEntry], removed: Sequence[str]) -> None:
        writer = self._index.writer(_HEAP_BYTES, 1)
        # A commit that was killed leaves files behind whose names the next one, the same again, would take.
        writer.garbage_collect_files()
        for key in (*removed, *(entry.id for entry in entries)):
            writer.delete_documents_by_term("id", key)
        for entry in entries:
            writer.add_document(self._document(entry))
        writer.commit()
        writer.wait_merging_threads()  # dropped earlier, a running merge is lost and segments pile up

    def _document(self, entry: MemoryEntry) -> Any:
        return self._tantivy.Document(
            id=entry.id,
            terms=self._analyzer.index_text(entry.text),
            agent_id=entry.agent_id,
            agent_role=entry.agent_role or "",
            task_type=entry.task_type,
            provider=entry.provider,
            success=entry.success,
            cost_cents=entry.cost_cents,
            finished_at=microseconds(entry.finished_at),
        )

    def _query(self, weights: Mapping[str, float], filters: ExecutionFilters) -> Any:
        make, occur = self._tantivy.Query, self._tantivy.Occur
        wanted = [
            (occur.Should, make.boost_query(make.term_query(self._schema, "terms", term, "freq"), weight))
            for term, weight in weights.items()
        ]
        # Scored 0: a filter lets through, it does not rank.
        required = [(occur.Must, make.const_score_query(part, 0.0)) for part in self._conditions(filters)]
        words = make.boolean_query(wanted)
        return make.boolean_query([(occur.Must, words), *required]) if required else words

    def _conditions(self, filters: ExecutionFilters) -> list[Any]:
        make = self._tantivy.Query
        conditions = [
            make.term_set_query(self._schema, column, list(values))
            for name, column in _TEXTS.items()
            if (values := getattr(filters, name))
        ]
        if filters.success is not None:
            conditions.append(make.term_query(self._schema, "success", filters.success))
        after = None if filters.after is None else microseconds(filters.after)
        before = None if filters.before is None else microseconds(filters.before) - 1
        if after is not None or before is not None:
            conditions.append(self._range("finished_at", after, before))
        if filters.max_cost_cents is not None:
            conditions.append(self._range("cost_cents", None, filters.max_cost_cents))
        return conditions

    def _range(self, column: str, low: int | None, high: int | None) -> Any:
        integer = self._tantivy.FieldType.Integer
        return self._tantivy.Query.range_query(self._schema, column, integer, low, high)

    def _build_schema(self) -> Any:
        builder = self._tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("terms", tokenizer_name="terms", index_option="freq")
        for column in _TEXTS.values():
            builder.add_text_field(column, tokenizer_name="raw", index_option="basic")
        builder.add_boolean_field("success", indexed=True)
        for column in ("cost_cents", "finished_at"):
            builder.add_integer_field(column, indexed=True, fast=True)
        return builder.build()

    def _guarded(self, call: Any) -> Any:
        try:
            return call()
        except (ValueError, OSError) as error:
            raise EngineUnavailable(f"the memory's index of words cannot be used: {error}") from error


def microseconds(moment: datetime) -> int:
    """Since 1970, exact."""
    return round(moment.timestamp() * 1_000_000)
