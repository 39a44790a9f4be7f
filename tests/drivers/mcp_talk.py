"""Talking to the MCP server with the official client, in this process."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
import mcp_types as types
import msgspec
from mcp.client.client import Client
from mcp.server.lowlevel.server import Server

from kebab import wire
from kebab.app import Kebab
from kebab.mcp.run import Options, build_server
from kebab.wire.schemas import schema_of

T = TypeVar("T")

SCHEMAS = {str(shape.__struct_config__.tag): shape for shape in wire.SHAPES}


def opened(folder: Path, *, notes: Path | None = None, **options: Any) -> Kebab:
    """A knowledge base over the notes; words alone, so that no model is loaded."""
    overrides = {"models.embedding.provider": "none", **options.pop("overrides", {})}
    return Kebab.open(
        root=notes or folder / "notes", data_dir=folder / "data", overrides=overrides, **options
    )


def with_client(server: Server[Any], talk: Callable[[Client], Awaitable[T]]) -> T:
    """What the dialogue returns."""

    async def run() -> T:
        async with Client(server) as client:
            return await talk(client)

    return anyio.run(run)


def calls(
    kebab: Kebab, *asked: tuple[str, dict[str, Any]], options: Options | None = None
) -> list[types.CallToolResult]:
    """The results of these calls, one after the other."""

    async def talk(client: Client) -> list[types.CallToolResult]:
        return [await client.call_tool(name, arguments) for name, arguments in asked]

    return with_client(build_server(kebab, options or Options()), talk)


def call(
    kebab: Kebab, tool: str, arguments: dict[str, Any] | None = None, *, options: Options | None = None
) -> types.CallToolResult:
    return calls(kebab, (tool, arguments or {}), options=options)[0]


def told(result: types.CallToolResult) -> str:
    """The text of a result, which is all of its content."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def structured(result: types.CallToolResult) -> dict[str, Any]:
    """The structured content, which is what the wire schema that it names describes."""
    import jsonschema  # type: ignore[import-untyped]

    content = result.structured_content
    assert isinstance(content, dict)
    shape = SCHEMAS[content["schema_version"]]
    jsonschema.validate(content, schema_of(shape))
    return content


def failed(result: types.CallToolResult) -> str:
    """The code of a failure."""
    assert result.is_error, told(result)
    assert structured(result)["schema_version"] == "error.v1"
    return str(structured(result)["code"])


def everything(results: Sequence[types.CallToolResult]) -> str:
    """All that the results say, as one text."""
    dumped = [result.model_dump(mode="json", by_alias=True) for result in results]
    return json.dumps(dumped, ensure_ascii=False)


def size_of(definition: types.Tool) -> int:
    """Characters of a definition as it goes over the wire."""
    plain = definition.model_dump(mode="json", by_alias=True, exclude_none=True)
    return len(msgspec.json.encode(plain).decode())
