"""From HTTP to a request of the wire, and from a shape or an error back to HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec
from blake3 import blake3
from starlette.datastructures import QueryParams
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from kebab import wire
from kebab.errors import InvalidInput, KebabError
from kebab.wire.requests import Request, checked, decoded

R = TypeVar("R", bound=Request)

JSON = "application/json"
STATUS = {
    "invalid_input": 400,
    "config_invalid": 500,
    "config_not_found": 500,
    "readonly": 403,
    "stale_cursor": 409,
    "mass_delete": 409,
    "conflict": 409,
    "not_indexed": 409,
    "model_mismatch": 409,
    "doc_not_found": 404,
    "chunk_not_found": 404,
    "record_not_found": 404,
    "span_not_supported": 422,
    "closed": 503,
    "locked": 503,
    "model_unavailable": 503,
    "engine_unavailable": 503,
    "timeout": 504,
}
"""The status of each error; what is not named here is a fault of the server."""


async def read_request(http: HttpRequest, kind: type[R]) -> R:
    """What was asked, from the address or from the body. Raises InvalidInput."""
    if http.method == "GET":
        return checked(kind, from_query(http.query_params, kind))
    body = await http.body()
    return decoded(kind, body or b"{}")


def from_query(given: QueryParams, kind: type[Request]) -> dict[str, Any]:
    """Parameters of an address with the types that the request asks for.

    A value that does not fit stays as it is: checking the whole then names the key.
    """
    values: dict[str, Any] = {}
    types = _types(kind)
    for key in given:
        listed = given.getlist(key)
        if len(listed) > 1 and key not in types:
            raise InvalidInput(f"there is no option {key!r}", details={"key": key})
        values[key] = _loose(listed if len(listed) > 1 else listed[0], types.get(key))
    return values


@cache
def _types(kind: type[Request]) -> Mapping[str, Any]:
    return {field.name: field.type for field in msgspec.structs.fields(kind)}


def _loose(value: str | list[str], kind: Any) -> Any:
    if kind is None:
        return value
    try:
        return msgspec.to_builtins(msgspec.convert(value, kind, strict=False))
    except msgspec.ValidationError:
        return value


def shaped(shape: object, *, revision: int | None, http: HttpRequest) -> Response:
    """A shape as JSON with its ETag; 304 where the caller has the same already.

    The tag holds the documents' revision and a digest of the answer: an answer may also change while the
    revision stands still, when an index catches up or a file on disk changes.
    """
    body = wire.encode(shape)
    tag = f'"{"-" if revision is None else revision}.{blake3(body).hexdigest(8)}"'
    headers = {"etag": tag, "cache-control": "private, no-cache"}
    if http.method == "GET" and tag in _tags(http.headers.get("if-none-match", "")):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=JSON, headers=headers)


def _tags(header: str) -> set[str]:
    return {tag.strip().removeprefix("W/") for tag in header.split(",")}


def failed(error: KebabError) -> Response:
    """An error of the tree as ``error.v1``."""
    status = STATUS.get(error.code, 500)
    headers = {"retry-after": "1"} if status == 503 else {}
    return Response(wire.encode(wire.error(error)), status_code=status, media_type=JSON, headers=headers)


def refused(status: int, code: str, message: str) -> Response:
    """A failure that is HTTP's own."""
    return Response(wire.encode(wire.Error(code=code, message=message)), status_code=status, media_type=JSON)
