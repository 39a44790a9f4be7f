"""One served knowledge base for the tests that only read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kebab import Kebab
from tests.drivers.web_server import Served, a_kebab, served


@pytest.fixture(scope="session")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kebab]:
    with a_kebab(tmp_path_factory.mktemp("web")) as kebab:
        yield kebab


@pytest.fixture(scope="session")
def site(vault: Kebab) -> Iterator[Served]:
    with served(vault) as made:
        yield made
