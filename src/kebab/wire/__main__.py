"""``python -m kebab.wire DIR`` writes the JSON schemas into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from kebab.wire import SHAPES
from kebab.wire.schemas import write_schemas

if __name__ == "__main__":
    for path in write_schemas(SHAPES, Path(sys.argv[1])):
        sys.stderr.write(f"{path}\n")
