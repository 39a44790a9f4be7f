"""Links and related notes, joined to the engines; apart from search, so that links load no index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kebab.assembly.read import build_reader
from kebab.search.links import Linker

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.domain.hits import Degradation
    from kebab.ports import VectorIndex
    from kebab.search.related import Relater


def build_linker(engines: Engines) -> Linker:
    """Raises NotIndexed where there is no knowledge base."""
    stores = engines.reading
    return Linker(stores.documents, stores.links, build_reader(engines), engines.files)


def build_relater(engines: Engines, linker: Linker) -> Relater:
    """Raises NotIndexed. A model that cannot be loaded is told in what it finds."""
    from kebab.search.related import Relater

    stores = engines.reading
    return Relater(stores.documents, stores.embeddings, linker, engines.files, _vectors(engines))


def _vectors(engines: Engines) -> VectorIndex | Degradation:
    from kebab.domain.hits import Degradation
    from kebab.errors import EngineError
    from kebab.ports import ModelKey

    try:
        embedder = engines.embedder
        if embedder is not None:
            return engines.vector_index(ModelKey.of(embedder))
    except EngineError as error:
        return Degradation("vector", error.code, error.message, error.hint)
    message = "there is no embedding model: notes are related by links and tags alone"
    return Degradation("vector", "no_model", message, "set models.embedding.provider")
