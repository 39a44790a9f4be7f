"""The Lance form of the vector index in bounded memory: its copy is written piece by piece."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
ROWS, DIMENSIONS = 24_000, 768
TABLE_MB = ROWS * DIMENSIONS * 4 / 1e6

# In a process of its own: what is at its highest there is of this alone. Writing 5 to clear_refs begins anew.
COPY = f"""
import sys
from dataclasses import replace
from pathlib import Path
import numpy as np
from kebab.adapters.lance_vector import LanceVectorIndex
from kebab.domain.ids import ChunkId
from kebab.ports import ModelKey
from tests.samples import sample

def memory(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))

(one,) = sample("a.md", "text").stored()
index = LanceVectorIndex(Path(sys.argv[1]), ModelKey("toy", "1", {DIMENSIONS}))
for first in range(0, {ROWS}, 4000):
    names = [ChunkId(f"{{number:032x}}") for number in range(first, first + 4000)]
    chunks = [replace(one, chunk=replace(one.chunk, chunk_id=name, doc_id=name)) for name in names]
    rows = np.random.default_rng(first).normal(size=(4000, {DIMENSIONS})).astype(np.float32)
    index.apply(removed=(), chunks=chunks, vectors=dict(zip(names, rows)), checkpoint=first + 1)
before = memory("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
index.optimize()
print(memory("VmHWM") - before)
assert [hit.id for hit in index.search(rows[7], limit=1)] == [names[7]]
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="asks Linux what is in memory")
def test_the_copy_of_a_table_is_written_without_holding_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", COPY, str(tmp_path)]
    # As in an ingest, threads share what they free: see kebab.ingest.allocator.
    shared = os.environ | {"MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, cwd=PROJECT, env=shared, capture_output=True, text=True, check=True)
    assert float(done.stdout) < TABLE_MB / 2
