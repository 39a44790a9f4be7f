"""Takes a part of the records of version 2, so that what it learned stays while everyday words are learned.

    python -m training.thin --data ../shared/train --out FOLDER

Version 3 was trained on every n-th record of the long sources and on all of the short ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from training.records import read, sources, write

STEPS = {
    "elife": 14,
    "dotnet": 5,
    "sql": 5,
    "cpp": 3,
    "k8s": 2,
    "mdn": 2,
    "medquad": 2,
    "pydocs": 2,
    "tfdocs": 2,
}


def thin(data: Path, out: Path) -> dict[str, int]:
    """Write every n-th record of each source, as `STEPS` says, and return how many those are."""
    return {
        path.name.split(".")[0]: write(
            out / path.name, islice(read(path), 0, None, STEPS.get(path.name.split(".")[0], 1))
        )
        for path in sources(data)
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    for name, count in thin(options.data, options.out).items():
        print(f"{name}: {count} records")


if __name__ == "__main__":
    main()
