"""What we ask of the outside, and nothing more: a module for each kind, every name also here.

A *store* is truth. An *index* is derived from it: it may be deleted at any time and is built again. Adapters
do not inherit from these Protocols; the type checker compares them where ``assembly`` joins the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kebab.ports.code import CodeReader, Definition, Outline
    from kebab.ports.documents import (
        Captioner,
        DocumentEngines,
        Heard,
        HtmlEvent,
        HtmlEventKind,
        HtmlReader,
        HwpReader,
        HwpText,
        PdfEntry,
        PdfFile,
        PdfLine,
        PdfPage,
        PdfReader,
        Picture,
        Recognised,
        Sheet,
        SheetReader,
        Spoken,
        TextRecogniser,
        Transcriber,
        Unopened,
    )
    from kebab.ports.folders import FolderEvents, SourceFiles
    from kebab.ports.history import AnswerStore, EvalStore, Ledger
    from kebab.ports.indexes import (
        NONE_CUT,
        FieldWeights,
        Indexes,
        IndexShape,
        LexicalIndex,
        LexicalQuery,
        VectorIndex,
    )
    from kebab.ports.memory import (
        ExecutionIndex,
        ExecutionStore,
        FollowerIndex,
        Frequencies,
        MemoryAccess,
        MemoryChanges,
        MemoryEntry,
        MemoryKind,
        RevisedStore,
        Saved,
        VectorSpace,
    )
    from kebab.ports.models import (
        Embedder,
        EmbeddingKind,
        Ending,
        JsonSchema,
        LanguageModel,
        ModelKey,
        Prompt,
        Reranker,
        Vectors,
        Vocabulary,
    )
    from kebab.ports.publication import (
        Edition,
        Publication,
        PublishedChunk,
        PublishedDocument,
        Record,
        RecordStore,
    )
    from kebab.ports.text import Analyzer, PatternMatcher
    from kebab.ports.truth import (
        ChunkOwner,
        DocumentStore,
        EmbeddingStore,
        LinkStore,
        PendingChange,
        StoreAccess,
        StoreFile,
        Stores,
        StoreState,
    )
    from kebab.ports.workers import Job, WorkerDied, WorkerOverdue, Workers, WorkerStarved

# What a search needs. Making the values of the other modules would be a twentieth of a cold one.
_FIRST = ("text", "models", "indexes", "truth", "history", "folders")

__all__ = [
    "NONE_CUT",
    "Analyzer",
    "AnswerStore",
    "Captioner",
    "ChunkOwner",
    "CodeReader",
    "Definition",
    "DocumentEngines",
    "DocumentStore",
    "Edition",
    "Embedder",
    "EmbeddingKind",
    "EmbeddingStore",
    "Ending",
    "EvalStore",
    "ExecutionIndex",
    "ExecutionStore",
    "FieldWeights",
    "FolderEvents",
    "FollowerIndex",
    "Frequencies",
    "Heard",
    "HtmlEvent",
    "HtmlEventKind",
    "HtmlReader",
    "HwpReader",
    "HwpText",
    "IndexShape",
    "Indexes",
    "Job",
    "JsonSchema",
    "LanguageModel",
    "Ledger",
    "LexicalIndex",
    "LexicalQuery",
    "LinkStore",
    "MemoryAccess",
    "MemoryChanges",
    "MemoryEntry",
    "MemoryKind",
    "ModelKey",
    "Outline",
    "PatternMatcher",
    "PdfEntry",
    "PdfFile",
    "PdfLine",
    "PdfPage",
    "PdfReader",
    "PendingChange",
    "Picture",
    "Prompt",
    "Publication",
    "PublishedChunk",
    "PublishedDocument",
    "Recognised",
    "Record",
    "RecordStore",
    "Reranker",
    "RevisedStore",
    "Saved",
    "Sheet",
    "SheetReader",
    "SourceFiles",
    "Spoken",
    "StoreAccess",
    "StoreFile",
    "StoreState",
    "Stores",
    "TextRecogniser",
    "Transcriber",
    "Unopened",
    "VectorIndex",
    "VectorSpace",
    "Vectors",
    "Vocabulary",
    "WorkerDied",
    "WorkerOverdue",
    "WorkerStarved",
    "Workers",
]


def __getattr__(name: str) -> object:
    """A name of one of the modules, loaded when it is first asked for."""
    if name in __all__:
        for module in _modules():
            loaded = vars(import_module(f"{__name__}.{module}"))
            if name in loaded:
                globals()[name] = loaded[name]
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _modules() -> Iterator[str]:
    yield from _FIRST
    from pkgutil import iter_modules

    yield from (module.name for module in iter_modules(__path__))
