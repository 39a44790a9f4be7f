"""Answers and refusals for people, as text."""

from __future__ import annotations

from collections.abc import Callable

from kebab.cli.render import stale_note
from kebab.cli.screen import Screen, clip, pad, wrap
from kebab.domain.answers import (
    GATE_FEATURES,
    Answer,
    AnswerComparison,
    AskCandidate,
    AskStep,
    Claim,
    Quote,
    RefusalReason,
)
from kebab.domain.citations import Citation

INDENT = "    "
EXTRACTIVE = "extractive"
LANGUAGES = {"en": "English", "ko": "Korean"}
NEAREST = 3
REASONS = {
    RefusalReason.NO_HITS: "nothing in the knowledge base matches",
    RefusalReason.WEAK_EVIDENCE: "what was found does not speak about the question",
    RefusalReason.DECLINED: "what was found does not answer it",
    RefusalReason.NOT_CITED: "the model cited nothing, or something it was not given",
    RefusalReason.UNSUPPORTED: "a sentence states what its source does not",
    RefusalReason.CANCELLED: "cancelled; this is what had arrived",
    RefusalReason.MODEL_FAILED: "the model broke off; this is what had arrived",
}

Locate = Callable[[Citation], str | None]
"""The address a citation links to, or None."""


def answer(found: Answer, *, screen: Screen, locate: Locate, explain: bool = False) -> str:
    """The text, where it stands, and what is wrong with it; more with ``explain``."""
    parts = (
        asked(found.request.asked, screen) if found.request.asked != found.request.question else "",
        text(found, screen),
        below(found, screen=screen, locate=locate, explain=explain),
    )
    return "\n\n".join(part for part in parts if part)


def asked(question: str, screen: Screen) -> str:
    """What a follow-up question was taken to mean."""
    return screen.dim(clip(f"asked: {question}", screen.columns))


def text(found: Answer, screen: Screen) -> str:
    """The answer's own lines; a sentence that failed its check is marked."""
    if not any(claim.problems for claim in found.claims):
        return _wrapped(found.text, screen, columns=screen.columns)
    return "\n".join(_claim(claim, screen) for claim in found.claims)


def below(found: Answer, *, screen: Screen, locate: Locate, explain: bool = False) -> str:
    """Everything that stands under the text of an answer."""
    parts = [_verdict(found, screen), _sources(found, screen, locate), _nearest(found, screen, locate)]
    if explain:
        parts += [_claims(found, screen), _gate(found, screen), _versions(found, screen)]
    parts.append(screen.dim(f"trace {found.trace_id} · {found.versions.model}"))
    return "\n\n".join(part for part in parts if part)


def comparison(found: AnswerComparison, *, screen: Screen, locate: Locate, explain: bool = False) -> str:
    """The new answer, then what changed since the old one."""
    shown = answer(found.after, screen=screen, locate=locate, explain=explain)
    if not found.changes:
        return f"{shown}\n\n{screen.dim(f'the same as {found.before.trace_id}: nothing changed')}"
    lines = [screen.bold(f"changed since {found.before.trace_id} ({found.before.created_at})")]
    for change in found.changes:
        lines.append(f"{INDENT}{change.what}")
        lines.append(
            INDENT * 2 + screen.style(clip(f"- {_flat(change.before)}", screen.columns - 8), fg="red")
        )
        lines.append(
            INDENT * 2 + screen.style(clip(f"+ {_flat(change.after)}", screen.columns - 8), fg="green")
        )
    return shown + "\n\n" + "\n".join(lines)


def _claim(claim: Claim, screen: Screen) -> str:
    markers = "".join(f" [#{marker}]" for marker in claim.markers)
    line = _wrapped(claim.text + markers, screen, columns=screen.columns)
    if not claim.problems:
        return line
    problems = "".join(f"\n{INDENT}! {problem}" for problem in claim.problems)
    return screen.style(line, fg="red") + screen.style(problems, fg="yellow")


def _verdict(found: Answer, screen: Screen) -> str:
    lines = []
    if found.refusal is not None:
        reason = REASONS[found.refusal] + (f": {found.error}" if found.error else "")
        lines.append(screen.style(f"not grounded: {reason}", fg="yellow"))
    elif found.partial and found.error:
        lines.append(screen.style(f"incomplete: {found.error}", fg="yellow"))
    lines += [
        screen.style(f"nothing found on: {part}", fg="yellow") for part in found.unanswered if found.grounded
    ]
    foreign = [LANGUAGES[lang] for lang in found.source_langs if lang != found.lang and lang in LANGUAGES]
    if found.grounded and foreign and found.versions.model == EXTRACTIVE:
        lines.append(screen.dim(f"quoted in {' and '.join(foreign)}, the language of the source"))
    return "\n".join(lines)


def _sources(found: Answer, screen: Screen, locate: Locate) -> str:
    lines = []
    for quote, more in _sources_once(found):
        place = screen.link(screen.style(quote.citation.uri, fg="cyan"), locate(quote.citation))
        stale = stale_note(quote.citation.source_state, screen)
        lines.append(f"{screen.bold(f'[#{quote.marker}]')} {place}{more}{stale}")
    return "\n".join(lines)


def _sources_once(found: Answer) -> list[tuple[Quote, str]]:
    """Each source once, in the order of its number: its first place, and the lines of the others."""
    places: dict[int, list[Quote]] = {}
    for quote in found.citations:
        places.setdefault(quote.marker, []).append(quote)
    return [
        (quotes[0], "".join(f", {quote.citation.uri.rpartition('#')[2]}" for quote in quotes[1:]))
        for _, quotes in sorted(places.items())
    ]


def _nearest(found: Answer, screen: Screen, locate: Locate) -> str:
    if found.grounded or not found.candidates:
        return ""
    lines = [screen.dim("nearest, though not an answer:")]
    lines += [_candidate(item, screen, locate) for item in found.candidates[:NEAREST]]
    return "\n".join(lines)


def _candidate(item: AskCandidate, screen: Screen, locate: Locate) -> str:
    place = screen.link(screen.style(item.citation.uri, fg="cyan"), locate(item.citation))
    place += stale_note(item.citation.source_state, screen)
    return f"{INDENT}{place}\n{INDENT * 2}{screen.dim(clip(item.snippet, screen.columns - 8))}"


def _claims(found: Answer, screen: Screen) -> str:
    lines = [screen.bold("claims")] if found.claims else []
    for claim in found.claims:
        state = "ok" if claim.supported else "; ".join(claim.problems) or "cites nothing"
        lines.append(_wrapped(f"{claim.text} ({state})", screen, columns=screen.columns - 4, indent=INDENT))
        for quote in claim.quotes:
            said = clip(f"{quote.citation.uri}: {_flat(quote.text)}", screen.columns - 8)
            lines.append(INDENT * 2 + screen.dim(said))
    return "\n".join(lines)


def _gate(found: Answer, screen: Screen) -> str:
    return "\n".join(line for step in found.steps for line in _step(step, screen))


def _step(step: AskStep, screen: Screen) -> list[str]:
    gate = step.gate
    verdict = "passed" if gate.passed else "refused"
    title = f"gate {verdict} at {gate.confidence:.2f} (needs {gate.threshold:.2f}), {step.hits} hits"
    lines = [screen.bold(title), INDENT + screen.dim(clip(step.query, screen.columns - len(INDENT)))]
    for name in GATE_FEATURES if gate.features else ():
        value = getattr(gate.features, name)
        drawn = "does not apply" if value is None else f"{screen.bar(value)}  {value:.2f}"
        lines.append(f"{INDENT}{screen.dim(pad(name, 11))}{drawn}")
    if gate.missing:
        lines.append(f"{INDENT}{screen.dim(pad('missing', 11))}{' '.join(gate.missing)}")
    return lines


def _versions(found: Answer, screen: Screen) -> str:
    versions = found.versions
    facts = [
        f"prompt {versions.prompt} · {versions.gate} · analyzer {versions.analyzer}",
        f"index {versions.index} · embedding {versions.embedding_model or 'none'}",
        f"evidence {len(found.evidence)} chunks, {_spent(found)} · "
        + " · ".join(f"{name} {value:.0f}" for name, value in found.timings_ms.items()),
    ]
    return "\n".join(screen.dim(clip(fact, screen.columns)) for fact in facts)


def _spent(found: Answer) -> str:
    """Tokens read and written; with a model, of how many."""
    read, wrote, budget = found.usage.prompt_tokens, found.usage.completion_tokens, found.budget
    if budget is None or budget.completion_tokens is None:
        return f"{read} tokens"
    return f"{read} tokens read, {wrote} of {budget.completion_tokens} written, at most {budget.seconds:g} s"


def _wrapped(content: str, screen: Screen, *, columns: int, indent: str = "") -> str:
    return "\n".join(indent + content[start:end] for start, end in wrap(content, columns))


def _flat(content: str) -> str:
    return " ".join(content.split())
