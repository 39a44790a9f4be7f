"""Which vector index the settings choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.assembly.choice import chosen
from kebab.assembly.installed import is_installed, require

if TYPE_CHECKING:
    from kebab.ports import ModelKey, VectorIndex

Refill = Callable[["VectorIndex"], object]


def build_vector_index(engine: str, folder: Path, model: ModelKey, *, refill: Refill) -> VectorIndex:
    """``refill`` fills an empty index from the store, where a growing one changes its engine."""
    builders: dict[str, Callable[[], VectorIndex]] = {
        "auto": lambda: _growing(folder, model, refill),
        "int8": lambda: _int8(folder, model),
        "lance": lambda: _lance(folder, model),
    }
    return chosen(builders, engine, key="search.vector_engine")()


def _growing(folder: Path, model: ModelKey, refill: Refill) -> VectorIndex:
    """Lance, where it is installed, for many vectors of a model whose signs nobody has measured.

    Without it every vector is compared, however many there are: slower, and complete. What an earlier version
    moved to Lance though the signs serve moves back.
    """
    from kebab.adapters.growing_vector import EXACT_CHUNKS, GrowingVectorIndex

    if not is_installed("lance"):
        return _int8(folder, model)
    threshold = None if _is_built_in(model) else EXACT_CHUNKS
    return GrowingVectorIndex(_int8(folder, model), _lance(folder, model), refill, threshold)


def _int8(folder: Path, model: ModelKey) -> VectorIndex:
    from kebab.adapters.int8_vector import Int8VectorIndex

    return Int8VectorIndex(folder, model, signed=_is_built_in(model))


def _is_built_in(model: ModelKey) -> bool:
    """Whether it is the one whose signs were measured (docs/decisions/0016-two-looks.md)."""
    from kebab.adapters.embedders.static import StaticEmbedder
    from kebab.ports import ModelKey

    return ModelKey.of(StaticEmbedder()) == model


def _lance(folder: Path, model: ModelKey) -> VectorIndex:
    from kebab.adapters.lance_vector import LanceVectorIndex

    require("lance", "this vector index needs Lance", extra="lance")
    return LanceVectorIndex(folder, model)


def other_vector_files(folder: Path, models: Sequence[ModelKey]) -> list[Path]:
    """The vector indexes in a folder of all models but these, by path."""
    from kebab.adapters.vector_tables import table_name

    kept = tuple(f"{table_name(model)}." for model in models)
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if not path.name.startswith(kept))
