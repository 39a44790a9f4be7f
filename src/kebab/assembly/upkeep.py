"""The upkeep room joined to the stores, the indexes and the models."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import kebab
from kebab.ports import ModelKey

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.domain.reports import SchemaReport
    from kebab.upkeep.checkup import Checkup
    from kebab.upkeep.index import IndexBuilder
    from kebab.upkeep.model_shelf import ModelShelf
    from kebab.upkeep.move import Mover
    from kebab.upkeep.reset import Reset


def build_shelf(engines: Engines) -> ModelShelf:
    from kebab.upkeep.model_shelf import ModelShelf

    return ModelShelf(engines.settings, engines.layout, engines, engines)


def build_index_builder(engines: Engines) -> IndexBuilder:
    from kebab.upkeep.index import IndexBuilder

    return IndexBuilder(
        access=engines,
        indexes=engines,
        shelf=build_shelf(engines),
        batch_size=engines.settings.models.embedding.batch_size,
    )


def build_checkup(engines: Engines) -> Checkup:
    from kebab.assembly.ingest import build_pipeline
    from kebab.upkeep.checkup import Checkup

    settings = engines.settings
    remembers = bool(settings.memory.url) or engines.home.memory.exists()
    return Checkup(
        layout=engines.layout,
        folder=engines.folder,
        config_file=settings.file,
        roots={} if engines.published else {one.id: Path(one.root) for one in settings.sources},
        endpoints=engines.endpoints,
        access=engines,
        builder=build_index_builder(engines),
        analyzer=engines.analyzer,
        memory=engines if remembers else None,
        pipeline=partial(build_pipeline, settings, engines),
        published=engines.published.examined if engines.published else None,
    )


def build_reset(engines: Engines) -> Reset:
    from kebab.upkeep.reset import Reset

    return Reset(engines.layout, engines.folder, engines.settings.file, engines, build_index_builder(engines))


def build_mover(engines: Engines) -> Mover:
    from kebab.upkeep.move import Mover

    def beside(folder: Path) -> Checkup:
        return build_checkup(engines.beside(folder))

    builder = build_index_builder(engines)
    return Mover(engines.layout, engines.folder, engines, builder, beside, kebab.__version__)


def describe_knowledge_base(engines: Engines) -> SchemaReport:
    """Capabilities, versions and statistics; works before the first ingest too."""
    from kebab.domain.documents import Media
    from kebab.ingest.parse.formats import FORMATS
    from kebab.upkeep.schema import describe

    stores = engines.reading_or_none
    embedder = engines.embedder_or_none
    # A hundred extensions of source code have one parser.
    formats = {
        ending: kind for ending, kind in FORMATS.items() if kind.media is not Media.CODE or ending == ".py"
    }
    versions = {
        "lexical": engines.lexical_index.version,
        "analyzer": engines.analyzer.version,
        **{f"parser{extension}": kind.version for extension, kind in formats.items()},
        **{f"chunker{extension}": kind.chunker.version for extension, kind in formats.items()},
    }
    if stores:
        versions["store"] = str(stores.database.schema_version())
    if embedder:
        versions["vector"] = engines.vector_index(ModelKey.of(embedder)).version
    capabilities = {
        "indexed": stores is not None,
        "lexical": True,
        "vector": embedder is not None,
        "hybrid": embedder is not None,
        "ask": True,
        "memory": engines.has_memory,
        "network": bool(engines.endpoints),
        "writable": not engines.readonly,
    }
    return describe(
        kebab_version=kebab.__version__,
        versions=versions,
        capabilities=capabilities,
        documents=stores.documents if stores else None,
        embeddings=stores.embeddings if stores else None,
    )
