"""``kebab list``, ``kebab inspect`` and ``kebab fetch``: what is stored, as it is."""

from __future__ import annotations

import sys

import click

from kebab.cli.filters import filter_options
from kebab.cli.render import STATES, stale_note
from kebab.cli.screen import Screen
from kebab.cli.session import INDEX, Session, command, group
from kebab.cli.tables import pairs, seconds_of, size_of, table
from kebab.domain.controls import harmless
from kebab.domain.documents import DocumentSummary, LineSpan
from kebab.domain.ingests import IngestItem, IngestRun
from kebab.domain.inspections import ChunkInspection, DocumentInspection, FetchResult
from kebab.domain.places import fragment
from kebab.domain.plurals import count_of
from kebab.domain.queries import SearchFilters
from kebab.errors import InvalidInput

list_group = group("list", help="List documents, ingest runs or the items of a run.")
inspect_group = group("inspect", help="Show what is stored of a document or a chunk.")
fetch_group = group("fetch", help="Print stored text verbatim.")


# --- list ------------------------------------------------------------------------------------------


@command("docs", parent=list_group)
@INDEX
@filter_options
def list_docs(session: Session, filters: SearchFilters) -> int:
    """List the documents by source and path, with the filters of search.

    Piped, each line is: id, language, chunks, path, title, separated by tabs.
    """
    from kebab import wire

    documents = session.kebab().list_docs(filters)
    session.put(wire.doc_list(documents), lambda: _documents(documents, session.screen))
    session.say(count_of(len(documents), "document"))
    return 0 if documents else 1


@command("runs", parent=list_group)
@click.option("--limit", type=int, default=20, help="How many, up to 1000; default 20.")
def list_runs(session: Session, limit: int) -> None:
    """List the ingest runs, newest first."""
    from kebab import wire

    runs = session.kebab().runs(limit)
    session.put(wire.run_list(runs), lambda: _runs(runs, session.screen))


@command("items", parent=list_group)
@click.argument("run", required=False)
def list_items(session: Session, run: str | None) -> None:
    """List what a run did with each file; without RUN, the latest run."""
    from kebab import wire

    kebab = session.kebab()
    runs = kebab.runs(1000)
    matching = [r.run_id for r in runs if run is None or r.run_id.startswith(run)]
    if not matching:
        raise InvalidInput(
            f"there is no run {run!r}" if run else "nothing has been ingested yet",
            hint="see: kebab list runs",
        )
    items = kebab.run_items(matching[0])
    session.put(wire.item_list(matching[0], items), lambda: _items(items, session.screen))


def _documents(documents: list[DocumentSummary], screen: Screen) -> str:
    rows = [
        [d.doc_id[:12] if screen.terminal else d.doc_id, d.lang, str(d.chunk_count), d.path, d.title]
        for d in documents
    ]
    return (
        table(rows, header=("id", "lang", "chunks", "path", "title"), screen=screen, grow=[3, 4], keep_end=3)
        if rows
        else ""
    )


def _runs(runs: list[IngestRun], screen: Screen) -> str:
    if not screen.terminal:
        return table([_run_cells(run) for run in runs], header=(), screen=screen, grow=())
    # The id begins with the time of the start, and most counts are 0: both would only cost columns.
    rows = [[r.run_id, r.status.value, seconds_of(r.duration_ms), _run_told(r)] for r in runs]
    return table(rows, header=("run", "status", "took", "files"), screen=screen, grow=[3]) if rows else ""


def _run_cells(run: IngestRun) -> list[str]:
    counts = (run.indexed, run.unchanged, run.skipped, run.failed, run.removed)
    started = [run.run_id, run.started_at, run.status.value]
    return [*started, *map(str, counts), seconds_of(run.duration_ms), run.error or ""]


def _run_told(run: IngestRun) -> str:
    names = ("indexed", "unchanged", "removed", "skipped", "failed")
    counts = [f"{count} {name}" for name in names if (count := getattr(run, name))]
    return ", ".join([*([run.error] if run.error else []), *counts]) or "nothing to do"


def _items(items: list[IngestItem], screen: Screen) -> str:
    rows = [[i.outcome.value, str(i.chunks), i.path, i.reason or "; ".join(i.warnings)] for i in items]
    return (
        table(rows, header=("outcome", "chunks", "path", "reason"), screen=screen, grow=[2, 3], keep_end=2)
        if rows
        else ""
    )


# --- inspect ---------------------------------------------------------------------------------------


@command("doc", parent=inspect_group)
@INDEX
@click.argument("document")
def inspect_doc(session: Session, document: str) -> None:
    """Show a document's metadata and its chunks.

    DOCUMENT is an id, the beginning of one, or a path.
    """
    from kebab import wire

    inspection = session.kebab().inspect_doc(document)
    session.put(wire.doc_inspection(inspection), lambda: _document(inspection, session.screen))


@command("chunk", parent=inspect_group)
@INDEX
@click.argument("chunk")
def inspect_chunk(session: Session, chunk: str) -> None:
    """Show a chunk: its text, headings, lines and embeddings.

    CHUNK is an id or the beginning of one.
    """
    from kebab import wire

    inspection = session.kebab().inspect_chunk(chunk)
    session.put(wire.chunk_inspection(inspection), lambda: _chunk(inspection, session.screen))


def _document(inspection: DocumentInspection, screen: Screen) -> str:
    d = inspection.document
    head = pairs(
        [
            ("title", d.title),
            ("path", d.path),
            *([("state", STATES[inspection.source_state])] if inspection.source_state in STATES else []),
            ("id", d.doc_id),
            ("source", f"{d.source_id} · {d.source_type} · {d.trust_level.value}"),
            ("kind", f"{d.media} · {d.lang} · {size_of(d.byte_len)}"),
            ("tags", ", ".join(d.tags) or "–"),
            ("created", d.created_at or "–"),
            ("updated", d.updated_at or "–"),
            ("indexed", d.indexed_at),
            ("made by", f"{d.parser_version} · {d.chunker_version}"),
        ],
        screen=screen,
        styles={"title": {"bold": True}, "state": {"fg": "yellow"}},
    )
    rows = [
        [
            str(c.ordinal),
            c.chunk_id[:12] if screen.terminal else c.chunk_id,
            fragment(c.place) if c.place else _lines(c.spans),
            str(c.token_estimate),
            " › ".join(c.heading_path),
        ]
        for c in (stored.chunk for stored in inspection.chunks)
    ]
    chunks = (
        table(rows, header=("#", "chunk", "lines", "tokens", "headings"), screen=screen, grow=[4], keep_end=4)
        if rows
        else ""
    )
    return f"{head}\n\n{chunks}"


def _lines(spans: tuple[LineSpan, ...]) -> str:
    return ", ".join(f"{span.start}–{span.end}" for span in spans)


def _chunk(inspection: ChunkInspection, screen: Screen) -> str:
    stored, chunk = inspection.stored, inspection.stored.chunk
    head = pairs(
        [
            ("chunk", chunk.chunk_id),
            ("cited as", inspection.citation.uri),
            ("headings", " › ".join(chunk.heading_path) or stored.title),
            ("document", chunk.doc_id),
            ("size", f"{chunk.token_estimate} tokens · {len(chunk.block_ids)} blocks"),
            ("made by", f"{chunk.chunker_version} · policy {chunk.policy_hash}"),
            ("vectors of", ", ".join(inspection.embeddings) or "no model"),
            ("indexed", stored.indexed_at),
        ],
        screen=screen,
        styles={"cited as": {"fg": "cyan"}},
    )
    return f"{head}\n\n{harmless(chunk.text)}"


# --- fetch -----------------------------------------------------------------------------------------


@command("chunk", parent=fetch_group)
@INDEX
@click.argument("chunk")
@click.option("--context", type=int, default=0, help="How many neighbouring chunks to include on each side.")
def fetch_chunk(session: Session, chunk: str, context: int) -> None:
    """Print a chunk's text as it was indexed.

    CHUNK is an id or the beginning of one.
    """
    _fetched(session, session.kebab().fetch_chunk(chunk, context=context))


@command("doc", parent=fetch_group)
@INDEX
@click.argument("document")
@click.option("--max-tokens", type=int, help="Limit the output; the text is cut at the end of a line.")
def fetch_doc(session: Session, document: str, max_tokens: int | None) -> None:
    """Print a document's text as it was indexed."""
    _fetched(session, session.kebab().fetch_doc(document, max_tokens=max_tokens))


@command("span", parent=fetch_group)
@INDEX
@click.argument("document")
@click.argument("start", type=int, required=False)
@click.argument("end", type=int, required=False)
def fetch_span(session: Session, document: str, start: int | None, end: int | None) -> None:
    """Print lines START to END of a document, or what a citation names.

    A citation is written as search prints it: notes/a.md#L12-L34, talk.vtt#t=62.000,75.500.
    """
    if start is not None:
        _fetched(session, session.kebab().fetch_span(document, start, start if end is None else end))
    elif "#" in document:
        _fetched(session, session.kebab().fetch_citation(document))
    else:
        raise InvalidInput(
            f"the lines of {document} are missing",
            hint="use: kebab fetch span PATH START END, or PATH#L12-L34",
        )


def _fetched(session: Session, result: FetchResult) -> None:
    from kebab import wire

    session.say(result.citation.uri + stale_note(result.citation.source_state, Screen.of(sys.stderr)))
    session.put(wire.fetch_result(result), lambda: _verbatim(result, session.screen))
    if result.truncated:
        session.say(f"cut after line {result.line_end} to fit --max-tokens")


def _verbatim(result: FetchResult, screen: Screen) -> str | bytes:
    """To a file or a pipe byte for byte; a terminal would obey the control characters of a text."""
    parts = [result.context_before, result.text, result.context_after]
    text = "\n".join(part for part in parts if part).removesuffix("\n")
    return text if screen.terminal else text.encode()
