"""kebab's own embedding model: a table of token vectors, English and Korean, shipped with the package.

A text's vector is the weighted sum of its tokens' vectors, brought to length 1. The table holds int8 rows,
the weights are whole numbers and so are the counts' factors, therefore the sum is exact in float64: the same
text gives the same bits whatever stands beside it and whichever linear algebra library does the sum.
How it was trained and what it is good at: docs/models/kebab-static.md.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.adapters.embedders.subwords import Subwords
from kebab.errors import ModelUnavailable
from kebab.ports import EmbeddingKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHIPPED = Path(__file__).with_name("kebab_static")
"""The folder of the model that comes with the package."""

_ROW = {EmbeddingKind.QUERY: 0, EmbeddingKind.DOCUMENT: 1}
_HIGHEST_COUNT = 4096
_COUNT_UNIT = 256
_BLOCK = 128


class StaticEmbedder:
    """Embeds by summing token vectors; nothing is read from disk before the first use.

    Queries and documents share the vectors but not the weights: a question word says little about the matter.
    A text without a single known token gets one fixed vector, the same for all of them.
    """

    def __init__(self, folder: Path = SHIPPED) -> None:
        self._folder = folder

    def __reduce__(self) -> tuple[type[StaticEmbedder], tuple[Path] | tuple[()]]:
        """Another process maps the table itself; on another machine the shipped one lies elsewhere."""
        return type(self), () if self._folder == SHIPPED else (self._folder,)

    @property
    def model_id(self) -> str:
        """The model's name, the same for all its versions."""
        return str(self._about["id"])

    @property
    def version(self) -> str:
        """Names the weights; another version is another space."""
        return str(self._about["version"])

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(str(self._about["dimensions"]))

    def embed(self, texts: Sequence[str], kind: EmbeddingKind) -> NDArray[np.float32]:
        """Return one row a text, in order, each of length 1. Raises ModelUnavailable."""
        import numpy as np

        weights = self._weights[_ROW[kind]]
        # Reused for every text: a fresh array of this size costs more than the sum itself.
        workspace = np.empty((_BLOCK, self.dimensions))
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for place, text in enumerate(texts):
            rows[place] = self._one(text, weights, workspace)
        return rows

    def _one(
        self, text: str, weights: NDArray[np.float64], workspace: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        import numpy as np

        found = np.frombuffer(self._subwords.packed(text), dtype=np.intc)
        tokens, counts = np.unique(found, return_counts=True)
        factors = weights[tokens] * self._count_factors[np.minimum(counts, _HIGHEST_COUNT - 1)]
        summed = np.zeros(self.dimensions)
        for first in range(0, len(tokens), _BLOCK):
            block = tokens[first : first + _BLOCK]
            rows = workspace[: len(block)]
            np.copyto(rows, self._vectors.take(block, axis=0))
            summed += factors[first : first + _BLOCK] @ rows
        length = np.sqrt(summed @ summed)
        return summed / length if length else np.full(self.dimensions, self.dimensions**-0.5)

    @cached_property
    def _about(self) -> dict[str, object]:
        try:
            about: dict[str, object] = json.loads((self._folder / "model.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"the embedding model in {self._folder} cannot be read: {error}"
            ) from error
        return about

    @cached_property
    def _vectors(self) -> NDArray[np.int8]:
        import numpy as np

        # As a plain array: indexing through the memory map's own class costs more.
        return np.asarray(self._load("vectors.npy", mapped=True))

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        import numpy as np

        weights: NDArray[np.float64] = self._load("weights.npy").astype(np.float64)
        return weights

    @cached_property
    def _count_factors(self) -> NDArray[np.float64]:
        import numpy as np

        power = float(str(self._about["count_power"]))
        factors: NDArray[np.float64] = np.rint(_COUNT_UNIT * np.arange(float(_HIGHEST_COUNT)) ** power)
        return factors

    @cached_property
    def _subwords(self) -> Subwords:
        try:
            pieces = (self._folder / "pieces.txt").read_text("utf-8").split("\n")
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"the vocabulary in {self._folder} cannot be read: {error}") from error
        scores = self._load("scores.npy").tolist()
        return Subwords(pieces, scores, continuing=int(str(self._about["continuing"])))

    def _load(self, name: str, *, mapped: bool = False) -> NDArray[Any]:
        import numpy as np

        try:
            found: NDArray[Any] = np.load(
                self._folder / name, mmap_mode="r" if mapped else None, allow_pickle=False
            )
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"{name} in {self._folder} cannot be read: {error}") from error
        return found
