"""No port without a fake, and no fake without a contract suite that runs on it and on a real adapter."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from kebab import ports

TESTS = Path(__file__).parents[1]
ALSO = {
    "RevisedStore": "FakeExecutionStore",
    "FollowerIndex": "FakeExecutionIndex",
    "ExecutionIndex": "FakeMemoryAccess",
}
"""Ports whose fake has another name: with revisions, fed with them, reading both."""


def protocols() -> list[str]:
    """The names of all ports."""
    return sorted(
        name
        for name, value in ((name, getattr(ports, name)) for name in ports.__all__)
        if inspect.isclass(value)
        and Protocol in value.__bases__
        and value.__module__.startswith("kebab.ports")
    )


def imported(file: Path) -> set[str]:
    """Every name that a file imports."""
    found = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return {alias.name for node in found if isinstance(node, ast.ImportFrom) for alias in node.names}


def fakes() -> Iterator[str]:
    for file in TESTS.glob("*fakes.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                yield node.name


def test_the_ports_are_found() -> None:
    assert {"DocumentStore", "LexicalIndex", "LanguageModel", "SourceFiles", "StoreAccess"} <= set(
        protocols()
    )


@pytest.mark.parametrize("port", protocols())
def test_every_port_has_a_fake(port: str) -> None:
    assert ALSO.get(port, f"Fake{port}") in set(fakes())


@pytest.mark.parametrize("port", protocols())
def test_every_port_has_a_contract_suite_that_runs_on_its_fake_and_on_a_real_one(port: str) -> None:
    suites = [names for file in Path(__file__).parent.glob("test_*.py") if port in (names := imported(file))]

    assert any(ALSO.get(port, f"Fake{port}") in names for names in suites)
