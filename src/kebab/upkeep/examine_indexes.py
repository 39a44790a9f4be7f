"""Checks of what is derived: is each index complete, up to date, and does it find what is stored?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING

from kebab.domain.chunks import embedding_input, searchable_text
from kebab.domain.ids import ChunkId
from kebab.domain.plurals import count_of
from kebab.domain.reports import Check, CheckStatus
from kebab.ingest.wear import WORN, WORTH_IT, mostly_removed
from kebab.ports import (
    Analyzer,
    DocumentStore,
    Embedder,
    EmbeddingKind,
    EmbeddingStore,
    IndexShape,
    LexicalIndex,
    LexicalQuery,
    ModelKey,
    VectorIndex,
)
from kebab.upkeep.examine_store import Sample

if TYPE_CHECKING:
    from kebab.ports import Vectors

WORDS = "words index"
VECTORS = "vector index"
MODEL = "embedding model"
MISSING = "vectors"

SAME = 0.999
"""Cosine from which two vectors are the same but for rounding."""
# An indexed vector leans towards its document's mean by three parts in ten; at a right angle to it, the
# widest the two can be apart, the cosine with the vector itself is .919.
LEANT = 0.9
_TERMS = 12
_MODEL_SAMPLES = 3
_LOOKED_UP = 2000
_VECTORS_READ = 2000
_REPAIR = "run `kebab doctor --repair`"
_REBUILD = "run `kebab index --rebuild`: it is built anew from the store, and nothing is embedded again"
# Twice to thrice what writers let be.
_MANY_PIECES = 64


def examine_lexical(
    index: LexicalIndex, store: DocumentStore, analyzer: Analyzer, *, samples: Sequence[Sample]
) -> Check:
    held, count = index.chunk_ids(), index.count()
    if behind := _behind(index, store):
        return behind
    stored = store.chunk_ids()
    fault = _files(index) or _difference(held, stored, stored) or _twice(held, count)
    lost = [sample.stored.path for sample in samples if not _has_words(index, analyzer, sample)]
    if not fault and lost:
        fault = f"{len(lost)} of {len(samples)} sampled chunks are not found by their words, one of {lost[0]}"
    return _verdict(index, store, fault, count, f"{count_of(count, 'chunk')}, {len(samples)} sampled")


def examine_vectors(
    index: VectorIndex, store: DocumentStore, embeddings: EmbeddingStore, *, samples: Sequence[Sample]
) -> Check:
    held, count = index.chunk_ids(), index.count()
    if behind := _behind(index, store):
        return behind
    stored = store.chunk_ids()
    absent = _with_vector(stored - held, store, embeddings, index.model)
    fault = _files(index) or _difference(held, stored, held | absent) or _twice(held, count)
    vectors = embeddings.vectors(index.model, [sample.stored.content_key for sample in samples])
    # One that is damaged is the model's check to tell of, and cannot be searched with.
    sound = {key for key, vector in vectors.items() if _is_finite(vector)}
    looked_at = [sample for sample in samples if sample.stored.content_key in sound]
    lost = [s.stored.path for s in looked_at if not _has_vector(index, s, vectors[s.stored.content_key])]
    if not fault and lost:
        fault = f"{len(lost)} of {len(looked_at)} sampled chunks are not found by their vector"
    return _verdict(index, store, fault, count, f"{count_of(count, 'chunk')}, {len(looked_at)} sampled")


def examine_model(
    embedder: Embedder | None,
    embeddings: EmbeddingStore,
    *,
    samples: Sequence[Sample],
    compared: int = _MODEL_SAMPLES,
) -> Check:
    """Whether the model gives the vectors that are stored: its files may have changed behind its name.

    Raises ModelUnavailable where it cannot be loaded.
    """
    if embedder is None:
        return Check(MODEL, CheckStatus.OK, "none is configured; search goes by words alone")
    key = ModelKey.of(embedder)
    cached = embeddings.vectors(key, [sample.stored.content_key for sample in samples])
    named = f"{key.model_id} {key.version}, {key.dimensions} dimensions"
    if damaged := sum(not _is_finite(vector) for vector in cached.values()):
        detail = f"{named}: {damaged} of {len(cached)} stored vectors hold what is no number"
        return Check(MODEL, CheckStatus.FAULT, detail, f"{_REPAIR}: it embeds everything again")
    chosen = [sample for sample in samples if sample.stored.content_key in cached][:compared]
    fresh = embedder.embed([_embedded(sample) for sample in chosen] or ["kebab"], EmbeddingKind.DOCUMENT)
    for sample, vector in zip(chosen, fresh, strict=False):
        if float(vector @ cached[sample.stored.content_key]) < SAME:
            return Check(
                MODEL,
                CheckStatus.FAULT,
                f"{named}: it no longer gives the vectors that are stored",
                f"{_REPAIR}: it embeds everything again",
            )
    return Check(MODEL, CheckStatus.OK, f"{named}, {count_of(len(chosen), 'vector')} compared")


def examine_missing(model: ModelKey, embeddings: EmbeddingStore, *, full: bool) -> Check:
    if damaged := embeddings.drop_damaged(dry_run=True, sample=None if full else _VECTORS_READ):
        detail = f"{damaged} stored vectors are damaged"
        return Check(MISSING, CheckStatus.FAULT, detail, f"{_REPAIR}: it embeds their texts again")
    missing = embeddings.count_missing(model)
    others = [f"{other.model_id} ({count})" for other, count in embeddings.models().items() if other != model]
    kept = f"; also kept: {', '.join(others)}" if others else ""
    if missing:
        detail = f"{count_of(missing, 'text has', 'texts have')} no vector of {model.model_id} yet{kept}"
        return Check(MISSING, CheckStatus.WARNING, detail, "run `kebab index --embeddings`")
    return Check(MISSING, CheckStatus.OK, f"complete{kept}")


def _behind(index: LexicalIndex | VectorIndex, store: DocumentStore) -> Check | None:
    """Being behind is no fault: whatever writes next catches up, and searches say so until then."""
    name, model = _name(index)
    position = index.checkpoint()
    count = store.behind(position, model=model)
    if not count:
        return None
    if position or model:
        detail = f"{count_of(count, 'document')} behind the store" if position else "not built yet"
        return Check(name, CheckStatus.WARNING, detail, "run `kebab index`", {"behind": count})
    # Without it nothing is found at all: words are the leg that never waits for a model.
    return Check(name, CheckStatus.FAULT, "not built, or built by another version", "run `kebab index`")


def _name(index: LexicalIndex | VectorIndex) -> tuple[str, ModelKey | None]:
    model = getattr(index, "model", None)
    return (WORDS, None) if model is None else (VECTORS, model)


def _verdict(
    index: LexicalIndex | VectorIndex, store: DocumentStore, fault: str | None, count: int, detail: str
) -> Check:
    # Another process may have written while this one looked: then what differs proves nothing.
    if fault and (behind := _behind(index, store)):
        return behind
    name, _ = _name(index)
    if fault:
        return Check(name, CheckStatus.FAULT, fault, _REPAIR)
    shape = index.shape()
    figures = {"rows": count, **asdict(shape)}
    told = f"{detail}, {_lies(shape, count)} · {index.version}"
    if wear := _wear(shape, count):
        return Check(name, CheckStatus.WARNING, f"{told}; {wear}", _REBUILD, figures)
    return Check(name, CheckStatus.OK, told, figures=figures)


def is_worn(check: Check) -> bool:
    """Whether the check found an index that is right, and slower than it need be."""
    return check.status is CheckStatus.WARNING and "pieces" in check.figures


def _lies(shape: IndexShape, count: int) -> str:
    """How it lies on disk, in a few words."""
    gone = f", {_share(shape.removed, count + shape.removed)} of it removed rows" if shape.removed else ""
    outside = f", {count_of(shape.outside, 'row')} outside the index" if shape.outside else ""
    return f"{count_of(shape.pieces, 'piece')}{gone}{outside}, {shape.byte_len / 1e6:.1f} MB"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.0f} %"


def _wear(shape: IndexShape, count: int) -> str | None:
    """What makes searches slower than those of a fresh index, where it is worth doing something about.

    Writers merge pieces and drop what is gone long before this; an index that is worn all the same was left
    by a run that never came to its end.
    """
    if count + shape.removed < WORTH_IT:
        return None
    if shape.pieces > _MANY_PIECES:
        return f"more than {_MANY_PIECES} pieces"
    if mostly_removed(shape, count):
        return f"more than {100 * WORN:.0f} % of it are removed rows"
    if shape.outside > WORN * count:
        return f"more than {100 * WORN:.0f} % of its rows are outside the index"
    return None


def _files(index: LexicalIndex | VectorIndex) -> str | None:
    found = index.faults()
    return (
        "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "") if found else None
    )


def _difference(held: set[ChunkId], allowed: set[ChunkId], wanted: set[ChunkId]) -> str | None:
    if orphans := held - allowed:
        return f"{_chunks_are(len(orphans))} in the index and not in the store"
    if lost := wanted - held:
        return f"{len(lost)} stored chunks are not in the index"
    return None


def _twice(held: set[ChunkId], count: int) -> str | None:
    return f"{_chunks_are(count - len(held))} in the index twice" if count != len(held) else None


def _with_vector(
    chunks: set[ChunkId], store: DocumentStore, embeddings: EmbeddingStore, model: ModelKey
) -> set[ChunkId]:
    """Those of the chunks, of the first thousands of them, whose content has a vector."""
    found = store.hydrate(list(islice(sorted(chunks), _LOOKED_UP)))
    vectors = embeddings.vectors(model, [stored.content_key for stored in found.values()])
    return {chunk_id for chunk_id, stored in found.items() if stored.content_key in vectors}


def _has_words(index: LexicalIndex, analyzer: Analyzer, sample: Sample) -> bool:
    """Whether the chunk's first words, in a row, find it; a chunk without words cannot be asked for."""
    chunk = sample.stored.chunk
    terms = tuple(analyzer.terms(searchable_text(sample.stored))[:_TERMS])
    if not terms:
        return True
    query = LexicalQuery(terms, phrases=(terms,))
    hits = index.search(query, limit=sample.siblings, docs=frozenset([chunk.doc_id]))
    return chunk.chunk_id in {hit.id for hit in hits}


def _has_vector(index: VectorIndex, sample: Sample, vector: Vectors) -> bool:
    chunk = sample.stored.chunk
    hits = index.search(vector, limit=sample.siblings, docs=frozenset([chunk.doc_id]))
    return any(hit.id == chunk.chunk_id and (hit.score >= LEANT or not vector.any()) for hit in hits)


def _embedded(sample: Sample) -> str:
    chunk = sample.stored.chunk
    return embedding_input(
        title=sample.stored.title,
        heading_path=chunk.heading_path,
        text=chunk.text,
        code=sample.stored.code_lang is not None,
    )


def _is_finite(vector: Vectors) -> bool:
    import numpy as np

    return bool(np.isfinite(vector).all())


def _chunks_are(count: int) -> str:
    return count_of(count, "chunk is", "chunks are")
