"""A process that changes its notes and publishes them, again and again, until it is killed.

``python -m tests.faults.publish_victim ROOT DATA URI VERSION``; it says ``begin`` when the imports are over.
"""

from __future__ import annotations

import sys
from pathlib import Path

import lance  # noqa: F401  # imported now, so that a kill meets the work and not the imports
import numpy  # noqa: F401
import tantivy  # noqa: F401

from kebab.app import Kebab

NOTES = 12


def write(root: Path, version: int) -> None:
    """Every note says which version it is of; some come and some go with each."""
    root.mkdir(exist_ok=True)
    for number in range(NOTES):
        (root / f"n{number}.md").write_text(
            f"# Note {number}\n\nrope of version {version} 밧줄\n", encoding="utf-8"
        )


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(root: Path, data: Path, uri: str, version: int) -> None:
    say("begin")
    with Kebab.open(root=root, data_dir=data) as kebab:
        while True:
            write(root, version)
            kebab.ingest()
            kebab.publish(uri)
            say(str(version))
            version += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
