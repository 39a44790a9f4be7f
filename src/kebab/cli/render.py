"""Search results and explanations for people, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kebab.cli.screen import Screen, clip, clip_start, pad, width, wrap
from kebab.domain.citations import SourceState
from kebab.domain.controls import harmless
from kebab.domain.hits import (
    Degradation,
    FusionNote,
    Leg,
    ScoreKind,
    SearchHit,
    SearchResponse,
    SearchTrace,
    Snippet,
)
from kebab.domain.plurals import count_of
from kebab.domain.queries import SearchMode

if TYPE_CHECKING:
    from kebab.domain.why import ChunkPlace, LegPlace, WhyReport

INDENT = "    "
SNIPPET_LINES = 5
LEG_NAMES = {Leg.LEXICAL: "words", Leg.VECTOR: "meaning"}
PART_NAMES = {"lexical": "bm25", "name": "name", "coverage": "coverage", "nearness": "nearness"}
"""What learned fusion counts of words, as people are told of it."""
RAW_NAMES = {Leg.LEXICAL: "bm25", Leg.VECTOR: "cosine"}

STATES = {SourceState.CHANGED: "changed since it was indexed", SourceState.GONE: "the file is gone"}
PARTS = {"lexical": "words", "vector": "meaning", "reranker": "the reranker"}
"""What can be missing from a search, as people are told of it."""
PARTLY = ("index_behind", "not_embedded")
"""Codes of a leg that answered without some of the documents."""

Locate = Callable[[SearchHit], str | None]
"""The address a hit's citation links to, or None."""


def search_results(response: SearchResponse, *, screen: Screen, explain: bool, locate: Locate) -> str:
    """Every hit with its place, citation, headings and marked snippet; more with ``explain`` and a trace."""
    silent = {note.part for note in response.degraded}
    legs = [leg for leg in Leg if leg.value not in silent] if explain else []
    several = len({found.source_id for found in response.hits}) > 1
    parts = [
        hit(found, screen=screen, legs=legs, locate=locate, name_source=several) for found in response.hits
    ]
    if explain:
        parts.append(_how(response, screen))
    if response.trace and (response.trace.legs or response.trace.timings_ms):
        parts.append(trace(response.trace, screen))
    return "\n\n".join(parts)


def degradation(note: Degradation) -> str:
    """What did not take part, why, and what to do; an index that lacks some documents did take part."""
    absent = f"{PARTS[note.part]} did not take part: " if note.part in PARTS else ""
    if note.code in PARTLY:
        absent = ""
    return f"{absent}{note.message}" + (f"; {note.hint}" if note.hint else "")


def hit(
    found: SearchHit, *, screen: Screen, locate: Locate, legs: Sequence[Leg] = (), name_source: bool = False
) -> str:
    """One hit; with ``legs``, a line for each of them. The same path may stand in two sources."""
    lines = [_headline(found, screen, locate)]
    if name_source:
        lines[0] += screen.dim(f"  {found.source_id}")
    if headings := _headings(found.trail, screen):
        lines.append(INDENT + headings)
    lines += [INDENT + line for line in snippet(found.shown, screen, columns=screen.columns - len(INDENT))]
    lines += [*_legs_of(found, legs, screen), *_later(found, screen)] if legs else []
    return "\n".join([*lines, *_elsewhere(found, screen)])


def _elsewhere(found: SearchHit, screen: Screen) -> list[str]:
    """What else was found in the document, and which others hold the same text."""
    notes = [f"{len(found.others)} more in this note"] if found.others else []
    if found.copies:
        notes.append(f"also in {', '.join(found.copies)}")
    return [screen.dim(INDENT + clip(harmless(note), screen.columns - len(INDENT))) for note in notes]


def _headline(found: SearchHit, screen: Screen, locate: Locate) -> str:
    cited = screen.style(found.citation.uri, fg="cyan")
    stale = stale_note(found.citation.source_state, screen)
    if found.old:
        stale += screen.dim(f"  indexed on {found.indexed_at[:10]}")
    rank = screen.bold(f"{found.rank:>2}.")
    return (
        f"{rank} {screen.style(f'{found.score:.4f}', fg='green')}  {screen.link(cited, locate(found))}{stale}"
    )


def stale_note(state: SourceState | None, screen: Screen) -> str:
    """What a reader must know of a cited file; empty while it is as it was indexed."""
    note = STATES.get(state) if state else None
    return screen.style(f"  {note}", fg="yellow") if note else ""


def _headings(path: Sequence[str], screen: Screen) -> str:
    return screen.dim(clip_start(harmless(" › ".join(path)), screen.columns - len(INDENT)))


def snippet(found: Snippet, screen: Screen, *, columns: int) -> list[str]:
    """The text in lines that fit, its matched words marked; blank lines are left out."""
    # Room for the ellipsis at the end and, without colours, for the signs that stand in for them.
    room = columns - (2 if screen.color else 8)
    found = Snippet(harmless(found.text), found.marks)
    ranges = [r for r in wrap(found.text, room) if found.text[slice(*r)].strip()]
    first = _first_line(ranges, found)
    shown = ranges[first : first + SNIPPET_LINES]
    lines = [_marked(found, start, end, screen) for start, end in shown]
    return [*lines[:-1], f"{lines[-1]} …"] if len(ranges) > first + SNIPPET_LINES else lines


def _first_line(ranges: Sequence[tuple[int, int]], found: Snippet) -> int:
    """The line to begin with, so that the first matched word is on one of those that are shown."""
    if not found.marks:
        return 0
    held = next((at for at, (_, end) in enumerate(ranges) if end > found.marks[0][0]), 0)
    return 0 if held < SNIPPET_LINES else held - 1


def _marked(found: Snippet, start: int, end: int, screen: Screen) -> str:
    pieces, position = [], start
    for left, right in found.marks:
        left, right = max(left, start), min(right, end)
        if left >= right:
            continue
        pieces += [found.text[position:left], mark(found.text[left:right], screen)]
        position = right
    return "".join([*pieces, found.text[position:end]])


def mark(text: str, screen: Screen) -> str:
    return screen.style(text, fg="yellow", bold=True) if screen.color else f"«{text}»"


def _legs_of(found: SearchHit, legs: Sequence[Leg], screen: Screen) -> list[str]:
    lines = []
    for evidence in found.evidence:
        share = found.score if evidence.contribution is None else evidence.contribution
        gave = "" if evidence.contribution is None else f"+{evidence.contribution:.4f}"
        terms = f"  {' '.join(evidence.matched_terms)}" if evidence.matched_terms else ""
        place = f"#{evidence.rank:<4} {_raw(evidence.leg, evidence.raw_score)}  {gave:>7}"
        lines.append(_leg_line(evidence.leg, share, place, terms, screen))
        if evidence.parts:
            lines.append(screen.dim(f"{INDENT}{'':8}{_parts(evidence.parts)}"))
    if found.retrieval.method is SearchMode.HYBRID:
        absent = [leg for leg in legs if leg not in {evidence.leg for evidence in found.evidence}]
        lines += [_leg_line(leg, 0.0, "not found by this leg", "", screen) for leg in absent]
    return lines


def _parts(parts: Mapping[str, float]) -> str:
    """What a leg's contribution is made of, as a sum."""
    return "= " + " + ".join(f"{PART_NAMES.get(part, part)} {share:.4f}" for part, share in parts.items())


def _later(found: SearchHit, screen: Screen) -> list[str]:
    """What happened to the hit after fusion."""
    notes = []
    if found.rerank:
        note = found.rerank
        notes.append(f"{pad('rerank', 8)}#{note.rank:<4} score {note.raw_score:.4f}  was #{note.rank_before}")
    if found.repeats:
        notes.append(f"moved down: chunk {found.repeats} above holds most of it")
    return [screen.dim(INDENT + clip(note, screen.columns - len(INDENT))) for note in notes]


def _raw(leg: Leg, score: float) -> str:
    return f"{RAW_NAMES[leg]:<6} {score:>8.4f}"


def _leg_line(leg: Leg, share: float, place: str, terms: str, screen: Screen) -> str:
    """A leg's bar and place; its terms behind them, or on a line of their own where they do not fit."""
    color = "blue" if leg is Leg.LEXICAL else "magenta"
    head = f"{INDENT}{pad(LEG_NAMES[leg], 8)}"
    place = clip(place, screen.columns - width(head) - 12)
    room = screen.columns - width(head) - 12 - width(place)
    below = " " * width(head)
    if width(terms) > room:
        terms = f"\n{below}{clip(terms.strip(), screen.columns - width(below))}"
    return (
        screen.dim(head)
        + screen.style(screen.bar(share), fg=color)
        + "  "
        + place.rstrip()
        + screen.dim(terms)
    )


def _how(response: SearchResponse, screen: Screen) -> str:
    facts = [("fused", _fusion(response.fusion))] if response.fusion else []
    facts.append(("index", response.index_version))
    if response.hits:
        first = response.hits[0]
        facts.append(("model", f"{first.embedding_model or 'none'} · chunker {first.chunker_version}"))
        if first.rerank:
            reranked = sum(found.rerank is not None for found in response.hits)
            facts.append(("rerank", f"{first.rerank.model} put the first {reranked} of these in order"))
        facts.append(("score", f"{first.score_kind.value}: {_meaning(first.score_kind)}"))
    return "\n".join(_fact(name, text, screen) for name, text in facts)


def _meaning(kind: ScoreKind) -> str:
    if kind is ScoreKind.LEARNED:
        return "of the first hit, how likely one of the first three is right; of the others, beside it"
    return "orders the hits; it is not a probability"


def _fact(name: str, text: str, screen: Screen) -> str:
    lines = [text[start:end] for start, end in wrap(text, screen.columns - 8)]
    return screen.dim(f"{name:<8}" + f"\n{'':8}".join(lines))


def _fusion(note: FusionNote) -> str:
    weights = " ".join(f"{LEG_NAMES.get(Leg(leg), leg)} {weight:.2g}" for leg, weight in note.weights.items())
    return f"{note.policy} ({weights}): {note.reason}"


def trace(found: SearchTrace, screen: Screen) -> str:
    """The lists before fusion, ten of each, and where the time went."""
    lines = []
    for leg, candidates in found.legs.items():
        lines.append(screen.bold(f"{leg}: {count_of(len(candidates), 'candidate')}"))
        lines += [f"  {rank:>3}  {c.score:>9.4f}  {c.id}" for rank, c in enumerate(candidates[:10], start=1)]
    timings = "  ".join(f"{stage.removesuffix('_ms')} {ms:.1f} ms" for stage, ms in found.timings_ms.items())
    return "\n".join([*lines, _fact("time", timings, screen)])


def why(report: WhyReport, *, screen: Screen, limit: int = 5) -> str:
    """The verdict first, then the chunks that came closest, leg by leg."""
    sign = screen.style("shown", fg="green") if report.shown else screen.style("not shown", fg="yellow")
    # Of a single chunk the rest of its document may well be shown.
    subject = report.chunks[0].citation if len(report.chunks) == 1 else report.doc_path
    path = screen.style(harmless(subject), fg="cyan")
    verdict = harmless(report.verdict)
    lines = [f"{path}: {sign} in the first {report.k}"]
    lines += [verdict[start:end] for start, end in wrap(verdict, screen.columns)]
    for place in report.chunks[:limit]:
        lines += ["", *_place(place, screen)]
    if len(report.chunks) > limit:
        more = len(report.chunks) - limit
        lines += ["", screen.dim(f"{count_of(more, 'more chunk')} came no closer")]
    if report.fusion:
        lines += ["", _fact("fused", _fusion(report.fusion), screen)]
    return "\n".join(lines)


def _place(place: ChunkPlace, screen: Screen) -> list[str]:
    where = f"{place.rank:>3}." if place.rank is not None else "  –."
    score = f"{place.score:.4f}" if place.score is not None else "  –   "
    lines = [
        f"{screen.bold(where)} {screen.style(score, fg='green')}  {screen.style(place.citation, fg='cyan')}"
    ]
    if headings := _headings(place.heading_path, screen):
        lines.append(INDENT + headings)
    verdict = harmless(place.verdict)
    lines += [INDENT + verdict[start:end] for start, end in wrap(verdict, screen.columns - len(INDENT))]
    # Alone, a leg contributes to nothing: its score is the chunk's.
    alone = place.score if len(place.legs) == 1 else None
    return lines + [_leg_place(leg, screen, share=alone) for leg in place.legs]


def _leg_place(leg: LegPlace, screen: Screen, *, share: float | None) -> str:
    if leg.rank is None or leg.raw_score is None:
        return _leg_line(leg.leg, 0.0, leg.note, "", screen)
    missing = ("without", *leg.missing_terms) if leg.missing_terms else ()
    terms = "".join(f"  {' '.join(words)}" for words in (leg.matched_terms, missing) if words)
    gave = "" if leg.contribution is None else f"  +{leg.contribution:.4f}"
    place = f"#{leg.rank:<4} {_raw(leg.leg, leg.raw_score)}{gave}"
    return _leg_line(leg.leg, leg.contribution or share or 0.0, place, terms, screen)
