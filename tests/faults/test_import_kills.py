"""kill -9 in the middle of an import: what stood there or what was to come, whole; never something between.

Some kills in every run; KEBAB_KILLS=300 does three hundred.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.conftest import Base, make_base, sick

KILLS = max(4, int(os.environ.get("KEBAB_KILLS", "16")) // 2)
PROJECT = Path(__file__).parents[2]
VICTIM = """
import sys
from pathlib import Path
import lance, numpy, tantivy
from kebab.app import Kebab
root, data, *bundles = map(Path, sys.argv[1:])
print("begin", flush=True)
with Kebab.open(root=root, data_dir=data) as kb:
    while True:
        for bundle in bundles:
            kb.import_bundle(bundle, force=True)
            print("imported", flush=True)
"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kills")]


def bundle_of(folder: Path, notes: int) -> Path:
    base = make_base(folder, notes=notes)
    with base.open() as kb:
        kb.ingest()
        kb.export_bundle(folder / "all.kebab")
    return folder / "all.kebab"


def test_a_killed_import_leaves_one_knowledge_base_or_the_other(tmp_path: Path) -> None:
    bundles = [bundle_of(tmp_path / name, notes) for name, notes in (("a", 3), ("b", 7))]
    base = make_base(tmp_path / "ours", notes=3)
    with base.open() as kb:
        kb.ingest()
        kb.ingest_text("a text of mine", title="Mine")
    seed = int(os.environ.get("KEBAB_SEED", str(random.randrange(10**6))))
    print(f"seed {seed}")  # noqa: T201 - pytest shows it with a failure
    dice = random.Random(seed)
    for kill in range(KILLS):
        kill_import(base, bundles, after_s=dice.random() * 1.5)
        look(base, deep=kill % 4 == 3)


def kill_import(base: Base, bundles: list[Path], *, after_s: float) -> None:
    command = [sys.executable, "-c", VICTIM, str(base.root), str(base.data), *map(str, bundles)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "begin\n"
        time.sleep(after_s)
        victim.kill()


def look(base: Base, *, deep: bool) -> None:
    """A reader comes first: it finishes what was begun."""
    with base.open() as kb:
        paths = [document.path for document in kb.list_docs() if document.source_id != "inbox"]
        assert paths in ([f"n{number}.md" for number in range(count)] for count in (3, 7))
        assert kb.search("rope ship2").hits[0].doc_path == "n2.md"
        assert not (base.data / ".import").exists()
        assert any("a text of mine" in file.read_text() for file in (base.data / "inbox").rglob("*.md"))
        if deep:
            assert [check for check in sick(kb.doctor()) if check.status == "fault"] == []
