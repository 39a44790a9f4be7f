"""What the screen shows, as styled text. Nothing of a note or a name reaches the terminal unchecked."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from kebab.domain.answers import Answer
from kebab.domain.controls import harmless, harmless_line
from kebab.domain.hits import SearchHit, SearchResponse
from kebab.domain.ids import DocId

BAR = 8
AROUND = 200
"""So many lines before the cited ones are shown, and twice as many after them."""


def bar(share: float, style: str) -> Text:
    full = round(max(0.0, min(1.0, share)) * BAR)
    return Text("█" * full, style=style) + Text("·" * (BAR - full), style="dim")


def legs(hit: SearchHit) -> Text:
    """What each leg gave, as two bars with their ranks."""
    given = hit.retrieval
    words = bar(given.lexical_score or 0.0, "red") + _rank(given.lexical_rank)
    return words + bar(given.vector_score or 0.0, "cyan") + _rank(given.vector_rank)


def _rank(rank: int | None) -> Text:
    return Text(f" #{rank:<3}" if rank else " –   ", style="dim")


PER_NOTE = 3
"""Hits shown of one note."""


def group_title(hit: SearchHit, more: int) -> Text:
    title = Text(harmless_line(hit.title), style="bold")
    rest = f"  {harmless_line(hit.doc_path)}" + (f"  +{more}" if more else "")
    title.append(rest, style="dim")
    return title


def hit_lines(hit: SearchHit) -> Text:
    """Two lines: where it stands with its legs, and the marked snippet."""
    place = hit.heading_path[-1] if hit.heading_path else hit.title
    where = Text("  ") + legs(hit) + Text(f"  {harmless_line(place)}", style="dim")
    cut = _heading(hit.shown.text)
    snippet = Text("  " + harmless_line(hit.shown.text[cut:]))
    for start, end in hit.shown.marks:
        if start >= cut:
            snippet.stylize("bold yellow", start - cut + 2, end - cut + 2)
    return where + "\n" + snippet


def _heading(text: str) -> int:
    """How long the heading is that a snippet begins with, where more follows: it stands above already."""
    first, newline, rest = text.partition("\n")
    return len(text) - len(rest.lstrip()) if newline and first.startswith("#") and rest.strip() else 0


def grouped(found: SearchResponse) -> list[tuple[list[SearchHit], int]]:
    """The best hits of each document, in the order of its best one, and how many others were found in it.

    One long note may hold all the best hits: the other documents are shown all the same.
    """
    groups: dict[DocId, list[SearchHit]] = {}
    for hit in found.hits:
        groups.setdefault(hit.doc_id, []).append(hit)
    others = {best.doc_id: len(best.others) for best in found.groups}
    for best in found.groups:
        groups.setdefault(best.doc_id, [best])
    return [(hits[:PER_NOTE], others.get(doc, len(hits) - 1)) for doc, hits in groups.items()]


def note(text: str, *, start: int, end: int, terms: Sequence[str] = ()) -> tuple[Text, int]:
    """Lines around the cited ones, numbered, the cited ones marked; and at which of them these begin."""
    lines = text.split("\n")
    first, last = max(1, start - AROUND), min(len(lines), end + 2 * AROUND)
    width = len(str(last))
    shown = Text(no_wrap=False)
    for number in range(first, last + 1):
        cited = start <= number <= end
        line = Text(harmless(lines[number - 1]).replace("\n", " "), style="on #3a3320" if cited else "")
        for term in terms:
            line.highlight_words([term], style="bold yellow", case_sensitive=False)
        mark = Text(
            f"{number:>{width}} ▌" if cited else f"{number:>{width}}  ", style="yellow" if cited else "dim"
        )
        shown.append(mark).append(line).append("\n")
    return shown, start - first


def explanation(hit: SearchHit, response: SearchResponse) -> Text:
    """Each leg's rank, raw score and contribution, and how they were joined."""
    shown = Text()
    shown.append(f"{harmless_line(hit.citation.uri)}\n", style="bold")
    shown.append(f"score {hit.score:.4f} ({hit.score_kind})\n\n")
    for evidence in hit.evidence:
        name = "words  " if evidence.leg == "lexical" else "meaning"
        given = "" if evidence.contribution is None else f"  gives +{evidence.contribution:.4f}"
        shown.append(f"{name}  #{evidence.rank}  raw {evidence.raw_score:.4f}{given}\n")
        if evidence.matched_terms:
            shown.append(f"         {harmless_line(' '.join(evidence.matched_terms))}\n", style="dim")
    if response.fusion is not None:
        shown.append(f"\n{response.fusion.policy}: {response.fusion.reason}\n", style="dim")
    shown.append(f"\nindex {hit.index_version}\nmodel {hit.embedding_model or '–'}\n", style="dim")
    return shown


def answer(found: Answer) -> Text:
    """An answer with what it rests on, or a refusal with the nearest notes."""
    shown = Text(harmless(found.text) + "\n\n")
    if not found.grounded:
        shown.stylize("yellow")
        shown.append("nearest notes\n", style="bold")
        for near in found.candidates[:3]:
            shown.append(f"{harmless_line(near.citation.uri)}\n", style="dim")
    for quote in found.citations:
        shown.append(f"[#{quote.marker}] {harmless_line(quote.citation.uri)}\n", style="bold")
        shown.append(f"{harmless(quote.text)}\n\n", style="dim")
    return shown
