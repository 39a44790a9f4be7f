"""A folder read on a Ray cluster of two nodes, one of which is lost on the way, beside the same read here."""

from __future__ import annotations

import importlib.util
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ray_nodes import RayNodes, ray_nodes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="a machine has many loopback addresses only on Linux"),
    pytest.mark.xdist_group("ray"),
]

SECONDS = 240
NOTES = 400
_TRUTH = {
    "documents": "SELECT doc_id, path, asset_id, title, lang, parser_version FROM documents ORDER BY doc_id",
    "chunks": "SELECT chunk_id, doc_id, text FROM chunks ORDER BY chunk_id",
    "vectors": "SELECT content_key, vector FROM embeddings ORDER BY content_key",
    "links": "SELECT * FROM links ORDER BY 1, 2, 3",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayNodes]:
    with ray_nodes(2) as nodes:
        yield nodes


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ray") / "notes"
    folder.mkdir()
    for n in range(NOTES):
        body = "\n\n".join(
            f"## Part {p}\n\n산과 바다 {n * p} beside [[{(n * 7) % NOTES}]]." for p in range(12)
        )
        (folder / f"{n}.md").write_text(f"# Note {n}\n\n{body}\n")
    (folder / "damaged.md").write_bytes(b"\0\0")
    return folder


def start(data: Path, notes: Path, *more: str, cluster: RayNodes | None = None) -> subprocess.Popen[str]:
    own = {"KEBAB_STORAGE__DATA_DIR": str(data), "KEBAB_WORKSPACE__ROOT": str(notes)}
    return subprocess.Popen(
        [sys.executable, "-m", "kebab", "ingest", "--summary-only", *more],
        env={**(cluster.environment if cluster else os.environ), **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def content(data: Path) -> dict[str, list[object]]:
    with sqlite3.connect(f"file:{data}/kebab.sqlite?mode=ro", uri=True) as store:
        return {name: list(store.execute(query)) for name, query in _TRUTH.items()}


def documents(data: Path) -> int:
    try:
        with sqlite3.connect(f"file:{data}/kebab.sqlite?mode=ro", uri=True) as store:
            return int(store.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.Error:
        return 0


def first_documents(data: Path, run: subprocess.Popen[str]) -> int:
    """How many documents are stored when there are any, or when the run ends."""
    deadline = time.monotonic() + SECONDS
    stored = 0
    while not stored and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
        stored = documents(data)
    return stored


@pytest.fixture(scope="module")
def here(notes: Path) -> dict[str, list[object]]:
    data = notes.parent / "here"
    run = start(data, notes)
    run.communicate(timeout=SECONDS)
    assert run.returncode == 0
    return content(data)


def test_a_lost_node_loses_nothing(
    cluster: RayNodes, notes: Path, here: dict[str, list[object]], tmp_path: Path
) -> None:
    run = start(tmp_path / "data", notes, "--on", cluster.address, cluster=cluster)
    stored = first_documents(tmp_path / "data", run)
    cluster.kill(cluster.nodes.pop())
    out, err = run.communicate(timeout=SECONDS)

    assert run.returncode == 0, out + err
    assert 0 < stored < NOTES, f"the node was not lost in the middle of the run: {out}{err}"
    assert content(tmp_path / "data") == here


def test_the_rest_of_the_cluster_reads_the_same(
    cluster: RayNodes, notes: Path, here: dict[str, list[object]], tmp_path: Path
) -> None:
    run = start(tmp_path / "data", notes, "--on", cluster.address, cluster=cluster)
    out, err = run.communicate(timeout=SECONDS)
    assert run.returncode == 0, out + err
    assert content(tmp_path / "data") == here


def test_an_address_without_a_cluster_is_an_error_that_stores_nothing(notes: Path, tmp_path: Path) -> None:
    run = start(tmp_path / "data", notes, "--on", "ray://127.0.0.1:9")
    out, err = run.communicate(timeout=SECONDS)
    assert run.returncode == 2
    assert "error: ray://127.0.0.1:9 cannot be reached" in err
    assert "Traceback" not in out + err
    assert documents(tmp_path / "data") == 0
