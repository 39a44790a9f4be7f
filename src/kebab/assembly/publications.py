"""Publishing and following, joined to the engines that an address names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kebab.assembly.installed import require
from kebab.config import Settings
from kebab.domain.ids import content_hash
from kebab.domain.layout import DataLayout
from kebab.domain.turns import Waiting, unheard
from kebab.errors import InvalidInput
from kebab.upkeep.cache import Held, ReplicaCache
from kebab.upkeep.replica import Replica, vector_engine

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.domain.publications import Release
    from kebab.domain.reports import Check
    from kebab.ports import Analyzer, LexicalIndex, ModelKey, Publication, RecordStore, VectorIndex
    from kebab.ports import Stores as StoresPort
    from kebab.upkeep.publish import Publisher


def _lance(uri: str, waiting: Waiting) -> Publication:
    from kebab.adapters.lance_published.publication import LancePublication
    from kebab.ingest.allocator import give_back

    require("lance", "folders and object stores need Lance", extra="lance")
    return LancePublication(uri, give_back=give_back)


def _qdrant(uri: str, waiting: Waiting) -> Publication:
    import os

    from kebab.adapters.qdrant_published.publication import QdrantPublication

    api_key = os.environ.get("KEBAB_QDRANT_API_KEY") or None
    return QdrantPublication(uri, api_key=api_key, waiting=waiting)


_SCHEMES: dict[str, Callable[[str, Waiting], Publication]] = {
    "file": _lance,
    "s3": _lance,
    "gs": _lance,
    "az": _lance,
    "qdrant": _qdrant,
    "qdrants": _qdrant,
}


def open_publication(uri: str, *, waiting: Waiting = unheard) -> Publication:
    """What is published at an address; nothing is contacted yet. Raises InvalidInput, EngineUnavailable.

    ``waiting`` hears, in words, what a request waits for.
    """
    scheme, found, _ = uri.partition("://")
    if found and scheme not in _SCHEMES:
        known = ", ".join(f"{name}://" for name in _SCHEMES if name != "file")
        raise InvalidInput(f"{scheme}:// is no place to publish to", hint=f"use a folder, or one of {known}")
    return _SCHEMES[scheme if found else "file"](uri, waiting)


@dataclass(frozen=True, slots=True)
class Published:
    """The release that a data folder holds, for the engines that are opened on it."""

    publication: Publication
    held: Held
    home: DataLayout
    """The user's own data folder: models and the execution memory are not published."""

    @property
    def sources(self) -> set[str]:
        return {source for part in self.held.release.parts for source in part.contents.sources}

    def examined(self) -> Check:
        from kebab.upkeep.examine_published import examine_published

        return examine_published(self.publication, self.held.release)

    def words(self, analyzer: Analyzer) -> LexicalIndex | None:
        folder = DataLayout(self.held.folder).index
        return self.publication.words(self.held.release, folder, analyzer, checkpoint=self.held.checkpoint)

    def vectors(self, model: ModelKey) -> VectorIndex | None:
        return self.publication.vectors(self.held.release, model, checkpoint=self.held.checkpoint)


def build_replica(settings: Settings, *, waiting: Waiting = unheard) -> Replica:
    """What keeps the release here that ``index.url`` names. Raises InvalidInput."""
    from kebab.search.analyze import Analyzer

    publication = open_publication(settings.index.url, waiting=waiting)
    name = content_hash(publication.uri.encode())[:16]
    return Replica(
        publication=publication,
        cache=ReplicaCache(Path(settings.index.cache_dir) / f"index-{name}", settings.index.cache_mb),
        analyzer=Analyzer(),
        base=lambda folder, release: _base(settings, folder, release),
        records=_records,
        locked=lambda path, waits: _locked(path, settings.lock_timeout_s if waits else 0.0, waiting),
        waiting=waiting,
    )


def settings_on(settings: Settings, folder: Path, release: Release) -> Settings:
    """The settings for a replica in a folder: vectors are compared as where they were published."""
    search = settings.search
    if search.vector_engine == "auto":
        theirs = {vector_engine(part) for part in release.parts}
        engine = "lance" if "lance" in theirs else "int8"
        search = msgspec.structs.replace(search, vector_engine=engine)
    return msgspec.structs.replace(settings, data_dir=folder, search=search)


def _base(settings: Settings, folder: Path, release: Release) -> Engines:
    from kebab.assembly.engines import Engines

    home = DataLayout(settings.data_dir)
    return Engines(settings_on(settings, folder, release), downloads=home.models)


def _records(stores: StoresPort) -> RecordStore:
    from kebab.assembly.stores import Stores

    assert isinstance(stores, Stores)
    return stores.records


def _locked(path: Path, timeout_s: float, waiting: Waiting) -> AbstractContextManager[None]:
    from kebab.adapters.writer_lock import writer_lock

    return writer_lock(path, command="follow", timeout_s=timeout_s, waiting=waiting)


def build_publisher(engines: Engines) -> Publisher:
    import kebab
    from kebab.adapters.sqlite.document_store import utc_now
    from kebab.assembly.upkeep import build_index_builder
    from kebab.ingest.allocator import few_arenas
    from kebab.upkeep.publish import Publisher

    few_arenas()
    sources = engines.settings.sources
    return Publisher(
        layout=engines.layout,
        access=engines,
        builder=build_index_builder(engines),
        analyzer=engines.analyzer,
        records=_records,
        word_files=lambda: _word_files(engines),
        open_publication=partial(open_publication, waiting=engines.waiting),
        kebab_version=kebab.__version__,
        now=utc_now,
        default_name=sources[0].id if sources else "default",
    )


def _word_files(engines: Engines) -> list[Path]:
    from kebab.adapters.tantivy_files import searched_files
    from kebab.adapters.tantivy_lexical import TantivyLexicalIndex

    index = engines.lexical_index
    if not isinstance(index, TantivyLexicalIndex) or not index.checkpoint():
        return []
    return searched_files(engines.layout.index / "tantivy")
