"""What we ask of the outside, and nothing more: a module for each kind, every name also here.

A *store* is truth. An *index* is derived from it: it may be deleted at any time and is built again. Adapters
do not inherit from these Protocols; the type checker compares them where ``assembly`` joins the two.
"""

from kebab.ports.code import CodeReader, Definition, Outline
from kebab.ports.documents import (
    DocumentEngines,
    HtmlEvent,
    HtmlEventKind,
    HtmlReader,
    PdfEntry,
    PdfFile,
    PdfLine,
    PdfPage,
    PdfReader,
    Unopened,
)
from kebab.ports.indexes import NO_TERMS, Indexes, LexicalIndex, LexicalQuery, VectorIndex
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
from kebab.ports.models import Embedder, EmbeddingKind, LanguageModel, ModelKey, Prompt, Reranker, Vectors
from kebab.ports.text import Analyzer
from kebab.ports.truth import (
    AnswerStore,
    DocumentStore,
    EmbeddingStore,
    EvalStore,
    Ledger,
    PendingChange,
    SourceFiles,
    StoreAccess,
    StoreFile,
    Stores,
    StoreState,
)

__all__ = [
    "NO_TERMS",
    "Analyzer",
    "AnswerStore",
    "CodeReader",
    "Definition",
    "DocumentEngines",
    "DocumentStore",
    "Embedder",
    "EmbeddingKind",
    "EmbeddingStore",
    "EvalStore",
    "ExecutionIndex",
    "ExecutionStore",
    "FollowerIndex",
    "Frequencies",
    "HtmlEvent",
    "HtmlEventKind",
    "HtmlReader",
    "Indexes",
    "LanguageModel",
    "Ledger",
    "LexicalIndex",
    "LexicalQuery",
    "MemoryAccess",
    "MemoryChanges",
    "MemoryEntry",
    "MemoryKind",
    "ModelKey",
    "Outline",
    "PdfEntry",
    "PdfFile",
    "PdfLine",
    "PdfPage",
    "PdfReader",
    "PendingChange",
    "Prompt",
    "Reranker",
    "RevisedStore",
    "Saved",
    "SourceFiles",
    "StoreAccess",
    "StoreFile",
    "StoreState",
    "Stores",
    "Unopened",
    "VectorIndex",
    "VectorSpace",
    "Vectors",
]
