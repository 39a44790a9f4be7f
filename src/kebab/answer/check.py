"""Checking an answer against what it cites, sentence by sentence: a prompt's rules are only wishes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kebab.answer.decline import declines
from kebab.answer.markers import Marked, read_markers
from kebab.answer.prompt import inert, printable
from kebab.answer.sentences import sentences, without_comments
from kebab.answer.shapes import Passage, Shape
from kebab.domain.answers import Claim, Evidence, Quote, RefusalReason
from kebab.domain.citations import Citation, CitationKind
from kebab.domain.values import dataclass
from kebab.ports import Analyzer

_LAYOUT = re.compile(r"^\s*(?:>\s*)*(?:(?:[-*+]|\d{1,3}[.)])\s)?| -(?:\s|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer's sentences with what is wrong with each, and why the answer is not grounded."""

    claims: tuple[Claim, ...]
    refusal: RefusalReason | None


def check_quotes(quoted: Sequence[tuple[Passage, str, Evidence]]) -> Verdict:
    """Judge an answer made of passages, each with the text that is shown of it: the passage must stand in its
    evidence word for word, on its lines.
    """
    claims = tuple(_quoted(passage, shown, item) for passage, shown, item in quoted)
    if not claims:
        return Verdict((), RefusalReason.DECLINED)
    bad = any(claim.problems for claim in claims)
    return Verdict(claims, RefusalReason.UNSUPPORTED if bad else None)


def _quoted(passage: Passage, shown: str, item: Evidence) -> Claim:
    lines = item.text.split("\n")[passage.first : passage.last + 1]
    stands = _plain(passage.text) in _plain("\n".join(lines)) or passage.shape is Shape.CODE
    stands = stands and passage.code in item.text
    whole = passage.shape in (Shape.LIST, Shape.CODE)
    text = "\n".join(lines) if whole else passage.text
    quote = Quote(item.marker, _lines_of(item, passage.first, passage.last), printable(text))
    problems = () if stands else (f"{passage.text!r} does not stand in {_named([item])}",)
    return Claim(printable(inert(shown)), (item.marker,), problems, (quote,))


def check(text: str, evidence: Sequence[Evidence], *, analyzer: Analyzer) -> Verdict:
    """Judge what a model wrote.

    Grounded means: it cites, it cites only what it was given, every number, date, name, identifier and
    quotation stands in what its sentence cites, and no sentence says that the answer is not there.
    """
    known = {item.marker: item for item in evidence}
    marked = read_markers(text)
    claims = tuple(_claim(sentence, known, analyzer) for sentence in marked)
    if not marked or any(declines(sentence.text) for sentence in marked):
        return Verdict(claims, RefusalReason.DECLINED)
    used = [marker for sentence in marked for marker in sentence.markers]
    if not used or any(marker not in known for marker in used):
        return Verdict(claims, RefusalReason.NOT_CITED)
    if any(claim.problems for claim in claims):
        return Verdict(claims, RefusalReason.UNSUPPORTED)
    return Verdict(claims, None)


def _claim(sentence: Marked, known: Mapping[int, Evidence], analyzer: Analyzer) -> Claim:
    cited = [known[marker] for marker in sentence.markers if marker in known]
    problems = [f"[#{m}] is no evidence that was given" for m in sentence.markers if m not in known]
    from kebab.answer.facts import facts, missing_from  # its patterns are for what models write

    # A sentence that cites nothing must still not bring in numbers and names of its own.
    source = "\n".join(_readable(item) for item in (cited or known.values()))
    missing = missing_from(facts(sentence.text), source)
    problems += [f"{fact!r} does not stand in {_named(cited)}" for fact in missing]
    quotes = tuple(quote for item in cited if (quote := find_quote(sentence.text, item, analyzer)))
    return Claim(sentence.text, sentence.markers, tuple(problems), quotes)


def _plain(text: str) -> str:
    return "".join(_LAYOUT.sub("", without_comments(inert(text))).split())


def find_quote(claim: str, item: Evidence, analyzer: Analyzer) -> Quote:
    """The sentence of the evidence that is nearest to the claim, with its own lines; else the whole item."""
    wanted = frozenset(analyzer.terms(claim))
    ranked = [(_overlap(wanted, frozenset(analyzer.terms(s.text))), s) for s in sentences(item.text)]
    best = max(ranked, key=lambda pair: pair[0], default=None)
    if best is None or best[0] == 0:
        return Quote(item.marker, item.citation, printable(item.text.strip()))
    return Quote(item.marker, _lines_of(item, best[1].first, best[1].last), printable(best[1].text))


def _lines_of(item: Evidence, first: int, last: int) -> Citation:
    citation = item.citation
    if citation.kind not in (CitationKind.LINE, CitationKind.CODE):
        return citation
    # A part of an over-long line cites that line, however many lines its sentences seem to have.
    start = min(citation.end, citation.start + first)
    return replace(citation, start=start, end=min(citation.end, citation.start + last))


def _overlap(wanted: frozenset[str], terms: frozenset[str]) -> float:
    return len(wanted & terms) / len(wanted | terms) if wanted and terms else 0.0


def _readable(item: Evidence) -> str:
    return "\n".join((item.doc_path, item.title, *item.heading_path, item.text))


def _named(cited: Sequence[Evidence]) -> str:
    return " or ".join(f"[#{item.marker}]" for item in cited) or "any evidence"
