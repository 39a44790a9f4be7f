from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeAnalyzer

pytest.importorskip("surrealdb", reason="the memory extra is not installed")

from kebab.adapters.surreal.connection import SurrealConnection
from kebab.adapters.surreal.schema import migrate
from kebab.adapters.surreal.store import SurrealExecutionStore

Connect = Callable[..., SurrealConnection]


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Connect]:
    """Opens connections to one folder; the test closes or the end does."""
    made: list[SurrealConnection] = []

    def opened(url: str = f"surrealkv://{tmp_path / 'store'}", **options: Any) -> SurrealConnection:
        chosen: dict[str, Any] = {"namespace": "test", "database": "test", "on_open": migrate} | options
        made.append(SurrealConnection(url, **chosen))
        return made[-1]

    yield opened
    for connection in made:
        connection.close()


@pytest.fixture
def store(connect: Connect) -> SurrealExecutionStore:
    return SurrealExecutionStore(connect(), analyzer=FakeAnalyzer())
