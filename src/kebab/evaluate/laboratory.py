"""Evaluation as a user asks for it: a golden file, a collection, a tuning, on a knowledge base.

A collection is ingested into a temporary knowledge base with the same settings, so that what is measured is
the product: its parser, chunker, stores, indexes and retrievers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir
from typing import Protocol, TypeVar

from kebab.answer.pipeline import Asker
from kebab.disk.scratch import scratch_folder
from kebab.domain.evaluations import (
    AnswersReport,
    AnswerVerdict,
    EvalQuery,
    EvalReport,
    NamesReport,
    QuerySet,
    TuneReport,
)
from kebab.domain.hits import SearchHit
from kebab.domain.ids import ChunkId
from kebab.domain.ingests import IngestPhase
from kebab.domain.progress import Progress, counted, silent
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.evaluate import answers, collections, golden, names
from kebab.evaluate.fit import Example
from kebab.evaluate.run import Evaluation, Units
from kebab.evaluate.tune import LegResults, tune
from kebab.ports import DocumentStore
from kebab.search.grid import GridPoint
from kebab.search.grid import grid as policy_grid
from kebab.search.learned import Learned
from kebab.search.parse import parse_query
from kebab.search.searcher import Searcher

T = TypeVar("T")

CURRENT = "as configured"
"""The name that the configured policy has among those that tuning tries."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A knowledge base as evaluation sees it."""

    searcher: Searcher
    asker: Asker
    """Keeps nothing: the questions of an evaluation are nobody's."""
    fusion: str
    """The name of the configured policy."""
    embedding_model: str | None

    @property
    def documents(self) -> DocumentStore:
        return self.searcher.retriever.store


class Bases(Protocol):
    """The knowledge bases that can be measured."""

    def here(self) -> Measured:
        """The open one. Raises NotIndexed."""
        ...

    def of_folder(self, root: Path) -> AbstractContextManager[Measured]:
        """One of a folder, ingested with the same settings, gone afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """What to evaluate on: a collection, or a golden file over ``root`` or over the open knowledge base."""

    collection: Path | None = None
    golden: Path | None = None
    root: Path | None = None
    queries_file: str = "queries.jsonl"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A knowledge base ready to be searched, and the queries for it."""

    base: Measured
    queries: QuerySet
    units: Units
    plain: bool
    """Whether queries are plain text, without quotes and filters that mean something."""
    ingest_s: float | None = None


@dataclass(frozen=True, slots=True)
class Laboratory:
    """Runs evaluations."""

    bases: Bases

    def run(
        self,
        task: Task,
        *,
        modes: Sequence[SearchMode],
        fusion: str | None = None,
        refusals: bool = True,
        progress: Progress = silent,
    ) -> Iterator[EvalReport]:
        """One report for each mode, over one ingest. ``progress`` hears of the queries.

        With ``refusals`` every query is asked too, where some are to be refused, which takes the longer part.
        """
        with self._prepared(task) as prepared:
            for mode in modes:
                evaluation = self._evaluation(prepared, fusion, refusals=refusals)
                report = evaluation.run(prepared.queries, mode=mode, progress=progress)
                if prepared.ingest_s is not None:
                    report = replace(report, seconds={"ingest": prepared.ingest_s, **report.seconds})
                yield report

    def tune(
        self, tasks: Sequence[Task], *, train_share: float = 0.5, progress: Progress = silent
    ) -> TuneReport:
        """Run the legs once for every judged query of every task, then try each policy on what they found."""
        cached: list[LegResults] = []
        grid: dict[str, GridPoint] = {}
        for task in tasks:
            with self._prepared(task) as prepared:
                grid = {CURRENT: GridPoint(prepared.base.searcher.retriever.fusion, {}), **policy_grid()}
                cached += _leg_results(prepared, _told(prepared.queries.judged, progress))
        return tune(cached, grid=grid, current=CURRENT, train_share=train_share)

    def legs(self, task: Task, *, strange: Sequence[str] = ()) -> list[LegResults]:
        """What the legs find for the queries of a task, and for others that it has no answer to."""
        others = [EvalQuery(f"strange {number}", text, {}) for number, text in enumerate(strange)]
        with self._prepared(task) as prepared:
            asked = replace(prepared.queries, queries=(*prepared.queries.judged, *others))
            return list(_leg_results(replace(prepared, queries=asked), asked.queries))

    def ask(
        self, files: Sequence[Path], *, root: Path | None = None, progress: Progress = silent
    ) -> AnswersReport:
        """Ask the questions of every file, each about its own folder, ``root``, or the knowledge base."""
        verdicts: list[AnswerVerdict] = []
        for file in files:
            questions = answers.read_questions(file)
            with self._asked(questions, root) as base:
                for asked in _told(questions.questions, progress):
                    answer = base.asker.ask(base.asker.request(asked.question))
                    verdicts.append(answers.verdict(asked, answer, folder=questions.folder))
        return answers.report(verdicts)

    def names(
        self, folder: Path | None, *, mode: SearchMode, notes: int, seed: int, progress: Progress = silent
    ) -> NamesReport:
        """Look for the notes of a folder, or of the knowledge base, by what they are called."""
        if folder is None:
            return _names(self.bases.here(), "knowledge base", mode, notes, seed, progress)
        with self.bases.of_folder(folder) as base:
            return _names(base, folder.absolute().name, mode, notes, seed, progress)

    def examples(self, files: Sequence[Path], *, root: Path | None = None) -> list[Example]:
        """What the answer room sees of every question, to fit its weights on."""
        found: list[Example] = []
        for file in files:
            questions = answers.read_questions(file)
            with self._asked(questions, root) as base:
                found += [_example(base, asked, questions.folder) for asked in questions.questions]
        return found

    @contextmanager
    def _asked(self, questions: answers.QuestionFile, root: Path | None) -> Iterator[Measured]:
        folder = root or (Path(questions.root) if questions.root else None)
        if folder is None:
            yield self.bases.here()
            return
        with self.bases.of_folder(folder) as base:
            yield base

    def _evaluation(self, prepared: Prepared, fusion: str | None, *, refusals: bool = True) -> Evaluation:
        base = prepared.base
        return Evaluation(
            subject=base.searcher.fused_by(fusion),
            store=base.documents,
            units=prepared.units,
            fusion=fusion or base.fusion,
            embedding_model=base.embedding_model,
            read=SearchQuery if prepared.plain else parse_query,
            refuses=base.asker.refuses if refusals else None,
        )

    @contextmanager
    def _prepared(self, task: Task) -> Iterator[Prepared]:
        if task.collection is not None:
            with self._collection(task.collection, task.queries_file) as prepared:
                yield prepared
            return
        assert task.golden is not None, "a task names a collection or a golden file"
        entries = golden.read(task.golden)
        if task.root is None:
            base = self.bases.here()
            yield Prepared(base, _resolved(entries, task.golden, base), Units(), plain=False)
            return
        started = time.perf_counter()
        with self.bases.of_folder(task.root) as base:
            taken = round(time.perf_counter() - started, 3)
            yield Prepared(base, _resolved(entries, task.golden, base), Units(), plain=False, ingest_s=taken)

    @contextmanager
    def _collection(self, folder: Path, queries_file: str) -> Iterator[Prepared]:
        collection = collections.read(folder, queries=queries_file)
        with scratch_folder(Path(gettempdir()), "eval") as root:
            keys = collections.write_documents(collection, root)
            started = time.perf_counter()
            with self.bases.of_folder(root) as base:
                taken = round(time.perf_counter() - started, 3)
                yield Prepared(base, collection.queries, Units(keys), plain=True, ingest_s=taken)


def _resolved(entries: tuple[golden.Entry, ...], file: Path, base: Measured) -> QuerySet:
    return golden.resolve(entries, name=file.stem, store=base.documents)


def _told(queries: Sequence[T], progress: Progress) -> Iterator[T]:
    return counted(queries, IngestPhase.MEASURE, total=len(queries), progress=progress)


def _names(
    base: Measured, name: str, mode: SearchMode, notes: int, seed: int, progress: Progress
) -> NamesReport:
    listed = base.documents.list_documents()
    asked = names.name_queries(listed, list(base.documents.stored_chunks()), notes=notes, seed=seed)

    def search(text: str) -> Sequence[SearchHit]:
        return base.searcher.search(text, mode=mode, k=names.PAGE, by_document=True).hits

    return names.measure(_told(asked, progress), search, name=name, documents=len(listed))


def _leg_results(prepared: Prepared, queries: Iterable[EvalQuery]) -> Iterator[LegResults]:
    base = prepared.base
    # Whatever is configured, the policies that are tried want a closer look.
    retriever = replace(base.searcher.retriever, fusion=Learned())
    for query in queries:
        asked = SearchQuery(query.text) if prepared.plain else parse_query(query.text)
        rankings, evidence = retriever.before_fusion(replace(asked, mode=SearchMode.HYBRID))
        ids = {ChunkId(item.id) for ranking in rankings.values() for item in ranking}
        stored = base.documents.hydrate(sorted(ids))
        units = {str(key): prepared.units.unit(item, query) for key, item in stored.items()}
        yield LegResults(prepared.queries.name, query, rankings, evidence, units)


def _example(base: Measured, asked: answers.AskedQuestion, folder: str) -> Example:
    ranked, gate = base.asker.look(asked.question)
    gold = re.compile(asked.gold) if asked.gold else None
    holds = [
        bool(gold and gold.search(one.passage.text) and (not asked.paths or one.chunk.path in asked.paths))
        for one in ranked
    ]
    return Example(folder, gold is not None, [one.features for one in ranked], holds, gate.features)
