"""The axes of a model: the directions in which its vectors differ most, for the first look of a search.

    python -m training.axes --data FOLDER --out AXES.npy [--skip NAME ...]

Texts of every source of records count alike, and the model's own table, which knows every word, counts beside
them. A row of the result is an axis, in whole numbers. docs/decisions/0016-two-looks.md says what it is for.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kebab.adapters.embedders.static import SHIPPED, StaticEmbedder
from kebab.ports import EmbeddingKind
from training.records import read, sources

COUNT = 320
"""How many axes are kept: see the decision for what fewer and more of them find."""
TEXTS = 2000
"""Of a source."""
LENGTH = 1200
"""Characters of a text: as long as chunks are."""
SHARE_OF_TABLE = 0.3
"""How much all words count beside the texts of one source."""

Floats = NDArray[np.float64]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--skip", nargs="*", default=[], help="sources that are kept for judging")
    options = parser.parse_args(arguments)
    chosen = [path for path in sources(options.data) if path.name.split(".")[0] not in options.skip]
    moment = sum((_moment(path) for path in chosen), SHARE_OF_TABLE * _of_table(SHIPPED))
    strengths, directions = np.linalg.eigh(moment)
    held = strengths[::-1][:COUNT].sum() / strengths.sum()
    print(f"{len(chosen)} sources; {COUNT} axes hold {held:.1%} of the squares")
    np.save(options.out, whole(directions[:, ::-1].T[:COUNT]))


def whole(axes: Floats) -> NDArray[np.int8]:
    """The axes in whole numbers, all by one factor; each points to where its largest number is positive."""
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1, keepdims=True), axis=1)
    return np.asarray(np.rint(axes * np.sign(largest) * (127 / np.abs(axes).max())), dtype=np.int8)


def _moment(source: Path) -> Floats:
    """How the vectors of some texts of a source spread, as a whole of 1."""
    rows = StaticEmbedder().embed(list(islice(_texts(source), TEXTS)), EmbeddingKind.DOCUMENT)
    wide = rows.astype(np.float64)
    return wide.T @ wide / len(wide)


def _texts(source: Path) -> Iterator[str]:
    for record in read(source):
        for title, body in ((record.title_en, record.body_en), (record.title_ko, record.body_ko)):
            if len(body) > LENGTH // 10:
                yield f"{title}\n{body[:LENGTH]}"


def _of_table(folder: Path) -> Floats:
    """The same of the model's pieces, by how likely and how telling they are."""
    vectors = np.load(folder / "vectors.npy").astype(np.float64)
    weights = np.load(folder / "weights.npy")[1].astype(np.float64)
    likely = np.exp(np.minimum(np.load(folder / "scores.npy").astype(np.float64), 0.0))
    moment = (vectors * (likely * weights**2)[:, None]).T @ vectors
    return np.asarray(moment / np.trace(moment))


if __name__ == "__main__":
    main()
