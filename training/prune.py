"""Fewer pieces for a trained table: those go whose part in a text other pieces give back best.

    python -m training.prune --model TRAINED --data FOLDER ... --out MODEL [--size 40500]

A piece that is left out is cut into others. What that changes in the vectors of texts is known: the piece's
part, less the sum of the others' parts, as often as the piece stands in the records or is said. Those that
change least go, in rounds, since the next ones may be cut into pieces that went. Needs `wordfreq` (3.1.1).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from os import cpu_count
from pathlib import Path

import numpy as np

from kebab.adapters.embedders.subwords import best_cut
from training import vocabulary
from training.export import Table, export, read_table
from training.new_words import is_hangul, used

SIZE = 40_500
"""What stays within the 32 MB of the shipped files."""
ROUNDS = 4
UNSEEN = {True: 60.0, False: 30.0}
"""What a piece of Hangul, or another one, counts beside its uses: records hold less Korean than notes do."""
SAID = 1e8
"""A word counts as often as it is said among so many words, beside its uses."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="the trained table, as it was exported")
    parser.add_argument(
        "--data", type=Path, nargs="+", required=True, help="records, whose words are counted"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, default=SIZE)
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    for folder in options.data:
        counts.update(vocabulary.count_runs(folder, workers=cpu_count() or 1))
    from wordfreq import get_frequency_dict

    said = {**get_frequency_dict("en", "large"), **get_frequency_dict("ko", "small")}
    table = pruned(read_table(options.model), counts, said, size=options.size)
    pieces = list(zip(table.pieces, table.scores, strict=True))
    export(
        options.out,
        pieces=pieces,
        continuing=table.continuing,
        vectors=table.vectors,
        weights=table.weights,
        power=0.6,
        version="3",
    )
    print(f"{len(pieces)} pieces")


def pruned(
    table: Table, counts: Mapping[str, int], said: Mapping[str, float], *, size: int, rounds: int = ROUNDS
) -> Table:
    """Return the table with no more than so many pieces; single characters stay."""
    for left in range(rounds, 0, -1):
        gone = max(0, len(table.pieces) - size) // left
        uses = used(table.cutter(), len(table.pieces), counts)
        uses += [UNSEEN[is_hangul(piece)] for piece in table.pieces]
        uses[: table.continuing] += [
            SAID * said.get(piece, 0.0) for piece in table.pieces[: table.continuing]
        ]
        table = without(table, least(table, uses)[:gone])
    return table


def least(table: Table, uses: np.ndarray) -> list[int]:
    """Return the pieces that may go, first those that are missed least."""
    parts = table.weights[1][:, None] * table.vectors
    first = {piece: place for place, piece in enumerate(table.pieces[: table.continuing])}
    inside = {piece: table.continuing + at for at, piece in enumerate(table.pieces[table.continuing :])}
    missed = {}
    for place, piece in enumerate(table.pieces):
        if len(piece) > 1:
            cut = _cut(piece, first, inside, table.scores, begins=place < table.continuing)
            lost = parts[place] - parts[cut].sum(axis=0)
            missed[place] = uses[place] * float(lost @ lost)
    return sorted(missed, key=lambda place: (missed[place], place))


def without(table: Table, gone: Sequence[int]) -> Table:
    """Return the table less some pieces."""
    kept = np.setdiff1d(np.arange(len(table.pieces)), np.array(gone, dtype=int))
    return Table(
        [table.pieces[place] for place in kept],
        [table.scores[place] for place in kept],
        int((kept < table.continuing).sum()),
        table.vectors[kept],
        table.weights[:, kept],
    )


def _cut(
    piece: str,
    first: dict[str, int],
    inside: dict[str, int],
    scores: Sequence[float],
    *,
    begins: bool,
) -> list[int]:
    """Return the pieces that stand for this one where there is none such."""
    begin, follow = (first if begins else inside), (first if is_hangul(piece) else inside)
    number = begin.pop(piece)
    try:
        return best_cut(piece, begin, follow, scores)
    finally:
        begin[piece] = number


if __name__ == "__main__":
    main()
