"""A brief written down: as much of what was chosen as the budget lets in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kebab.answer.prompt import inert
from kebab.domain.briefs import Brief, BriefLines, BriefRun
from kebab.domain.hits import Degradation
from kebab.domain.tokens import estimate_tokens

MEMORY_SHARE = 0.4
"""What runs may take of the budget while documents want the rest."""
_HEADS = {"documents": "Documents", "worked": "Worked before", "avoid": "Avoid: this failed before"}


def compose(
    task: str,
    pieces: Sequence[BriefLines],
    runs: Sequence[BriefRun],
    *,
    max_tokens: int,
    degraded: tuple[Degradation, ...] = (),
) -> Brief:
    """Runs first, up to their share, then documents. What does not fit is left out; what follows may fit."""
    told: list[BriefRun] = []
    for run in runs:
        if _tokens([], [*told, run]) <= max_tokens * MEMORY_SHARE:
            told.append(run)
    kept: list[BriefLines] = []
    for piece in pieces:
        if _tokens([*kept, piece], told) <= max_tokens:
            kept.append(piece)
    for run in runs:
        if run not in told and _tokens(kept, [*told, run]) <= max_tokens:
            told.append(run)
    text = _text(kept, told)
    return Brief(
        task=task,
        documents=tuple(kept),
        worked=tuple(run for run in told if run.success),
        avoid=tuple(run for run in told if not run.success),
        text=text,
        tokens=estimate_tokens(text),
        max_tokens=max_tokens,
        left_out=len(pieces) + len(runs) - len(kept) - len(told),
        degraded=degraded,
    )


def _tokens(pieces: Sequence[BriefLines], runs: Sequence[BriefRun]) -> int:
    return estimate_tokens(_text(pieces, runs))


def _text(pieces: Sequence[BriefLines], runs: Sequence[BriefRun]) -> str:
    parts = {
        "avoid": [_run(run) for run in runs if not run.success],
        "worked": [_run(run) for run in runs if run.success],
        "documents": [_lines(piece) for piece in pieces],
    }
    return "\n\n".join("\n".join((f"## {_HEADS[name]}", *lines)) for name, lines in parts.items() if lines)


def _lines(piece: BriefLines) -> str:
    """The citation, where the lines stand, and the lines as they are but for blank ones.

    Each is quoted, so that no line of a document can pass for a part of the brief.
    """
    headings = " › ".join(dict.fromkeys(" ".join(one.split()) for one in (piece.title, *piece.heading_path)))
    quoted = "\n".join(f"> {line}".rstrip() for line in inert(piece.text).split("\n") if line.strip())
    return f"{inert(piece.citation.uri)} ({inert(headings)})\n{quoted}"


def _run(run: BriefRun) -> str:
    """One line, whatever was recorded: no part of a run can pass for another one, or for a head."""
    said = " ".join("; ".join(_said(run)).split())
    return f"- [{inert(' '.join(run.id.split()))}] {inert(said)}"


def _said(run: BriefRun) -> Iterable[str]:
    tried = f": {run.approach}" if run.approach else ""
    yield f"{'' if run.surely else 'maybe related: '}{run.task}{tried}"
    if run.outcome:
        yield f"{'result' if run.success else 'failed with'}: {run.outcome}"
    if run.lesson:
        yield f"lesson: {run.lesson}"
