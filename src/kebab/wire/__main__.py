"""``python -m kebab.wire DIR`` writes the JSON schemas into a folder.

A change that would break readers of the schemas already there is refused: a shape that must change so gets a
new name and version, and the old one stays.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kebab.wire.catalogue import SHAPES
from kebab.wire.schemas import BrokenPromise, write_schemas


def main(folder: Path) -> int:
    try:
        for path in write_schemas(SHAPES, folder):
            sys.stderr.write(f"{path}\n")
    except BrokenPromise as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
