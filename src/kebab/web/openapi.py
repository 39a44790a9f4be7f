"""The OpenAPI 3.1 document, made from the operations and the shapes of the wire."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from kebab import wire
from kebab.web.operation import Operation
from kebab.wire.answers import Answer, AnswerEvent
from kebab.wire.ingest import IngestProgress, IngestReport
from kebab.wire.requests import Request
from kebab.wire.requests.library import IngestRequest
from kebab.wire.requests.search import AskRequest

ERRORS = {
    "400": "The request is not valid",
    "401": "The token is missing or wrong",
    "403": "The server is read-only, or the request comes from another site",
    "404": "There is no such document, chunk or record",
    "405": "The method is not allowed here",
    "409": "It does not fit the state of the knowledge base",
    "413": "The request is too large",
    "421": "The Host header is wrong",
    "422": "The document has no lines to cite",
    "500": "The knowledge base is damaged or cannot be read",
    "503": "Busy, or an engine is missing",
    "504": "An engine took too long",
}


def document(operations: Sequence[Operation], *, prefix: str) -> dict[str, Any]:
    """Every operation, with the schemas of what it takes and gives."""
    shapes = [shape for each in operations for shape in (each.takes, each.gives) if shape is not None]
    streamed = (AskRequest, Answer, AnswerEvent, IngestRequest, IngestReport, IngestProgress, wire.Error)
    kinds = list(dict.fromkeys([*shapes, *streamed]))
    _, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    for kind in kinds:
        if issubclass(kind, Request):
            schemas[kind.__name__]["required"].remove("schema_version")
    names = _Names(dict(schemas))
    paths = {prefix + each.path: names.operation(each) for each in operations}
    return {
        "openapi": "3.1.0",
        "info": {"title": "kebab", "version": version("kebab"), "summary": "Search and ask a knowledge base"},
        "paths": paths | names.streams(prefix),
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


class _Names:
    def __init__(self, schemas: dict[str, Any]) -> None:
        self.schemas = schemas

    def operation(self, each: Operation) -> dict[str, Any]:
        return {method.lower(): self._method(each, method) for method in each.methods}

    def _method(self, each: Operation, method: str) -> dict[str, Any]:
        described: dict[str, Any] = {
            "summary": each.summary,
            "operationId": f"{method.lower()}{each.path.replace('/', '_')}",
            "responses": {"200": _content("Done", _ref(each.gives)), **_errors()},
        }
        if method == "GET":
            described["responses"]["304"] = {"description": "What the caller has is still right"}
        if each.takes is None:
            return described
        if method == "GET":
            return {**described, "parameters": self._parameters(each.takes)}
        return {**described, "requestBody": _body(each.takes)}

    def _parameters(self, kind: type[Request]) -> list[dict[str, Any]]:
        schema = self.schemas[kind.__name__]
        required = schema.get("required", ())
        return [
            {"name": name, "in": "query", "required": name in required, "schema": _in_address(each)}
            for name, each in schema["properties"].items()
            if name != "schema_version" and not _is_object(each)
        ]

    def streams(self, prefix: str) -> dict[str, Any]:
        return {
            f"{prefix}/ask": {"post": _stream("Answer a question", AskRequest, Answer, AnswerEvent)},
            f"{prefix}/ingest": {
                "post": _stream("Index what is new or changed", IngestRequest, IngestReport, IngestProgress),
                "get": {
                    "summary": "Watch the ingest that is going on",
                    "operationId": "get_ingest",
                    "responses": {
                        "200": {"description": "Its events", "content": {"text/event-stream": {}}},
                        **_errors(),
                    },
                },
            },
            f"{prefix}/ingest/stop": {
                "post": {
                    "summary": "End the ingest after the current file",
                    "operationId": "post_ingest_stop",
                    "responses": {"204": {"description": "Done"}, **_errors()},
                }
            },
        }


def _stream(summary: str, takes: type, gives: type, event: type) -> dict[str, Any]:
    """JSON at the end, or events on the way where the caller accepts ``text/event-stream``."""
    done = _content("Done", _ref(gives))
    done["content"]["text/event-stream"] = {"schema": _ref(event)}
    return {
        "summary": summary,
        "operationId": f"post_{takes.__name__}",
        "requestBody": _body(takes),
        "responses": {"200": done, **_errors()},
    }


def _in_address(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter of an address is never null: it is left out."""
    if "anyOf" not in schema:
        return schema
    kept = [each for each in schema["anyOf"] if each.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**rest, **kept[0]} if len(kept) == 1 else {**rest, "anyOf": kept}


def _is_object(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object"


def _ref(kind: type) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _content(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _body(kind: type) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": _ref(kind)}}}


def _errors() -> dict[str, Any]:
    return {status: _content(text, _ref(wire.Error)) for status, text in ERRORS.items()}
