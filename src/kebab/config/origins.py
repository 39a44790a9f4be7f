"""Where each setting came from: the default, the file, the environment or a flag."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from kebab.config.check import typed
from kebab.config.locate import default_cache_dir, default_data_dir
from kebab.config.read import read_file
from kebab.config.sections import File
from kebab.config.settings import Settings


class Origin(StrEnum):
    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Placed:
    """A setting with its value in use, its default, and who set it; ``place`` is a path or a variable."""

    key: str
    value: Any
    default: Any
    origin: Origin
    place: str | None


def settings_with_origins(settings: Settings, *, environ: Mapping[str, str] | None = None) -> list[Placed]:
    """Every key of the settings, in the order of the annotated file; sources are listed apart."""
    stated = dict(_flat(read_file(settings.file))) if settings.file and settings.file.is_file() else {}
    defaults = dict(_flat(msgspec.to_builtins(File())))
    variables = os.environ if environ is None else environ
    return [
        _placed(key, value, defaults[key], stated=stated, settings=settings, environ=variables)
        for key, value in _in_use(settings)
    ]


def _in_use(settings: Settings) -> Iterator[tuple[str, Any]]:
    yield "storage.data_dir", str(settings.data_dir)
    yield "storage.lock_timeout_s", settings.lock_timeout_s
    for name in ("ingest", "chunking", "models", "search", "rag", "memory", "serve", "index", "screen"):
        yield from _flat(msgspec.to_builtins(getattr(settings, name)), f"{name}.")


_PATHS = frozenset(
    {
        "storage.data_dir",
        "ingest.ocr_data",
        "models.embedding.path",
        "models.reranker.path",
        "models.speech.path",
        "rag.weights",
        "memory.url",
        "index.url",
        "index.cache_dir",
    }
)


def _placed(
    key: str,
    value: Any,
    default: Any,
    *,
    stated: Mapping[str, Any],
    settings: Settings,
    environ: Mapping[str, str],
) -> Placed:
    variable = "KEBAB_" + key.upper().replace(".", "__")
    paths = key in _PATHS
    if variable in environ and (paths or msgspec.to_builtins(typed(key, environ[variable])) == value):
        return Placed(key, value, default, Origin.ENVIRONMENT, variable)
    if key in stated and (paths or stated[key] == value):
        return Placed(key, value, default, Origin.FILE, str(settings.file))
    folders = {"storage.data_dir": default_data_dir, "index.cache_dir": default_cache_dir}
    fallback = str(folders[key](environ)) if key in folders else default
    unset = value == fallback
    return Placed(key, value, default, Origin.DEFAULT if unset else Origin.FLAG, None)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
