"""The real command in a process of its own, with a home that is nobody's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
VAULT = PROJECT / "examples" / "vault"


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON objects on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def error(self) -> Any:
        """The error on the last line of stderr, under ``--json``."""
        return json.loads(self.err.splitlines()[-1])


@dataclass(frozen=True, slots=True)
class Cli:
    """Runs ``kebab`` in a folder. No model is loaded unless the environment asks for one: words suffice."""

    cwd: Path
    home: Path
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("KEBAB_", "XDG_"))}
        own = {"HOME": str(self.home), "PYTHONIOENCODING": "utf-8", "TERM": "xterm-256color"}
        return kept | own | {"KEBAB_MODELS__EMBEDDING__PROVIDER": "none"} | self.extra

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "kebab", *arguments]

    def __call__(self, *arguments: str, stdin: str = "", **extra: str) -> Result:
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.cwd,
            env=self.environ | extra,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
        )
        return Result(done.returncode, done.stdout, done.stderr)


def a_cli(folder: Path) -> Cli:
    (folder / "home").mkdir(parents=True)
    (folder / "notes").mkdir()
    return Cli(folder / "notes", folder / "home")


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command in an empty folder."""
    return a_cli(tmp_path)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """The command in a copy of the sample vault, ingested. Only for tests that read."""
    made = a_cli(tmp_path_factory.mktemp("library"))
    shutil.copytree(VAULT, made.cwd, dirs_exist_ok=True)
    for arguments in (("init", "."), ("ingest",)):
        result = made(*arguments)
        assert result.code == 0, result.err
    return made
