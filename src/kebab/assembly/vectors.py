"""Which vector index the settings choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.assembly.choice import chosen
from kebab.assembly.installed import is_installed, require

if TYPE_CHECKING:
    from kebab.adapters.lead_axes import Axes
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
    """Exact where Lance is not installed, however large: slower, and complete."""
    from kebab.adapters.growing_vector import GrowingVectorIndex

    if not is_installed("lance"):
        return _int8(folder, model)
    return GrowingVectorIndex(_int8(folder, model), _lance(folder, model), refill)


def _int8(folder: Path, model: ModelKey) -> VectorIndex:
    from kebab.adapters.int8_vector import Int8VectorIndex

    return Int8VectorIndex(folder, model, _axes(model))


def _axes(model: ModelKey) -> Axes | None:
    """Those that come with the built-in model; of other models none are known."""
    from kebab.adapters.embedders.static import SHIPPED, StaticEmbedder
    from kebab.adapters.lead_axes import Axes
    from kebab.ports import ModelKey

    return Axes(SHIPPED / "axes.npy") if ModelKey.of(StaticEmbedder()) == model else None


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
