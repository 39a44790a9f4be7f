"""The tools, in the order in which an agent meets them."""

from __future__ import annotations

from collections.abc import Sequence

from kebab.domain.documents import INBOX_ID
from kebab.domain.walls import Walls
from kebab.errors import InvalidInput
from kebab.mcp.tool import Tool
from kebab.mcp.tools.documents import DOCUMENT_TOOLS
from kebab.mcp.tools.memory import MEMORY_TOOLS
from kebab.mcp.tools.searching import SEARCH_TOOLS
from kebab.mcp.tools.writing import WRITING_TOOLS

TOOLS: tuple[Tool, ...] = (*SEARCH_TOOLS, *DOCUMENT_TOOLS, *WRITING_TOOLS, *MEMORY_TOOLS)


def selected(
    names: Sequence[str] = (), *, readonly: bool = False, walls: Walls | None = None
) -> tuple[Tool, ...]:
    """The tools that are offered: none that could only refuse. Raises InvalidInput for an unknown name."""
    known = {tool.name for tool in TOOLS}
    if unknown := [name for name in names if name not in known]:
        raise InvalidInput(f"there is no tool {unknown[0]!r}", hint=f"tools: {', '.join(sorted(known))}")
    return tuple(
        tool
        for tool in TOOLS
        if (not names or tool.name in names)
        and not (readonly and tool.writes)
        and not (walls and _is_shut(tool, walls))
    )


def _is_shut(tool: Tool, walls: Walls) -> bool:
    """Whether a tool can do nothing inside these walls."""
    keeps_texts = not walls.source or INBOX_ID in walls.source
    return (tool.memory and walls.closes_memory) or (tool.name == "ingest_text" and not keeps_texts)
