"""The short text of each result, for a model to read.

Lines of documents never look like lines of kebab: they are numbered or set off by a bar, and a text of
several lines that is quoted inside a line is put on that line. What a document says cannot pass for what the
tool says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kebab.domain.controls import harmless, harmless_line
from kebab.domain.plurals import count_of
from kebab.domain.tokens import estimate_tokens
from kebab.wire.answers import Answer
from kebab.wire.briefs import Brief
from kebab.wire.connections import Related
from kebab.wire.errors import Error
from kebab.wire.ingest import IngestReport
from kebab.wire.library import DocList, FetchResult
from kebab.wire.memory import Execution, ExecutionSearch
from kebab.wire.search import Degradation, SearchHit, SearchResponse, Why
from kebab.wire.upkeep import Status

MAX_TOKENS = 4000
"""A text of a tool is never longer; what it leaves out stands in the structured result."""
_SHOWN_ITEMS = 20


def within(text: str, *, max_tokens: int = MAX_TOKENS) -> str:
    """The text, or its first lines and a line that says that it was cut."""
    if estimate_tokens(text) <= max_tokens:
        return text
    kept: list[str] = []
    spent = 20
    for line in text.split("\n"):
        spent += estimate_tokens(line + "\n")
        if spent > max_tokens:
            break
        kept.append(line)
    return "\n".join([*kept, "[cut here: ask for less, or for the next part]"])


def error(failure: Error) -> str:
    lines = [f"error ({failure.code}): {line(failure.message)}"]
    return "\n".join(lines + ([f"hint: {line(failure.hint)}"] if failure.hint else []))


def line(text: str) -> str:
    """A text from outside on one line of ours."""
    return harmless_line(" ".join(text.split()))


def search(found: SearchResponse) -> str:
    if not found.hits:
        return "\n".join(["no hits: nothing stored matches", *_withheld(found), *notes(found.degraded)])
    lines = [f"{count_of(len(found.hits), 'hit')}, best first; cite them as written"]
    if found.weak is True:
        lines.append("nothing fits well: even the best hit is unlikely to be what was meant")
    for hit in found.hits:
        lines += _hit(hit)
    more = [f"more: call again with cursor {found.next_cursor}"] if found.next_cursor else []
    return "\n".join([*lines, *more, *_withheld(found), *notes(found.degraded)])


def _withheld(found: SearchResponse) -> list[str]:
    return (
        [f"{count_of(found.withheld, 'hit')} with a score below min_score left out"] if found.withheld else []
    )


def _hit(hit: SearchHit) -> list[str]:
    above = () if hit.heading_path[:1] == (hit.title,) else (hit.title,)
    heading = " > ".join((*above, *hit.heading_path))
    changed = " [the file changed since]" if hit.stale else ""
    return [
        f"{hit.rank}. {hit.citation.uri}{changed} ({line(heading)}; source {line(hit.source_id)})",
        f"   | {line(hit.readable or hit.snippet)}",
    ]


def ask(found: Answer) -> str:
    if not found.grounded:
        return _refusal(found)
    lines = [*_understood(found), _quoted(found.answer), *(f"[#{n}] {uri}" for n, uri in _cited(found))]
    return "\n".join([*lines, *_unsure(found), *notes(found.degraded)])


def _understood(found: Answer) -> list[str]:
    return [f"understood as: {line(found.follow_up.question)}"] if found.follow_up else []


def _cited(found: Answer) -> list[tuple[int, str]]:
    return list(dict.fromkeys((quote.marker, quote.citation.uri) for quote in found.citations))


def _unsure(found: Answer) -> list[str]:
    unsupported = sum(not claim.supported for claim in found.claims)
    told = [f"note: {unsupported} sentences are not supported by what they cite"] if unsupported else []
    return told + [f"note: not answered: {line(part)}" for part in found.unanswered]


def _refusal(found: Answer) -> str:
    lines = [
        *_understood(found),
        f"no answer in the documents ({found.refusal_reason}); say so, do not guess",
    ]
    if found.nearest:
        lines.append("nearest lines, which do not answer it:")
    lines += [f"- {near.citation.uri} | {line(near.snippet)}" for near in found.nearest]
    return "\n".join([*lines, *notes(found.degraded)])


def why(found: Why) -> str:
    shown = "shown" if found.shown else "not shown"
    lines = [f"{line(found.doc_path)}: {shown} among the first {found.k}: {line(found.verdict)}"]
    if found.removed_by:
        lines.append(f"removed by: {', '.join(map(line, found.removed_by))}")
    for chunk in found.chunks[:_SHOWN_ITEMS]:
        legs = "; ".join(f"{leg.leg}: {line(leg.note)}" for leg in chunk.legs)
        lines.append(f"- {chunk.citation}: {line(chunk.verdict)} ({legs})")
    return "\n".join(lines + _left(found.chunks))


def fetch(found: FetchResult) -> str:
    lines = [f"{found.citation.uri}{' [the file changed since it was indexed]' if found.stale else ''}"]
    before, text, after = found.context_before, found.text, found.context_after
    # A chunk that repeats lines of the one before it is not one row of lines.
    whole_lines = text.count("\n") == found.line_end - found.line_start
    numbered = whole_lines and found.citation.kind in ("line", "code")
    first = found.line_start - (len(before.split("\n")) if before else 0)
    whole = "\n".join(part for part in (before, text, after) if part)
    for number, each in enumerate(whole.split("\n"), start=first):
        lines.append(f"{number if numbered else ''}| {harmless(each)}")
    if found.truncated:
        lines.append(f"[cut after line {found.line_end}: fetch the next lines by their citation]")
    return "\n".join(lines)


def brief(found: Brief) -> str:
    more = [f"{found.left_out} more did not fit into max_tokens"] if found.left_out else []
    text = [harmless(found.text)] if found.text else []
    lines = [*text, *more] or ["nothing is known about this task: it is new"]
    return "\n".join([*lines, *notes(found.degraded)])


def related(found: Related) -> str:
    if not found.related:
        return "\n".join([f"nothing is near {line(found.note.doc_path)}", *notes(found.degraded)])
    lines = [f"{count_of(len(found.related), 'note')} near {line(found.note.doc_path)}, nearest first"]
    for near in found.related:
        why = "; ".join(line(reason.text) for reason in near.reasons)
        lines.append(f"- {line(near.note.doc_path)} | {line(near.note.title)}: {why}")
    return "\n".join([*lines, *notes(found.degraded)])


def documents(found: DocList) -> str:
    if not found.documents:
        return "no documents match"
    total = found.total if isinstance(found.total, int) else len(found.documents)
    lines = [f"{len(found.documents)} of {count_of(total, 'document')}"]
    for doc in found.documents:
        tags = f" #{' #'.join(map(line, doc.tags))}" if doc.tags else ""
        lines.append(f"- {line(doc.doc_path)} | {line(doc.title)} ({doc.lang}, {line(doc.source_id)}){tags}")
    more = found.next_offset
    return "\n".join(lines + ([f"more: call again with offset {more}"] if isinstance(more, int) else []))


def status(found: Status) -> str:
    if not found.indexed:
        return "nothing is indexed yet"
    held = f"{count_of(found.documents, 'document')}, {count_of(found.chunks, 'chunk')}"
    lines = [f"{held}; last indexed {found.last_indexed_at}"]
    for name, counts in (
        ("sources", found.sources),
        ("languages", found.languages),
        ("formats", found.media),
        ("tags", found.tags),
    ):
        if counts:
            lines.append(f"{name}: " + ", ".join(f"{line(key)} {count}" for key, count in counts.items()))
    if found.memory:
        lines.append(
            f"memory: {found.memory.executions} recorded runs, {found.memory.successes} of them worked"
        )
    return "\n".join(lines + (["read-only"] if found.readonly else []))


def ingest(report: IngestReport) -> str:
    run = report.run
    lines = [f"indexed {run.indexed}, unchanged {run.unchanged}, skipped {run.skipped}, failed {run.failed}"]
    for item in (report.items or ())[:_SHOWN_ITEMS]:
        reason = f": {line(item.reason)}" if item.reason else ""
        lines.append(f"- {item.outcome} {line(item.path)} (source {line(item.source_id)}){reason}")
    return "\n".join(lines + [f"note: {line(note)}" for note in report.degraded])


def memory_search(found: ExecutionSearch) -> str:
    if not found.hits:
        return "\n".join(["nothing like this was recorded", *notes(found.degraded)])
    lines = [f"{len(found.hits)} recorded runs, most alike first; the text behind | is what was recorded"]
    for hit in found.hits:
        lines += [f"{hit.rank}. {line(hit.execution.id)}", *_run(hit.execution)]
    return "\n".join([*lines, *notes(found.degraded)])


def execution(run: Execution) -> str:
    return "\n".join([f"stored as {line(run.id)}", *_run(run)])


def _run(run: Execution) -> list[str]:
    ended = "worked" if run.success else "failed"
    lines = [f"   {ended}, quality {run.quality_score:g}, {run.finished_at:%Y-%m-%d} by {line(run.agent_id)}"]
    told = {
        "task": run.task_description,
        "tried": run.approach,
        "result": run.result,
        "error": run.error,
        "lesson": run.lesson,
        "documents": ", ".join(run.documents_used),
    }
    return lines + [f"   {name} | {line(text)}" for name, text in told.items() if text]


def notes(degraded: Iterable[Degradation]) -> list[str]:
    """What the caller must know besides: a part that did not take part, a filter that let nothing through."""
    return [f"note: {line(note.message)}{f' ({line(note.hint)})' if note.hint else ''}" for note in degraded]


def _quoted(text: str) -> str:
    return "\n".join(f"| {harmless(each)}" for each in text.split("\n"))


def _left(items: Sequence[object]) -> list[str]:
    return [f"and {len(items) - _SHOWN_ITEMS} more"] if len(items) > _SHOWN_ITEMS else []
