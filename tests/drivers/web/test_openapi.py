"""The OpenAPI document, held against the server by generated requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from kebab import Kebab
from kebab.web.app import API
from kebab.web.openapi import document
from kebab.web.operations import OPERATIONS
from tests.drivers.web_server import Served, served

CHECKS = (
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
    content_type_conformance,
)
schema: Any = schemathesis.openapi.from_dict(document(OPERATIONS, prefix=API))


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Over a small knowledge base of its own: what is generated also writes."""
    folder = tmp_path_factory.mktemp("fuzzed")
    notes = folder / "notes"
    notes.mkdir()
    for number in range(3):
        text = f"# Note {number}\n\nThe seat hold lasts {number} minutes. 좌석 점유.\n"
        (notes / f"note-{number}.md").write_text(text, encoding="utf-8")
    with Kebab.open(root=notes, data_dir=folder / "data") as kebab:
        kebab.ingest()
        with served(kebab) as made:
            yield made


@pytest.mark.slow
@schema.parametrize()  # type: ignore[untyped-decorator]
@settings(
    max_examples=20,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
def test_generated_requests_never_break_the_server_or_its_schema(fuzzed: Served, case: Case[Any]) -> None:
    response = case.call(base_url=fuzzed.url)
    case.validate_response(response, checks=list(CHECKS))


def test_every_route_of_the_interface_stands_in_the_document() -> None:
    described = set(schema.raw_schema["paths"])
    assert {API + each.path for each in OPERATIONS} <= described
    assert {f"{API}/ask", f"{API}/ingest", f"{API}/ingest/stop"} <= described


def test_the_document_is_served(site: Served) -> None:
    told = json.loads(urlopen(f"{site.url}{API}/openapi.json").read())
    assert told["openapi"] == "3.1.0"
    assert told["paths"].keys() == schema.raw_schema["paths"].keys()


def test_the_ids_of_operations_are_unique() -> None:
    methods = [method for path in schema.raw_schema["paths"].values() for method in path.values()]
    ids = [method["operationId"] for method in methods]
    assert len(set(ids)) == len(ids)
