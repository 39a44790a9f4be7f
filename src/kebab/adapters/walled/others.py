"""What belongs to documents inside walls: vectors, links, runs of ingest, answers, evaluations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kebab.adapters.walled.documents import WalledDocumentStore
from kebab.domain.ids import DocId
from kebab.domain.ingests import IngestItem, IngestRun
from kebab.domain.links import NoteNames, PlacedLink
from kebab.errors import OutsideWalls
from kebab.ports import AnswerStore, EmbeddingStore, LinkStore, ModelKey, Vectors

_AT_ONCE = 500


class WalledEmbeddingStore:
    """EmbeddingStore for reading: it counts the vectors of chunks inside."""

    def __init__(self, inner: EmbeddingStore, documents: WalledDocumentStore) -> None:
        self._inner = inner
        self._documents = documents

    def missing(self, model: ModelKey, *, limit: int) -> dict[str, str]:
        raise _closed("what is to be embedded")

    def count_missing(self, model: ModelKey) -> int:
        """Counted only where anything lacks a vector at all."""
        if not self._inner.count_missing(model):
            return 0
        return sum(len(set(keys) - self._inner.vectors(model, keys).keys()) for keys in self._keys())

    def models(self) -> dict[ModelKey, int]:
        held = self._inner.models()
        return {model: sum(len(self._inner.vectors(model, keys)) for keys in self._keys()) for model in held}

    def vectors(self, model: ModelKey, keys: Sequence[str]) -> dict[str, Vectors]:
        """Content keys come from chunks, which are inside."""
        return self._inner.vectors(model, keys)

    def count_faults(self) -> list[str]:
        raise _closed("the counts of vectors")

    def recount(self) -> None:
        raise _closed("the counts of vectors")

    def put_vectors(self, model: ModelKey, keys: Sequence[str], vectors: Vectors) -> None:
        raise _closed("vectors")

    def drop_damaged(self, *, dry_run: bool = False, sample: int | None = None) -> int:
        raise _closed("vectors")

    def forget_unused(self, keep: Sequence[ModelKey]) -> int:
        raise _closed("vectors")

    def forget_surplus(self) -> int:
        raise _closed("vectors")

    def _keys(self) -> Iterator[list[str]]:
        """The content keys of the chunks inside, each once, some hundred at a time."""
        known: set[str] = set()
        batch: list[str] = []
        for stored in self._documents.stored_chunks():
            if stored.content_key not in known:
                known.add(stored.content_key)
                batch.append(stored.content_key)
            if len(batch) >= _AT_ONCE:
                yield batch
                batch = []
        if batch:
            yield batch


class WalledLinkStore:
    """LinkStore of the documents inside: a link to what is outside leads nowhere."""

    def __init__(self, inner: LinkStore, documents: WalledDocumentStore) -> None:
        self._inner = inner
        self._documents = documents

    def names(self) -> list[NoteNames]:
        inside = self._documents.inside()
        return [names for names in self._inner.names() if names.doc_id in inside]

    def links_from(self, doc_ids: Sequence[DocId]) -> list[PlacedLink]:
        inside = self._documents.inside()
        return self._inner.links_from([doc for doc in doc_ids if doc in inside])

    def links_called(self, keys: Sequence[str]) -> list[PlacedLink]:
        inside = self._documents.inside()
        return [link for link in self._inner.links_called(keys) if link.doc_id in inside]

    def unread(self) -> int:
        """None are told of: they are counted in the whole store alone."""
        return 0


class WalledAnswerStore:
    """AnswerStore that keeps answers and gives none back: others asked for them, from other documents."""

    def __init__(self, inner: AnswerStore) -> None:
        self._inner = inner

    def put(self, trace_id: str, *, created_at: str, question: str, answer_json: str) -> None:
        self._inner.put(trace_id, created_at=created_at, question=question, answer_json=answer_json)

    def get(self, trace_id: str) -> str | None:
        return None

    def recent(self, limit: int = 20) -> list[str]:
        return []


class NoEvaluations:
    """EvalStore without runs: they were measured on the whole."""

    def put(self, run_id: str, *, created_at: str, report_json: str) -> None:
        raise _closed("evaluations")

    def get(self, run_id: str) -> str | None:
        return None

    def recent(self, limit: int = 20) -> list[str]:
        return []


class NoLedger:
    """Ledger without runs: each of them is about the whole folder."""

    def begin(self, run: IngestRun) -> None:
        raise _closed("the ledger")

    def note(self, run_id: str, items: Sequence[IngestItem]) -> None:
        raise _closed("the ledger")

    def finish(self, run: IngestRun) -> None:
        raise _closed("the ledger")

    def runs(self, limit: int = 20) -> list[IngestRun]:
        return []

    def running(self) -> list[IngestRun]:
        return []

    def items(self, run_id: str) -> list[IngestItem]:
        return []

    def prune(self, *, keep: int) -> None:
        raise _closed("the ledger")


def _closed(what: str) -> OutsideWalls:
    return OutsideWalls(f"{what}: this is closed inside walls")
