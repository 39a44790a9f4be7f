"""A process that fetches what was published, until it is killed.

``python -m tests.faults.follow_victim URI CACHE DATA``; it says ``begin`` when the imports are over.
"""

from __future__ import annotations

import sys
from pathlib import Path

import lance  # noqa: F401  # imported now, so that a kill meets the work and not the imports
import numpy  # noqa: F401
import tantivy  # noqa: F401

from kebab.app import Kebab


def main(uri: str, cache: str, data: Path) -> None:
    sys.stdout.write("begin\n")
    sys.stdout.flush()
    overrides = {"index.url": uri, "index.cache_dir": cache}
    with Kebab.open(root=data / "none", data_dir=data, overrides=overrides) as replica:
        while True:
            replica.search("rope")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
