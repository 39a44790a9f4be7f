"""Bringing in: ingest_text, ingest_file."""

from __future__ import annotations

from kebab.domain.ingests import IngestProgress
from kebab.mcp import text
from kebab.mcp.files import source_file
from kebab.mcp.tool import Call, Tool
from kebab.wire import ingest
from kebab.wire.requests.library import IngestFileRequest, IngestTextRequest
from kebab.wire.shape import Shape


def _ingest_text(call: Call, asked: IngestTextRequest) -> Shape:
    report = call.kebab.ingest_text(**asked.arguments, progress=_Heard(call))
    return ingest.ingest_report(report, dry_run=asked.dry_run)


def _ingest_file(call: Call, asked: IngestFileRequest) -> Shape:
    file = source_file(call.kebab.settings.sources, asked.path)
    report = call.kebab.ingest([file], force=asked.force, progress=_Heard(call), cancelled=call.cancelled)
    return ingest.ingest_report(report)


class _Heard:
    """Tells the caller of a run's progress."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def __call__(self, event: IngestProgress) -> None:
        self._call.report(event.done, event.total or None, event.path or event.phase)


WRITING_TOOLS = (
    Tool(
        name="ingest_text",
        description=(
            "Store a new note under a title, so that it can be searched. Use it when the user asks to keep "
            "something. The same text twice is one note."
        ),
        request=IngestTextRequest,
        response=ingest.IngestReport,
        run=_ingest_text,
        text=text.ingest,
        shown=("title", "text"),
        writes=True,
        idempotent=True,
    ),
    Tool(
        name="ingest_file",
        description=(
            "Index a file of a known source again, right after it was written or changed. Path: absolute, or "
            "relative to the source. Other files: use ingest_text."
        ),
        request=IngestFileRequest,
        response=ingest.IngestReport,
        run=_ingest_file,
        text=text.ingest,
        shown=("path", "force"),
        writes=True,
        destructive=True,
        idempotent=True,
    ),
)
