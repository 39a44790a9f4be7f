"""The server: one open knowledge base behind the protocol.

Expected outcomes are results. A failure of kebab is a result too, with ``isError`` and an ``error.v1``: a
model can read it and ask better. Only what is no call at all is an error of the protocol.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

import kebab
from kebab.app import Kebab
from kebab.domain.progress import Cancelled
from kebab.errors import InvalidInput, KebabError
from kebab.mcp import prompts, text
from kebab.mcp.resources import Resources
from kebab.mcp.schema import input_schema, output_schema
from kebab.mcp.threads import Threads
from kebab.mcp.tool import Call, Report, Tool
from kebab.wire.errors import Error, error
from kebab.wire.requests import checked
from kebab.wire.shape import Shape

_log = logging.getLogger("kebab.mcp")

MAX_ARGUMENT_BYTES = 4 << 20
"""A call with more than this is refused before anything looks at it."""

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


@dataclass
class KebabServer:
    """Answers the requests of any number of clients, from one knowledge base."""

    kebab: Kebab
    tools: Sequence[Tool]
    instructions: Callable[[], str] = str
    """Makes what a client is told when it connects."""
    threads: Threads = field(default_factory=Threads)

    def __post_init__(self) -> None:
        self._named: Mapping[str, Tool] = {tool.name: tool for tool in self.tools}
        self._resources = Resources(self.kebab)

    def protocol(self) -> Server[Any]:
        """The SDK's server with our handlers."""
        return LiveServer(
            self.instructions,
            "kebab",
            version=kebab.__version__,
            title="kebab",
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_completion=self._complete,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[definition(tool) for tool in self.tools])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._named.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:100]!r}")
        client = _client_name(ctx)

        def work(report: Report, cancelled: Cancelled) -> types.CallToolResult:
            return _answered(tool, params.arguments or {}, Call(self.kebab, report, cancelled, client))

        return await self.threads.run(work, tell=ctx.session.report_progress)

    async def _list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        return await self._read(lambda: self._resources.page(cursor))

    async def _list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return self._resources.templates()

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await self._read(lambda: self._resources.read(str(params.uri)))

    async def _complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        if not isinstance(params.ref, types.ResourceTemplateReference):
            return types.CompleteResult(completion=types.Completion(values=[]))
        known = params.context.arguments if params.context and params.context.arguments else {}
        asked = params.argument
        return await self._read(
            lambda: self._resources.completed(asked.name, asked.value, source=known.get("source"))
        )

    async def _list_prompts(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return prompts.definitions(self._named)

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return prompts.spoken(self._named, params.name, params.arguments or {})

    async def _read(self, work: Callable[[], T]) -> T:
        async def nobody(done: float, total: float | None, message: str) -> None: ...

        try:
            return await self.threads.run(lambda report, cancelled: work(), tell=nobody)
        except KebabError as failure:
            told = msgspec.to_builtins(error(failure))
            raise MCPError(types.INTERNAL_ERROR, failure.message, told) from failure


class LiveServer(Server[Any]):
    """The SDK's server, with instructions that are made when a client connects."""

    def __init__(self, told: Callable[[], str], name: str, **handlers: Any) -> None:
        self._told = told
        super().__init__(name, **handlers)

    @property
    def instructions(self) -> str | None:
        return self._told()

    @instructions.setter
    def instructions(self, given: str | None) -> None:
        """The SDK sets what it was given, which is nothing."""


def definition(tool: Tool) -> types.Tool:
    """A tool as clients list it."""
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=input_schema(tool.request, shown=tool.shown, notes=tool.notes),
        output_schema=output_schema(tool.response),
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes,
            destructive_hint=tool.destructive if tool.writes else None,
            idempotent_hint=tool.idempotent if tool.writes else None,
            open_world_hint=False,
        ),
    )


def _answered(tool: Tool, arguments: Mapping[str, Any], call: Call) -> types.CallToolResult:
    """The result of a call; whatever fails in it is a result as well."""
    try:
        _check_size(arguments)
        request = checked(tool.request, arguments, hint=f"keys: {', '.join(tool.shown)}")
        shape = tool.run(call, request)
        return _result(shape, tool.text(shape))
    except KebabError as failure:
        return _failed(error(failure))
    except Exception as failure:  # noqa: BLE001 - the last place: no client meets a traceback
        _log.exception("the tool %s failed", tool.name)
        message = f"{type(failure).__name__} in {tool.name}"
        return _failed(Error(code="generic", message=message, hint="this is a bug in kebab"))


def _result(shape: Shape, told: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text.within(told))], structured_content=msgspec.to_builtins(shape)
    )


def _failed(failure: Error) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text.within(text.error(failure)))],
        structured_content=msgspec.to_builtins(failure),
        is_error=True,
    )


def _check_size(arguments: Mapping[str, Any]) -> None:
    """Raises InvalidInput. What is measured is the text: that is what the engines would work on."""
    size = len(msgspec.json.encode(arguments))
    if size > MAX_ARGUMENT_BYTES:
        raise InvalidInput(
            f"the arguments take {size:,} bytes, more than {MAX_ARGUMENT_BYTES:,}",
            hint="send less, or write a file into a source and name it to ingest_file",
        )


def _client_name(ctx: Context) -> str:
    given = ctx.session.client_params
    return (given.client_info.name.strip() if given else "") or "mcp"
