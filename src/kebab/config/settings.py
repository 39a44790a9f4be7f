"""The settings as the application is built from them: every path absolute, every source named once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from kebab.config.locate import default_cache_dir, default_data_dir
from kebab.config.paths import absolute
from kebab.config.sections import (
    Chunking,
    File,
    Index,
    Ingest,
    Memory,
    Models,
    Rag,
    Screen,
    Search,
    Serve,
    Source,
)
from kebab.domain.documents import INBOX_ID
from kebab.errors import ConfigInvalid

FOLDER_URL = "surrealkv://"
"""How an address of the execution memory begins that names a folder."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The file with every path made absolute: what the application is built from."""

    file: Path | None
    data_dir: Path
    lock_timeout_s: float = 30.0
    sources: tuple[Source, ...]
    ingest: Ingest
    chunking: Chunking
    models: Models
    search: Search
    rag: Rag
    memory: Memory
    serve: Serve
    index: Index = Index()
    screen: Screen = Screen()


def settled(file: File, path: Path | None, *, base: Path, environ: Mapping[str, str]) -> Settings:
    """The file's values with relative paths resolved against ``base``.

    Raises ConfigInvalid when two sources share an id, or a source lies where kebab keeps its data.
    """
    data_dir = file.storage.data_dir
    place = absolute(data_dir, base) if data_dir else default_data_dir(environ)
    return Settings(
        file=path,
        data_dir=place,
        lock_timeout_s=file.storage.lock_timeout_s,
        sources=_apart_from(place, _sources(file, base)),
        ingest=_ingest(file.ingest, base),
        chunking=file.chunking,
        models=_models(file.models, base),
        search=file.search,
        rag=_rag(file.rag, base),
        memory=_memory(file.memory, base),
        serve=file.serve,
        index=_index(file.index, base, environ),
        screen=file.screen,
    )


def _apart_from(data_dir: Path, sources: tuple[Source, ...]) -> tuple[Source, ...]:
    """Sources may hold the data folder, which is never walked; they may not be it or lie inside it."""
    for source in sources:
        if Path(os.path.realpath(source.root)).is_relative_to(os.path.realpath(data_dir)):
            raise ConfigInvalid(
                f"storage.data_dir: {data_dir} holds the documents of the source {source.id!r}",
                hint="keep the data in a folder of its own",
            )
    return sources


def _memory(memory: Memory, base: Path) -> Memory:
    """A folder in the URL is made absolute; a server's address stays."""
    if not memory.url.startswith(FOLDER_URL):
        return memory
    folder = absolute(memory.url.removeprefix(FOLDER_URL), base)
    return msgspec.structs.replace(memory, url=f"{FOLDER_URL}{folder}")


def _sources(file: File, base: Path) -> tuple[Source, ...]:
    """The sources as stated, or the workspace as the only one."""
    workspace = file.workspace
    sources = file.sources or (Source(id="default", root=workspace.root, exclude=workspace.exclude),)
    ids = [source.id for source in sources]
    if len(set(ids)) < len(ids):
        raise ConfigInvalid(f"sources.id: two sources are called {max(ids, key=ids.count)!r}")
    if INBOX_ID in ids:
        raise ConfigInvalid(
            f"sources.id: {INBOX_ID!r} is taken by the texts and files that belong to no source",
            hint="call the source otherwise",
        )
    return tuple(msgspec.structs.replace(s, root=str(absolute(s.root, base))) for s in sources)


def _models(models: Models, base: Path) -> Models:
    """With every folder made absolute."""
    local = (("embedding", models.embedding), ("reranker", models.reranker), ("speech", models.speech))
    placed = {
        kind: msgspec.structs.replace(model, path=str(absolute(model.path, base)))
        for kind, model in local
        if model.path
    }
    return msgspec.structs.replace(models, **placed)


def _ingest(ingest: Ingest, base: Path) -> Ingest:
    """With the folder of Tesseract's data absolute."""
    if not ingest.ocr_data:
        return ingest
    return msgspec.structs.replace(ingest, ocr_data=str(absolute(ingest.ocr_data, base)))


def _rag(rag: Rag, base: Path) -> Rag:
    """With the file of weights absolute."""
    return msgspec.structs.replace(rag, weights=str(absolute(rag.weights, base))) if rag.weights else rag


def _index(index: Index, base: Path, environ: Mapping[str, str]) -> Index:
    """With its folders absolute; an address that is no folder is left as it is."""
    cache = absolute(index.cache_dir, base) if index.cache_dir else default_cache_dir(environ)
    is_folder = bool(index.url) and "://" not in index.url
    url = str(absolute(index.url, base)) if is_folder else index.url
    return msgspec.structs.replace(index, url=url, cache_dir=str(cache))
