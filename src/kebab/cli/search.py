"""``kebab search`` and ``kebab why``."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import click

from kebab.cli import render
from kebab.cli.filters import filter_options
from kebab.cli.links import address
from kebab.cli.screen import clip
from kebab.cli.session import INDEX, OneOf, Session, command
from kebab.domain.controls import harmless_line
from kebab.domain.hits import ScoreKind, SearchHit, SearchResponse
from kebab.domain.plurals import count_of
from kebab.domain.queries import SearchMode, SortOrder
from kebab.errors import InvalidInput

MODE = click.option("--mode", type=OneOf(SearchMode), help="How to search; hybrid by default.")
COUNT = click.option("-k", "k", type=int, help="How many hits, up to 1000; default 10.")
NO_DAEMON = click.option(
    "--no-daemon", is_flag=True, expose_value=False, help="Do not let an open kebab process answer."
)
FUSION = click.option("--fusion", metavar="POLICY", help="rrf, weighted_rrf, convex, adaptive or learned.")


@command("search")
@INDEX
@click.argument("query", nargs=-1)
@MODE
@COUNT
@FUSION
@click.option(
    "--explain", is_flag=True, help="Show how each leg ranked each hit, and how the ranks were combined."
)
@click.option("--trace", is_flag=True, help="Show the results of each leg and how long each step took.")
@click.option("--cursor", metavar="CURSOR", help="Show the next page: next_cursor of the previous one.")
@click.option("--max-tokens", type=int, help="Limit the output: shortens snippets, then drops hits.")
@click.option("--snippet-chars", type=int, help="Length of a snippet, 40 to 10,000.")
@click.option("--sort", type=OneOf(SortOrder), default="score", help="score, date (newest first) or path.")
@click.option("--min-score", type=float, help="Leave out hits with a lower score, 0 to 1.")
@click.option("--exact", is_flag=True, help="Search for the words as typed: correct no typos.")
@click.option("--per-chunk", is_flag=True, help="Show every chunk found, also several of one document.")
@click.option(
    "--lines", is_flag=True, help="Print one line for each hit, FILE:LINE: text, for fzf and editors."
)
@click.option("--bulk", is_flag=True, help="Read one JSON object per line from stdin, write one per line.")
@click.option(
    "--fresh", is_flag=True, help="Look at the files first; read what changed if that takes under a second."
)
@NO_DAEMON
@filter_options
def search(
    session: Session,
    query: tuple[str, ...],
    bulk: bool,
    lines: bool,
    explain: bool,
    per_chunk: bool,
    fresh: bool,
    **options: Any,
) -> int:
    """Find the lines that answer a query, and explain why.

    Shows each document once, by its best lines. With --json, hits are all the chunks found and groups the
    documents.

    Words in double quotes are a phrase, and one word in quotes is that word; -word, NOT word and -"two words"
    exclude; gard* stands for the words that begin so; /h[ae]y \\d+/ is a regular expression that every hit
    matches. tag:x, title:x, file:x, lang:ko, path:notes, and
    after:2024, before:2024-06 and on:2024-06-30 filter by the note's date. Several filters of one kind mean
    OR, of different kinds AND; filters alone list the documents. A score is how likely the search found what
    was meant, relative for all but the first hit. Exits with status 1 if nothing was found.
    """
    if bulk:
        from kebab.cli.bulk import search_all

        if query:
            raise InvalidInput(
                "--bulk reads its queries from stdin", hint="remove either the query or --bulk"
            )
        from kebab.wire.requests.search import flat

        defaults = {**options, **flat(options["filters"]), "explain": explain, "groups": not per_chunk}
        return search_all(session, defaults={k: v for k, v in defaults.items() if k != "filters"})
    grouped = not per_chunk
    options |= {"groups": grouped and session.json, "by_document": grouped and not session.json}
    response = session.kebab().search(" ".join(query), explain=explain, fresh=fresh or None, **options)
    if lines and not session.json:
        shown = "".join(f"{one_line(session, hit)}\n" for hit in response.hits)
        click.echo(shown, file=session.out, nl=False)
        return 0 if response.hits else 1
    return show(session, response, explain=explain)


def one_line(session: Session, hit: SearchHit) -> str:
    """``FILE:LINE: text``, as grep prints it: what editors and fzf can read."""
    file = source_file(session, hit) or hit.doc_path
    return harmless_line(f"{file}:{hit.line}: {' '.join(hit.shown.text.split())}")


@command("why")
@INDEX
@click.argument("document")
@click.argument("query", nargs=-1, required=True)
@MODE
@COUNT
@FUSION
@filter_options
def why(session: Session, document: str, query: tuple[str, ...], **options: Any) -> int:
    """Explain why a document was or was not in the results.

    DOCUMENT is the id of a document or a chunk, the beginning of one, a path, a title or the name of a file.
    Exits with status 1 if it was not in the results.
    """
    report = session.kebab().why(document, " ".join(query), **options)
    session.put(lambda: _wire().why(report), lambda: render.why(report, screen=session.screen))
    return 0 if report.shown else 1


def show(session: Session, response: SearchResponse, *, explain: bool) -> int:
    """Print one page of results and what there is to say about it; the exit code of a search."""
    session.warn(map(render.degradation, response.degraded))
    for one in response.corrections:
        session.say(
            f"searched for {one.instead!r} instead of {one.word!r}; --exact searches for what you typed"
        )
    session.put(
        lambda: _wire().search_response(response, explain=explain),
        lambda: render.search_results(
            response, screen=session.screen, explain=explain, locate=lambda hit: file_url(session, hit)
        ),
    )
    if response.truncated:
        session.say("the output was shortened to fit --max-tokens")
    if response.next_cursor:
        session.say(f"next page: --cursor {response.next_cursor}")
    if response.withheld:
        session.say(f"left out {count_of(response.withheld, 'hit')} with a score below --min-score")
    if response.weak and response.hits:
        session.say("nothing fits well: even the best hit is unlikely to be what you meant")
    if not response.hits:
        session.warn(
            [
                f"nothing found for {clip(response.query, 60)!r} in the knowledge base {session.place()}",
                _advice(response),
            ]
        )
    elif response.mode is SearchMode.HYBRID and not any(map(_by_words, response.hits)):
        session.say("no hit contains words of the query; these are the closest in meaning")
    return 0 if response.hits else 1


def _by_words(hit: SearchHit) -> bool:
    """Whether words, or a filter, found it."""
    return hit.retrieval.lexical_score is not None or hit.score_kind is ScoreKind.LISTED


def _advice(response: SearchResponse) -> str:
    """What a search that found nothing is to try next."""
    if any(note.part != "filter" for note in response.degraded):
        return "not everything could be searched, see above"
    if response.withheld:
        return "lower --min-score to see what is near"
    if response.degraded:
        return "leave the filter out, or take one of those above"
    return "try fewer words, or leave out filters and quotes"


def file_url(session: Session, hit: SearchHit) -> str | None:
    """The file behind a hit, for terminals that open links; None where its source is gone."""
    file = source_file(session, hit)
    links = session.kebab().settings.screen.links
    return address(links, file, line=hit.line) if file else None


def source_file(session: Session, hit: SearchHit) -> Path | None:
    """The file that a hit came from; None where its source is gone."""
    roots = {source.id: Path(source.root) for source in session.kebab().settings.sources}
    root = roots.get(hit.source_id)
    return root / hit.doc_path if root else None


def _wire() -> ModuleType:
    from kebab import wire

    return wire
