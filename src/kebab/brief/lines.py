"""Which lines of documents matter for a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kebab.answer.gate import Gate
from kebab.answer.question import Question
from kebab.answer.rank import Ranker, Scored
from kebab.domain.briefs import BriefLines
from kebab.domain.chunks import Chunk, StoredChunk
from kebab.domain.citations import cite
from kebab.domain.documents import LineSpan
from kebab.domain.hits import Leg, Retrieval, SearchHit
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.queries import SearchFilters, SearchMode, SearchQuery
from kebab.domain.tokens import estimate_tokens
from kebab.ports import DocumentStore
from kebab.search.hybrid import HybridRetriever

FOUND = 20
"""Chunks that the task's own words find."""
LED = 4
"""Chunks that each further text finds."""
LEAD_WEIGHT, BETTER = 0.7, 2.0
"""What a place in such a search counts beside one in the search for the task; how far nearness changes it."""
ECHOES, LONGEST_ECHO = 3, 800
"""How many of the best chunks are looked for among the runs, and how much of each."""
FIRST, SMALL, LATER = 4, 240, 80
"""The first few chunks are told whole up to so many tokens, later ones up to fewer; of a larger one the best
lines, up to as many.
"""
READ = 10
"""Chunks that the ranking of passages reads without being told to."""
NEAR = 0.75
"""Share of the best score of a leg from which a chunk is near."""
STANDING = 0.6
"""Share of the best document's standing from which the chunks of another one are near."""
QUOTED = 5
"""Chunks whose best passages stand so high are near too."""
ALWAYS = 3
"""Chunks that are told however far they are."""
_K = 10
"""How fast a place loses weight: the first counts 1, the eleventh a half."""


@dataclass(frozen=True, slots=True)
class Lead:
    """A text that leads to documents besides the task: what runs of such tasks tried and learned."""

    text: str
    runs: tuple[str, ...]
    weight: float = 1.0
    """How near the runs are to the task."""
    documents: tuple[DocId, ...] = ()
    """Where to look; empty for everywhere."""


@dataclass(frozen=True, slots=True)
class Led:
    """What a lead found, and what a place in it counts beside one in the search for the task."""

    lead: Lead
    found: Retrieval
    weight: float


@dataclass(frozen=True, slots=True)
class Look:
    """What one search for the task found."""

    query: SearchQuery
    found: Retrieval
    echoes: tuple[str, ...]
    """The best chunks, each with what stands above it: they say what the task is about in other words."""


@dataclass(frozen=True, slots=True)
class LineFinder:
    """Finds chunks by the task and by what past runs say, and takes the best lines of each."""

    retriever: HybridRetriever
    store: DocumentStore
    gate: Gate
    ranker: Ranker

    def look(self, question: Question, *, mode: SearchMode, filters: SearchFilters) -> Look:
        """What the task's own words find."""
        query = SearchQuery(question.text, mode, FOUND, filters)
        found = self.retriever.search(query)
        stored = self.store.hydrate([hit.chunk_id for hit in found.hits])
        chunks = [stored[hit.chunk_id] for hit in found.hits if hit.chunk_id in stored]
        ranked = self.ranker.rank(question, self.gate.weigh(question), found, chunks)
        best = _ordered(found, [], ranked, stored)[:ECHOES]
        return Look(query, found, tuple(_echo(stored[key]) for key in best))

    def find(self, question: Question, look: Look, leads: Sequence[Lead]) -> list[BriefLines]:
        """Pieces in the order in which a budget should take them."""
        found = look.found
        led = [self._led(lead, look) for lead in leads]
        hits = {hit.chunk_id: hit for one in (found, *(each.found for each in led)) for hit in one.hits}
        stored = self.store.hydrate(list(hits))
        chunks = [stored[key] for key in hits if key in stored]
        more = list(enumerate(chunks))[READ:]
        ranked = self.ranker.rank(question, self.gate.weigh(question), found, chunks, more)
        by_run = _by_run(led)
        return [
            replace(piece, led_by=by_run.get(key, ()))
            for at, key in enumerate(_ordered(found, led, ranked, stored))
            for piece in _pieces(stored[key], hits[key], ranked, room=SMALL if at < FIRST else LATER)
        ]

    def _led(self, lead: Lead, look: Look) -> Led:
        query = replace(look.query, text=lead.text, k=LED)
        if lead.documents:
            query = replace(query, filters=replace(query.filters, doc_id=lead.documents))
        found = self.retriever.search(query)
        own, other = _nearest(look.found), _nearest(found)
        # A lead that comes much nearer to documents than the task does is in their words, or their language.
        better = min(BETTER, max(1 / BETTER, other / own)) if own > 0 and other > 0 else 1.0
        return Led(lead, found, LEAD_WEIGHT * lead.weight * better)


def _nearest(found: Retrieval) -> float:
    """The best cosine; 0 without one."""
    return max(
        (one.raw_score for hit in found.hits for one in hit.evidence if one.leg is Leg.VECTOR), default=0.0
    )


def _echo(stored: StoredChunk) -> str:
    return " ".join((stored.title, *stored.chunk.heading_path, stored.chunk.text))[:LONGEST_ECHO]


def _by_run(led: Sequence[Led]) -> dict[ChunkId, tuple[str, ...]]:
    found: dict[ChunkId, tuple[str, ...]] = {}
    for one in led:
        for hit in one.found.hits:
            found[hit.chunk_id] = tuple(dict.fromkeys((*found.get(hit.chunk_id, ()), *one.lead.runs)))
    return found


def _ordered(
    found: Retrieval,
    led: Sequence[Led],
    ranked: Sequence[Scored],
    stored: Mapping[ChunkId, StoredChunk],
) -> list[ChunkId]:
    """The chunks that are near, best first.

    What counts: the place in the search for the task and in those that runs led to, the nearness in meaning,
    the place of the best passage, and how much else of the document was found.
    """
    own = _worths(found, led, ranked, stored)
    standing = _standing(own, stored)
    total = {key: worth + standing[key] for key, worth in own.items()}
    ordered = sorted(total, key=lambda key: (-total[key], key))
    quoted = list(dict.fromkeys(one.chunk.chunk.chunk_id for one in ranked))[:QUOTED]
    near = frozenset(quoted).union(*(_near(one) for one in (found, *(each.found for each in led))))
    return [key for at, key in enumerate(ordered) if at < ALWAYS or key in near or standing[key] >= STANDING]


def _worths(
    found: Retrieval,
    led: Sequence[Led],
    ranked: Sequence[Scored],
    stored: Mapping[ChunkId, StoredChunk],
) -> dict[ChunkId, float]:
    passages = list(dict.fromkeys(one.chunk.chunk.chunk_id for one in ranked))
    lists = [
        (1.0, [hit.chunk_id for hit in found.hits]),
        (1.0, passages),
        *((one.weight, [hit.chunk_id for hit in one.found.hits]) for one in led),
    ]
    worth: dict[ChunkId, float] = {}
    for weight, keys in lists:
        for place, key in enumerate(keys):
            worth[key] = worth.get(key, 0.0) + weight * _K / (_K + place)
    for weight, searched in ((1.0, found), *((one.weight, one.found) for one in led)):
        for key, share in _shares(searched, Leg.VECTOR).items():
            worth[key] = worth.get(key, 0.0) + weight * share
    return {key: value for key, value in worth.items() if key in stored}


def _standing(worths: Mapping[ChunkId, float], stored: Mapping[ChunkId, StoredChunk]) -> dict[ChunkId, float]:
    """What the three best chunks of each chunk's document are worth, as a share of the best document's."""
    documents: dict[DocId, list[float]] = {}
    for key, worth in worths.items():
        documents.setdefault(stored[key].chunk.doc_id, []).append(worth)
    totals = {doc_id: sum(sorted(own, reverse=True)[:3]) for doc_id, own in documents.items()}
    most = max(totals.values(), default=1.0)
    return {key: totals[stored[key].chunk.doc_id] / most for key in worths}


def _near(found: Retrieval) -> frozenset[ChunkId]:
    """The hits that are nearly as good as the best one, by words or by meaning."""
    return frozenset(key for leg in Leg for key, share in _shares(found, leg).items() if share >= NEAR)


def _shares(found: Retrieval, leg: Leg) -> dict[ChunkId, float]:
    """Each hit's score in a leg as a share of the leg's best."""
    raw = {hit.chunk_id: one.raw_score for hit in found.hits for one in hit.evidence if one.leg is leg}
    best = max(raw.values(), default=0.0)
    return {key: max(0.0, score) / best for key, score in raw.items()} if best > 0 else {}


def _pieces(stored: StoredChunk, hit: SearchHit, ranked: Sequence[Scored], *, room: int) -> list[BriefLines]:
    """The whole chunk without its headings where it is small; else the neighbouring lines of its best."""
    chunk = stored.chunk
    numbered = _numbered(chunk)
    if numbered is None:
        return [_piece(stored, hit, chunk.text, None)]
    own = [one for one in ranked if one.chunk.chunk.chunk_id == chunk.chunk_id]
    if estimate_tokens(chunk.text) <= room:
        kept = list(range(len(numbered)))
    else:
        kept = _best(numbered, own, room=room) or list(range(len(numbered)))
    while kept and _is_heading(numbered[kept[0]][1]):
        kept.pop(0)
    while kept and not numbered[kept[-1]][1].strip():
        kept.pop()
    return [_run(stored, hit, [numbered[at] for at in run]) for run in _runs(kept, numbered)]


def _numbered(chunk: Chunk) -> list[tuple[int, str]] | None:
    """The lines with their numbers; None where the text is no whole lines of the file."""
    numbers = [number for span in chunk.spans for number in range(span.start, span.end + 1)]
    lines = chunk.text.split("\n")
    return list(zip(numbers, lines, strict=True)) if not chunk.place and len(numbers) == len(lines) else None


def _best(numbered: Sequence[tuple[int, str]], ranked: Sequence[Scored], *, room: int) -> list[int]:
    """The lines of the best passages, in order, within so many tokens; those of the very best in any case."""
    kept: set[int] = set()
    for one in ranked:
        more = kept | {at for at in range(one.passage.first, one.passage.last + 1) if at < len(numbered)}
        if kept and estimate_tokens("\n".join(numbered[at][1] for at in more)) > room:
            break
        kept = more
    return sorted(kept)


def _runs(kept: Sequence[int], numbered: Sequence[tuple[int, str]]) -> list[list[int]]:
    """Lines that follow each other in the file, together; blank lines alone are left out."""
    runs: list[list[int]] = [[kept[0]]] if kept else []
    for before, at in pairwise(kept):
        if numbered[at][0] == numbered[before][0] + 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    return [run for run in runs if any(numbered[at][1].strip() for at in run)]


def _is_heading(line: str) -> bool:
    return line.lstrip().startswith("#") or not line.strip()


def _run(stored: StoredChunk, hit: SearchHit, lines: Sequence[tuple[int, str]]) -> BriefLines:
    return _piece(stored, hit, "\n".join(line for _, line in lines), LineSpan(lines[0][0], lines[-1][0]))


def _piece(stored: StoredChunk, hit: SearchHit, text: str, span: LineSpan | None) -> BriefLines:
    state = hit.citation.source_state
    citation = hit.citation if span is None else cite(stored.path, (span,), state=state)
    return BriefLines(stored.chunk.chunk_id, stored.title, stored.chunk.heading_path, citation, text)
