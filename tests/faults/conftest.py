"""A small knowledge base on the real engines, to be damaged."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.domain.reports import Check, CheckStatus, DoctorReport


@dataclass(frozen=True, slots=True)
class Base:
    root: Path
    data: Path

    def open(self, *, readonly: bool = False, **overrides: object) -> Kebab:
        """``models__embedding__provider="none"`` sets that key."""
        keys = {key.replace("__", "."): value for key, value in overrides.items()}
        return Kebab.open(root=self.root, data_dir=self.data, overrides=keys, readonly=readonly)

    def write(self, name: str, text: str | bytes) -> None:
        content = text.encode() if isinstance(text, str) else text
        (self.root / name).write_bytes(content)

    def texts(self) -> dict[str, str]:
        """Every stored text by path."""
        with self.open() as kb:
            documents = kb.engines.reading.documents
            return {doc.path: documents.source_text(doc.doc_id) or "" for doc in kb.list_docs()}


def make_base(folder: Path, *, notes: int = 12) -> Base:
    root = folder / "notes"
    root.mkdir(parents=True)
    base = Base(root, folder / "data")
    for number in range(notes):
        base.write(
            f"n{number}.md",
            f"# Note {number}\n\nThe rope of ship{number} is dry.\n\n밧줄{number}은 말린다.\n",
        )
    return base


@pytest.fixture
def base(tmp_path: Path) -> Base:
    """Twelve notes, ingested with the default model."""
    made = make_base(tmp_path)
    with made.open() as kb:
        kb.ingest()
    return made


def check_of(report: DoctorReport, name: str) -> Check:
    return next(check for check in report.checks if check.name == name)


def sick(report: DoctorReport) -> list[Check]:
    return [check for check in report.checks if check.status in (CheckStatus.FAULT, CheckStatus.WARNING)]


Damage = Callable[[Path], None]


def mount(folder: Path, options: str) -> bool:
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    return done.returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, which starts with 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount") or not mount(folder, "size=1m"):
        pytest.skip("mounting a small disk needs root; the limit on file sizes below stands in")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def resize(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
