"""What a first look at vectors may leave unread: signs beside clusters, on the texts of real folders.

    python -m benchmarks.first_looks FOLDER ... [--beside FOLDER ...] [--clusters 256]

The Markdown of the folders is cut at headings and paragraphs, texts that come twice are left out, and all are
embedded with the built-in model. Half of the queries are headings, the other half runs of three to six words.
Each line says which share of the ten and of the hundred nearest is among the first so many rows: by how few
signs differ, by signs after a random turn, and by the nearest clusters, learned from these very texts. The
last line is what the vector index itself finds of them. The texts of the folders that lie beside are searched
as well, but no query comes from them. Without clusters (0) the index alone is asked.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.synthetic import Floats
from kebab.adapters.embedders.static import StaticEmbedder
from kebab.adapters.int8_rows import Rows
from kebab.adapters.int8_segments import codes_of, key_type, open_files, squares_of, write_segment
from kebab.ports import EmbeddingKind

QUERIES = 300
SHARES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
LENGTH, SHORTEST = 1200, 80
LEARNED_FROM, ROUNDS = 40_000, 20
A_BATCH = 2000
SEED = 7
_HEADING = re.compile(r"^#{1,6} +(\S.{5,60})$", re.MULTILINE)
_PARAGRAPHS = re.compile(r"\n(?=#)|\n\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--beside", type=Path, nargs="*", default=())
    parser.add_argument("--clusters", type=int, default=256)
    options = parser.parse_args()
    notes, beside = notes_of(options.folders), notes_of(options.beside)
    own = list(dict.fromkeys(piece for note in notes for piece in pieces(note)))
    texts = list(dict.fromkeys([*own, *(piece for note in beside for piece in pieces(note))]))
    rows, asked = _codes(texts, EmbeddingKind.DOCUMENT), _codes(queries(notes, own), EmbeddingKind.QUERY)
    print(f"{len(texts):,} texts of {len(notes) + len(beside):,} files, {len(asked)} queries\n")
    if options.clusters:
        print_looks(rows, asked, options.clusters)
    print("found by the index: {:.4f} / {:.4f}".format(*found_by_index(rows, asked)))


def print_looks(rows: NDArray[np.int8], asked: NDArray[np.int8], clusters: int) -> None:
    print(f"| first look | {' | '.join(f'{share:.1%}' for share in SHARES)} |\n|---|" + "---|" * len(SHARES))
    nearest = np.argsort(-(_unit(asked) @ _unit(rows).T), axis=1)[:, :100]
    turn = np.linalg.qr(np.random.default_rng(SEED).normal(size=(rows.shape[1],) * 2))[0]
    for name, ranks in (
        ("signs", _ranks(_signs(asked) @ _signs(rows).T, nearest)),
        ("signs after a random turn", _ranks(_signs(asked @ turn) @ _signs(rows @ turn).T, nearest)),
        (f"{clusters} clusters", _cluster_ranks(rows, asked, nearest, clusters)),
    ):
        found = [ranks < share * len(rows) for share in SHARES]
        print(f"| {name} | {' | '.join(f'{one[:, :10].mean():.3f} / {one.mean():.3f}' for one in found)} |")


def found_by_index(rows: NDArray[np.int8], asked: NDArray[np.int8]) -> tuple[float, float]:
    """The share of the ten and of the hundred nearest, beside those of an index that compares every row."""
    keys = np.zeros(len(rows), dtype=key_type())
    keys["chunk"] = np.arange(len(rows), dtype=">u8").repeat(2).view("V16")
    keys["square"] = squares_of(rows)
    with TemporaryDirectory() as folder:
        segment = write_segment(Path(folder), "1", rows, keys, signed=True)
        files = (open_files(Path(folder), segment, rows.shape[1]),)
        alive = np.ones(len(rows), dtype=bool)
        looking, comparing = Rows(files, alive, signed=True), Rows(files, alive)
        shares = []
        for query in asked[:, None]:
            found, every = (
                [hit.id for hit in one.nearest(query, limit=100, docs=None)] for one in (looking, comparing)
            )
            shares.append([len({*found[:n]} & {*every[:n]}) / n for n in (10, 100)])
    ten, hundred = np.mean(shares, axis=0).tolist()
    return ten, hundred


def notes_of(folders: Sequence[Path]) -> list[str]:
    files = (path for folder in folders for path in sorted(folder.rglob("*.md")) if path.is_file())
    return [path.read_text("utf-8", errors="replace") for path in files]


def pieces(note: str) -> Iterator[str]:
    """Paragraphs together until they are as long as chunks are."""
    held = ""
    for part in _PARAGRAPHS.split(note):
        if held and len(held) + len(part) > LENGTH:
            yield held
            held = ""
        held += part[: 2 * LENGTH] + "\n\n"
    if len(held) > SHORTEST:
        yield held


def queries(notes: list[str], texts: list[str]) -> list[str]:
    chance = random.Random(SEED)
    headings = sorted({chance.choice(found) for note in notes if (found := _HEADING.findall(note))})
    asked = chance.sample(headings, min(QUERIES // 2, len(headings)))
    while len(asked) < QUERIES:
        words = chance.choice(texts).split()
        start = chance.randrange(max(1, len(words) - 6))
        asked.append(" ".join(words[start : start + chance.randint(3, 6)]))
    return asked


def _codes(texts: list[str], kind: EmbeddingKind) -> NDArray[np.int8]:
    embedder = StaticEmbedder()
    parts = [texts[at : at + A_BATCH] for at in range(0, len(texts), A_BATCH)]
    return np.concatenate(
        [codes_of(np.asarray(embedder.embed(one, kind), dtype=np.float32)) for one in parts]
    )


def _unit(rows: NDArray[np.number]) -> Floats:
    wide = rows.astype(np.float32)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def _signs(rows: NDArray[np.number]) -> Floats:
    return np.where(rows > 0, np.float32(1), np.float32(-1))


def _ranks(scores: Floats, nearest: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many rows stand before each of the nearest; those with the same score do not."""
    ordered = np.sort(-scores, axis=1)
    wanted = np.take_along_axis(-scores, nearest, axis=1)
    return np.stack([np.searchsorted(own, few) for own, few in zip(ordered, wanted, strict=True)])


def _cluster_ranks(
    rows: NDArray[np.int8], asked: NDArray[np.int8], nearest: NDArray[np.intp], count: int
) -> NDArray[np.intp]:
    """How many rows the clusters hold that are nearer than that of each of the nearest."""
    vectors = _unit(rows)
    centres = _centres(vectors, count)
    own = np.concatenate([(one @ centres.T).argmax(axis=1) for one in np.array_split(vectors, 50)])
    order = np.argsort(-(_unit(asked) @ centres.T), axis=1, kind="stable")
    sizes = np.bincount(own, minlength=count)[order]
    before = np.empty_like(order)
    np.put_along_axis(before, order, np.cumsum(sizes, axis=1) - sizes, axis=1)
    return np.take_along_axis(before, own[nearest], axis=1)


def _centres(vectors: Floats, count: int) -> Floats:
    """The centres of so many groups, by k-means over directions."""
    chance = np.random.default_rng(SEED)
    some = vectors[chance.choice(len(vectors), min(LEARNED_FROM, len(vectors)), replace=False)]
    centres = some[chance.choice(len(some), count, replace=False)]
    for _ in range(ROUNDS):
        sums = np.zeros_like(centres)
        np.add.at(sums, (some @ centres.T).argmax(axis=1), some)
        centres = _unit(np.where(sums.any(axis=1, keepdims=True), sums, centres))
    return centres


if __name__ == "__main__":
    main()
