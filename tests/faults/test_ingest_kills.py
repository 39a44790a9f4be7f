"""kill -9 in the middle of ingest, index and repair: nothing committed is lost, nothing removed is found.

Some kills in every run; KEBAB_KILLS=300 does three hundred.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.domain.queries import SearchMode
from kebab.domain.reports import CheckStatus
from tests.faults.ingest_victim import opened

KILLS = int(os.environ.get("KEBAB_KILLS", "16"))
PROJECT = Path(__file__).parents[2]
FILES = 220
SETTLE_EVERY = 8

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kills")]


@dataclass
class Vault:
    """Notes that change, each version with a word of its own."""

    root: Path
    data: Path
    dice: random.Random
    texts: dict[str, str] = field(default_factory=dict)
    """What stands on disk now."""
    past: dict[str, set[str]] = field(default_factory=dict)
    """Every text a path ever had."""
    settled: dict[str, str] = field(default_factory=dict)
    """What stood on disk at the last complete run."""
    dead: list[str] = field(default_factory=list)
    """Words of texts that no file holds any more."""
    count: int = 0

    def write(self, name: str) -> None:
        if name in self.texts:
            self.dead.append(word_of(self.texts[name]))
        self.count += 1
        text = (
            f"# Note {name}\n\nThe word is zq{self.count:06d}x.\n\n## 둘째\n\n" + "배를 묶는 밧줄. rope " * 30
        )
        (self.root / name).write_text(text, encoding="utf-8")
        self.texts[name] = text
        self.past.setdefault(name, set()).add(text)

    def remove(self, name: str) -> None:
        self.dead.append(word_of(self.texts.pop(name)))
        (self.root / name).unlink()

    def stir(self) -> None:
        """Change, add and remove some notes."""
        names = self.dice.sample(sorted(self.texts), 30)
        for name in names[:20]:
            self.write(name)
        for name in names[20:25]:
            self.remove(name)
        for _ in range(5):
            self.write(f"new-{self.count}.md")

    def open(self) -> Kebab:
        return opened(self.root, self.data)


def word_of(text: str) -> str:
    start = text.index("zq")
    return text[start : start + 9]


def killed(task: str, vault: Vault, *, after_s: float) -> bool:
    """Start a victim and kill it so long after it began; True when it was still at work."""
    return worked(task, vault, after_s=after_s) is None


def worked(task: str, vault: Vault, *, after_s: float) -> float | None:
    """How long the victim took from its beginning to its end; None when it was killed."""
    command = [sys.executable, "-m", "tests.faults.ingest_victim", task, str(vault.root), str(vault.data)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        timer = threading.Timer(after_s, process.kill)
        timer.start()
        began = time.monotonic()
        code = process.wait()
        timer.cancel()
    assert code in (-9, 0), f"{task} ended with {code}"
    return time.monotonic() - began if code == 0 else None


def check_stored(vault: Vault) -> None:
    """Whole documents only, each as its file was or is; and none lost that a finished run had stored."""
    with vault.open() as kb:
        documents = kb.engines.reading.documents
        stored = {doc.path: documents.source_text(doc.doc_id) for doc in kb.list_docs()}
        for path, text in stored.items():
            assert text in vault.past[path], f"{path} holds what no version of the file held"
        kept = {path for path, text in vault.settled.items() if vault.texts.get(path) == text}
        assert kept <= stored.keys(), f"lost: {sorted(kept - stored.keys())[:5]}"
        found = kb.search("rope 밧줄", mode=SearchMode.HYBRID, k=50).hits
        assert len({hit.chunk_id for hit in found}) == len(found)
        for hit in found:
            chunk = documents.hydrate([hit.chunk_id])[hit.chunk_id]
            assert chunk.chunk.text in (stored[hit.doc_path] or "")


def settle(vault: Vault) -> None:
    """The next run completes everything: stored is what stands on disk, and the doctor finds nothing."""
    with vault.open() as kb:
        assert kb.doctor(repair=True).healthy
        kb.ingest(allow_mass_delete=True)
        documents = kb.engines.reading.documents
        stored = {doc.path: documents.source_text(doc.doc_id) for doc in kb.list_docs()}
        assert stored == vault.texts
        report = kb.doctor()
        sick = [check for check in report.checks if check.status is not CheckStatus.OK]
        assert sick == []
        for word in vault.dead[-10:]:
            assert kb.search(word, mode=SearchMode.LEXICAL).hits == ()
        for path in vault.dice.sample(sorted(vault.texts), 5):
            hits = kb.search(word_of(vault.texts[path]), mode=SearchMode.LEXICAL).hits
            assert [hit.doc_path for hit in hits] == [path]
    vault.settled = dict(vault.texts)


def test_whatever_is_killed_nothing_is_lost_and_nothing_removed_is_found(
    tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    root, data = tmp_path / "notes", tmp_path / "data"
    root.mkdir()
    vault = Vault(root, data, random.Random(int(os.environ.get("KEBAB_SEED", "7"))))
    for number in range(FILES):
        vault.write(f"note-{number:03d}.md")
    hit = sum(killed("ingest", vault, after_s=vault.dice.uniform(0.05, 0.6)) for _ in range(3))
    settle(vault)
    lasts = {task: _duration(task, vault) for task in ("ingest", "force", "rebuild", "repair")}
    for number in range(KILLS - 3):
        task = vault.dice.choice(["ingest", "ingest", "ingest", "force", "rebuild", "repair"])
        vault.stir()
        hit += killed(task, vault, after_s=vault.dice.uniform(0, lasts[task]))
        check_stored(vault)
        if number % SETTLE_EVERY == SETTLE_EVERY - 1:
            settle(vault)
    settle(vault)
    record_testsuite_property("killed at work", f"{hit} of {KILLS}")
    assert hit > KILLS // 3, f"only {hit} of {KILLS} kills met a process at work; kill earlier"


def _duration(task: str, vault: Vault) -> float:
    """How long the task takes when nothing stops it."""
    vault.stir()
    took = worked(task, vault, after_s=120)
    assert took is not None
    return took
