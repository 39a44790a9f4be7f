"""How often would a first page of hybrid search say the same thing twice?

    python -m benchmarks.repetitions NAME=FOLDER …

Each folder is ingested into a temporary place and searched with up to 250 of its headings and 250 runs of
seven words of its text, by a fixed shuffle. Where a hit stood before repetitions moved down is read from its
fused score.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from kebab import Kebab
from kebab.domain.chunks import StoredChunk
from kebab.domain.hits import SearchHit
from kebab.search.spread import WINDOW

PAGE, QUERIES, WORDS = 10, 250, 7


@dataclass(frozen=True, slots=True)
class Count:
    pages: int = 0
    repeating: int = 0
    """Pages that would hold a repetition."""
    hits: int = 0
    left: int = 0
    """Pages that hold one although repetitions move down."""


def queries(chunks: Sequence[StoredChunk]) -> list[str]:
    shuffle = random.Random(0)
    titles = {c.title for c in chunks} | {c.chunk.heading_path[-1] for c in chunks if c.chunk.heading_path}
    headings = sorted(titles)
    shuffle.shuffle(headings)
    runs = (c.chunk.text.split() for c in shuffle.sample(chunks, min(QUERIES, len(chunks))))
    starts = ((run, shuffle.randrange(len(run) - WORDS)) for run in runs if len(run) > WORDS)
    # Quotes and dashes would be phrases and exclusions.
    return [re.sub(r'["-]', " ", text) for text in headings[:QUERIES]] + [
        re.sub(r'["-]', " ", " ".join(run[at : at + WORDS])) for run, at in starts
    ]


def counted(total: Count, hits: Sequence[SearchHit]) -> Count:
    before = sorted(hits, key=lambda hit: (-hit.retrieval.fusion_score, hit.rank))[:PAGE]
    repeated = sum(hit.repeats is not None for hit in before)
    left = any(hit.repeats is not None for hit in hits[:PAGE])
    return Count(total.pages + 1, total.repeating + bool(repeated), total.hits + repeated, total.left + left)


def measure(folder: Path) -> tuple[int, Count]:
    """The number of chunks and what their pages hold."""
    total = Count()
    with (
        TemporaryDirectory(prefix="kebab-repetitions-") as data,
        Kebab.open(root=folder, data_dir=Path(data)) as kebab,
    ):
        kebab.ingest()
        chunks = list(kebab.engines.reading.documents.stored_chunks())
        for text in queries(chunks):
            if hits := kebab.search(text, k=WINDOW).hits:
                total = counted(total, hits)
    return len(chunks), total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    print(
        "| text | chunks | pages | would repeat | repeated hits | still repeat |\n|---|---|---|---|---|---|"
    )
    for given in parser.parse_args().folders:
        name, _, folder = given.partition("=")
        chunks, count = measure(Path(folder))
        share = f"{count.repeating} ({count.repeating / max(1, count.pages):.1%})"
        print(f"| {name} | {chunks:,} | {count.pages} | {share} | {count.hits} | {count.left} |", flush=True)


if __name__ == "__main__":
    main()
