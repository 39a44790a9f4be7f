"""The command line: parse, call, print. ``kebab --help`` imports no command and no engine.

A command is one line in ``COMMANDS`` and a function decorated with ``session.command`` (or a group made by
``session.group``) in a module of this package. stdout is data, stderr is talk.
"""

from __future__ import annotations

import gc
import os
import sys

from kebab.cli.entries import Entry

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from kebab.cli.program import kebab

__all__ = ["COMMANDS", "kebab", "main"]

COMMANDS: dict[str, tuple[Entry, ...]] = {
    "Start": (
        Entry("init", "kebab.cli.init:init", "Write an annotated config.toml and create the data folder."),
        Entry("trust", "kebab.cli.trust:trust", "Show what a project's file asks for, and trust it."),
        Entry("demo", "kebab.cli.demo:demo", "Show what kebab does, on a bundled sample vault."),
    ),
    "Bring in": (
        Entry("ingest", "kebab.cli.ingest:ingest", "Index new and changed files, and remove deleted ones."),
        Entry("watch", "kebab.cli.watch:watch", "Index files as they change."),
    ),
    "Find": (
        Entry("search", "kebab.cli.search:search", "Find the lines that answer a query, and explain why."),
        Entry(
            "ask",
            "kebab.cli.ask:ask",
            "Answer a question from your documents, with citations.",
        ),
        Entry("chat", "kebab.cli.chat:chat", "Ask questions that follow each other, one on each line."),
        Entry("brief", "kebab.cli.brief:brief", "Tell what to know before a task: documents and past runs."),
        Entry("links", "kebab.cli.connections:links", "Show the links of a note: out, back and broken."),
        Entry("related", "kebab.cli.connections:related", "Find the notes near to a note, and say why."),
        Entry("why", "kebab.cli.search:why", "Explain why a document was or was not in the results."),
    ),
    "Remember": (
        Entry(
            "memory",
            "kebab.cli.memory:memory",
            "Record what agents did, and find it again by words and by meaning.",
        ),
    ),
    "Serve": (
        Entry("mcp", "kebab.cli.mcp:mcp", "Serve the knowledge base to agents over MCP."),
        Entry("serve", "kebab.cli.serve:serve", "Serve the web page and the HTTP interface."),
        Entry("publish", "kebab.cli.publish:publish", "Publish the knowledge base for others to search."),
        Entry("tui", "kebab.cli.tui:tui", "Search, read and ask on a terminal screen."),
    ),
    "Measure": (
        Entry(
            "eval",
            "kebab.cli.eval:evaluation",
            "Measure search with golden queries and standard test collections.",
        ),
    ),
    "Look": (
        Entry("list", "kebab.cli.look:list_group", "List documents, ingest runs or the items of a run."),
        Entry("inspect", "kebab.cli.look:inspect_group", "Show what is stored of a document or a chunk."),
        Entry("fetch", "kebab.cli.look:fetch_group", "Print stored text verbatim."),
        Entry(
            "formats",
            "kebab.cli.formats:formats",
            "Show which formats kebab reads, and what is missing.",
        ),
    ),
    "Maintain": (
        Entry("index", "kebab.cli.maintain:index", "Bring the search indexes up to date."),
        Entry("models", "kebab.cli.models:models", "List, switch and register embedding models."),
        Entry("doctor", "kebab.cli.maintain:doctor", "Check everything; --repair fixes what it can."),
        Entry("reset", "kebab.cli.maintain:reset", "Delete derived data, all data or the configuration."),
        Entry("schema", "kebab.cli.maintain:schema", "Show capabilities, versions, schemas and statistics."),
        Entry("export", "kebab.cli.bundle:export", "Write the knowledge base to one portable file."),
        Entry("import", "kebab.cli.bundle:import_bundle", "Replace the knowledge base with a bundle."),
        Entry("completion", "kebab.cli.completion:completion", "Print a script that completes commands."),
    ),
}
"""Every command by its heading in ``kebab --help``; the help line is the first line of the command's help."""


def __getattr__(name: str) -> object:
    # Loaded when asked for: what an open kebab process answers needs nothing of it.
    if name == "kebab":
        from kebab.cli import program

        return program.kebab
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _open_closed_streams() -> None:
    """Nothing to read and nowhere to write for a stream that was closed by whoever started kebab (``>&-``):
    its number must not pass to the next file that is opened.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - until the end


def main() -> None:
    """The ``kebab`` command; exits with the status of the specification."""
    _open_closed_streams()
    from kebab.cli.warm import answer

    status = answer(sys.argv[1:])
    if status is None:
        from kebab.cli.program import kebab

        status = kebab.main(prog_name="kebab", standalone_mode=False)
    # The system takes everything back at once: nothing needs to be searched for garbage before.
    gc.freeze()
    sys.exit(status)
