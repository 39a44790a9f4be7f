"""``kebab ask``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import click

from kebab.cli import answers, render
from kebab.cli.filters import filter_options
from kebab.cli.links import address
from kebab.cli.search import COUNT, MODE, NO_DAEMON
from kebab.cli.session import INDEX, Session, command
from kebab.domain.answers import Answer, AnswerEvent
from kebab.domain.citations import Citation
from kebab.domain.queries import SearchFilters
from kebab.errors import InvalidInput


@command("ask")
@INDEX
@click.argument("question", nargs=-1)
@MODE
@COUNT
@click.option(
    "--stream", is_flag=True, help="Write the answer as it is generated; with --json, one event per line."
)
@click.option(
    "--explain",
    is_flag=True,
    help="Show each claim with its source, how the evidence was judged, and the searches.",
)
@click.option("--again", metavar="TRACE_ID", help="Repeat a stored answer and show what changed.")
@click.option(
    "--continue",
    "continue_from",
    metavar="TRACE_ID",
    help="Follow up on an earlier answer; shows the question as it was understood.",
)
@NO_DAEMON
@filter_options
def ask(
    session: Session,
    question: tuple[str, ...],
    again: str | None,
    stream: bool,
    explain: bool,
    **options: Any,
) -> int:
    """Answer a question from your documents, with citations.

    Every sentence cites the lines that support it. Says so, and exits with status 1, if the documents do
    not answer the question.
    """
    text = " ".join(question).strip()
    if again is not None:
        _refuse_both(text, options)
        return _repeat(session, again, explain=explain)
    if stream:
        return show_stream(session, session.kebab().ask_stream(text, **options), explain=explain)[0]
    return _show(session, session.kebab().ask(text, **options), explain=explain)


def _show(session: Session, found: Answer, *, explain: bool) -> int:
    from kebab import wire

    _warn(session, found)
    session.put(
        wire.answer(found, explain=explain),
        lambda: answers.answer(found, screen=session.screen, locate=_locate(session, found), explain=explain),
    )
    return 0 if found.grounded else 1


def show_stream(
    session: Session, events: Iterator[AnswerEvent], *, explain: bool
) -> tuple[int, Answer | None]:
    """Print the events; a reader that goes away closes them, and what had arrived is stored.

    Returns the exit status, and the answer.
    """
    from kebab import wire

    answer: Answer | None = None
    streamed = ""
    # The stream is a generator; closing it here stops the model when printing fails or Ctrl-C comes.
    with closing(cast("Any", events)):
        for event in events:
            answer = event.answer or answer
            if session.json:
                session.put_json(wire.answer_event(event, explain=explain))
            elif event.asked:
                click.echo(answers.asked(event.asked, session.screen) + "\n")
            elif event.delta:
                streamed = event.delta
                click.echo(event.delta, nl=False)
            if event.answer is not None:
                _finish(session, event.answer, explain=explain, streamed=streamed)
    return (0 if answer is not None and answer.grounded else 1), answer


def _finish(session: Session, found: Answer, *, explain: bool, streamed: str) -> None:
    """What stands below the text, of which ``streamed`` was printed last."""
    if session.json:
        return
    gap = "\n" * (2 - streamed[-2:].count("\n")) if streamed else ""
    _warn(session, found)
    screen, locate = session.screen, _locate(session, found)
    # Sentences that failed their check are shown once more, marked: the stream could not know.
    marked = answers.text(found, screen) if not streamed or any(c.problems for c in found.claims) else ""
    rest = answers.below(found, screen=screen, locate=locate, explain=explain)
    click.echo(gap + "\n\n".join(part for part in (marked, rest) if part))


def _repeat(session: Session, trace_id: str, *, explain: bool) -> int:
    from kebab import wire

    found = session.kebab().ask_again(trace_id)
    _warn(session, found.after)
    session.put(
        wire.answer_comparison(found, explain=explain),
        lambda: answers.comparison(
            found, screen=session.screen, locate=_locate(session, found.after), explain=explain
        ),
    )
    return 0 if found.after.grounded else 1


def _refuse_both(text: str, options: dict[str, Any]) -> None:
    if text or any(value for value in options.values() if value != SearchFilters()):
        raise InvalidInput(
            "--again repeats a stored question and takes no other question or filter",
            hint="use --again TRACE_ID alone",
        )


def _warn(session: Session, found: Answer) -> None:
    session.warn(map(render.degradation, found.degraded))


def _locate(session: Session, found: Answer) -> answers.Locate:
    """Citations know paths, not sources: the evidence tells which root a path stands under."""
    source_of = {item.doc_path: item.source_id for item in found.evidence}
    roots = {source.id: Path(source.root) for source in session.kebab().settings.sources}

    def locate(citation: Citation) -> str | None:
        root = roots.get(source_of.get(citation.path, next(iter(roots), "")))
        return address(links, root / citation.path, line=citation.start) if root else None

    links = session.kebab().settings.screen.links
    return locate
