"""The command without the packages of any extra: what works, and what is said of the rest."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.drivers.conftest import Cli

EXTRAS = ("lance", "pyarrow", "surrealdb", "selectolax", "pypdfium2", "onnxruntime", "httpx", "ir_measures")
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS!r})); from kebab.cli import main; main()"


@dataclass(frozen=True, slots=True)
class BaseCli(Cli):
    """Runs ``kebab`` where importing a package of an extra fails, as it does where that is not installed."""

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", WITHOUT, *arguments]


@pytest.fixture
def base(cli: Cli) -> Cli:
    """A project of one note, ingested with the built-in model."""
    (cli.cwd / "rope.md").write_text("# Rope\n\nHang a wet rope to dry. 밧줄은 말린다.\n", encoding="utf-8")
    base = BaseCli(cli.cwd, cli.home, {"KEBAB_MODELS__EMBEDDING__PROVIDER": "static"})
    for arguments in (("init", "."), ("ingest",)):
        assert base(*arguments).code == 0
    return base


@pytest.mark.parametrize(
    "command",
    [
        ("search", "how do I dry a line", "--json"),
        ("search", "/r[ou]pe/", "--json"),
        ("ask", "What is done with a wet rope?", "--json"),
        ("why", "rope.md", "rope", "--json"),
        ("doctor", "--json"),
        ("index", "--rebuild", "--json"),
    ],
)
def test_documents_are_found_and_answered_from_without_any_extra(base: Cli, command: tuple[str, ...]) -> None:
    done = base(*command)
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("publish", "published"), "lance"),
        (("search", "rope", "--index", "s3://bucket/kb"), "lance"),
        (("memory", "search", "rope"), "memory"),
    ],
)
def test_what_needs_an_extra_names_it(base: Cli, command: tuple[str, ...], extra: str) -> None:
    done = base(*command)
    assert done.code == 2
    assert f"hint: install it with: pip install 'kebab[{extra}]'" in done.err
    assert not Path(base.cwd, "published").exists()


def test_a_words_engine_that_was_chosen_and_is_missing_is_an_error(base: Cli) -> None:
    done = base("index", "--rebuild", "--json", KEBAB_SEARCH__LEXICAL_ENGINE="lance")
    assert (done.code, done.error["code"]) == (2, "engine_unavailable")


def test_a_vector_engine_that_was_chosen_and_is_missing_is_told_of(base: Cli) -> None:
    done = base("search", "rope", "--json", KEBAB_SEARCH__VECTOR_ENGINE="lance")
    assert done.code == 0
    assert "needs Lance, which is not installed" in done.json["degraded"][0]["message"]
