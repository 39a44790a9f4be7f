"""Reading stored text, joined to the engines; apart from search, so that reading does not load it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kebab.search.read import Reader

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines


def build_reader(engines: Engines) -> Reader:
    """Raises NotIndexed where there is no knowledge base."""
    stores = engines.reading
    return Reader(stores.documents, stores.embeddings, engines.files)
