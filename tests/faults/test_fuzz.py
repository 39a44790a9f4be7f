"""Any bytes at every parser and decoder: an answer or the error that is promised, and nothing else.

Some thousand inputs each in every run; KEBAB_FUZZ_SECONDS=120 gives each target so long, and
KEBAB_SEED=7 other inputs.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.fuzz.targets import TARGETS, requests

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fuzz")]

PROJECT = Path(__file__).parents[2]
SECONDS = int(os.environ.get("KEBAB_FUZZ_SECONDS", "0"))
SEED = os.environ.get("KEBAB_SEED", "1")
RUNS = 1500
LONGEST = 4096


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_is_taken(name: str) -> None:
    target = TARGETS[name]()
    assert target.seeds
    for seed in (*target.seeds, b"", b"\0", b"\xff" * 40):
        target.run(seed)


def test_all_requests_are_fuzzed() -> None:
    assert len(requests()) > 25


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed here")
@pytest.mark.parametrize("name", TARGETS)
def test_no_bytes_end_in_an_error_that_nobody_expects(name: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    amount = [f"-max_total_time={SECONDS}"] if SECONDS else [f"-runs={RUNS}"]
    options = [f"-seed={SEED}", f"-max_len={LONGEST}", "-timeout=20", "-rss_limit_mb=3000"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.fuzz.run", name, str(corpus), *amount, *options,
         f"-artifact_prefix={tmp_path}/found-"],
        cwd=PROJECT, capture_output=True, text=True, errors="replace", timeout=SECONDS + 300,
    )  # fmt: skip
    found = [file.read_bytes()[:400] for file in tmp_path.glob("found-*")]
    assert done.returncode == 0, f"{found}\n{done.stdout[-2500:]}\n{done.stderr[-1500:]}"
