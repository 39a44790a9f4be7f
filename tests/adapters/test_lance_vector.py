"""The vector index on Lance beyond its contract: what it says, and where."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]

# In a process of its own: the engine reads once, when it is loaded, what its log may say.
TRAIN = """
import sys
from pathlib import Path
import numpy as np
from kebab.adapters.lance_vector import LanceVectorIndex
from kebab.ports import ModelKey
from tests.samples import sample

chunks = [stored for n in range(9000) for stored in sample(f"{n}.md", "the same").stored()]
vectors = {stored.chunk.chunk_id: np.ones(8, dtype=np.float32) for stored in chunks}
index = LanceVectorIndex(Path(sys.argv[1]), ModelKey("toy", "1", 8), ann_threshold=1)
index.apply(removed=(), chunks=chunks, vectors=vectors, checkpoint=1)
index.optimize()  # vectors that are all alike leave partitions empty, of which the engine warns
"""


def test_the_engines_log_does_not_reach_the_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TRAIN, str(tmp_path)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
