"""BM25 over analysed texts of the execution memory, by tantivy, which only splits at blanks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from kebab.disk.data_folder import tighten_tree
from kebab.disk.private import make_folder
from kebab.domain.executions import ExecutionFilters
from kebab.domain.fusion import Ranked
from kebab.errors import EngineUnavailable
from kebab.ports import Frequencies, MemoryEntry

T = TypeVar("T")

_TEXTS = {"agent": "agent_id", "role": "agent_role", "task_type": "task_type", "provider": "provider"}
_HEAP_BYTES = 30_000_000
_NEVER = 2**62


@dataclass(frozen=True, slots=True)
class WordsDocument:
    """A record under its key; ``terms`` are joined by blanks."""

    key: str
    terms: str
    entry: MemoryEntry


class TantivyExecutionWords:
    """Which records share terms with a text. The folder may be deleted at any time."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        self._tantivy: Any = tantivy
        self._folder = folder
        make_folder(folder)
        self._schema = self._build_schema()
        self._index = self._guarded(lambda: tantivy.Index(self._schema, path=str(folder)))
        splitter = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("terms", splitter)

    @staticmethod
    def exists(folder: Path) -> bool:
        return (folder / "meta.json").is_file()

    def apply(self, documents: Sequence[WordsDocument], *, removed: Collection[str]) -> None:
        """One commit; searchable on return."""
        self._guarded(lambda: self._write(documents, removed))
        self.reload()
        tighten_tree(self._folder)

    def reload(self) -> None:
        """See what another process committed."""
        self._guarded(self._index.reload)

    def search(self, weights: Mapping[str, float], *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
        """Keys by BM25, best first, ties by key."""
        if not weights:
            return []
        query, searcher = self._query(weights, filters), self._index.searcher()
        found = self._guarded(lambda: searcher.search(query, limit=limit, count=False)).hits
        hits = [Ranked(searcher.doc(address)["id"][0], float(score)) for score, address in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))

    def frequencies(self, terms: Collection[str]) -> Frequencies:
        searcher = self._index.searcher()
        return Frequencies(searcher.num_docs, {term: searcher.doc_freq("terms", term) for term in terms})

    def _write(self, documents: Sequence[WordsDocument], removed: Collection[str]) -> None:
        writer = self._index.writer(_HEAP_BYTES, 1)
        # A commit that was killed leaves files behind whose names the next one, the same again, would take.
        writer.garbage_collect_files()
        for key in (*removed, *(document.key for document in documents)):
            writer.delete_documents_by_term("id", key)
        for document in documents:
            writer.add_document(self._document(document))
        writer.commit()
        writer.wait_merging_threads()  # dropped earlier, a running merge is lost and segments pile up

    def _document(self, document: WordsDocument) -> Any:
        entry = document.entry
        return self._tantivy.Document(
            id=document.key,
            terms=document.terms,
            agent_id=entry.agent_id,
            agent_role=entry.agent_role or "",
            task_type=entry.task_type,
            provider=entry.provider,
            success=entry.success,
            cost_cents=float(entry.cost_cents),
            finished_at=microseconds(entry.finished_at),
            expires_at=_NEVER if entry.expires_at is None else microseconds(entry.expires_at),
            labels=[_label(name, value) for name, value in entry.labels],
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
        conditions += [
            make.term_set_query(self._schema, "labels", [_label(name, value) for value in allowed])
            for name, allowed in filters.labels
        ]
        if filters.success is not None:
            conditions.append(make.term_query(self._schema, "success", filters.success))
        after = None if filters.after is None else microseconds(filters.after)
        before = None if filters.before is None else microseconds(filters.before) - 1
        if after is not None or before is not None:
            conditions.append(self._range("finished_at", after, before))
        if filters.valid_at is not None:
            conditions.append(self._range("expires_at", microseconds(filters.valid_at) + 1, None))
        if filters.max_cost_cents is not None:
            conditions.append(self._range("cost_cents", None, float(filters.max_cost_cents)))
        return conditions

    def _range(self, column: str, low: float | None, high: float | None) -> Any:
        types = self._tantivy.FieldType
        kind = types.Float if column == "cost_cents" else types.Integer
        return self._tantivy.Query.range_query(self._schema, column, kind, low, high)

    def _build_schema(self) -> Any:
        builder = self._tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("terms", tokenizer_name="terms", index_option="freq")
        for column in (*_TEXTS.values(), "labels"):
            builder.add_text_field(column, tokenizer_name="raw", index_option="basic")
        builder.add_boolean_field("success", indexed=True)
        builder.add_float_field("cost_cents", indexed=True, fast=True)
        for column in ("finished_at", "expires_at"):
            builder.add_integer_field(column, indexed=True, fast=True)
        return builder.build()

    def _guarded(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except (ValueError, OSError) as error:
            raise EngineUnavailable(f"the memory's index of words cannot be used: {error}") from error


def microseconds(moment: datetime) -> int:
    """Since 1970, exact."""
    return round(moment.timestamp() * 1_000_000)


def _label(name: str, value: str) -> str:
    return f"{name}={value}"
