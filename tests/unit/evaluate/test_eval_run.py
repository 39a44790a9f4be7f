"""Running queries: units, depth, faults, refusals, and the order of what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from kebab.domain.evaluations import EvalQuery, QuerySet
from kebab.domain.fusion import Ranked
from kebab.domain.hits import Degradation, Retrieval
from kebab.domain.ingests import IngestPhase, IngestProgress
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.evaluate.run import Evaluation, Units
from tests.fakes import FakeDocumentStore


@dataclass
class FakeSubject:
    """Answers each query with a prepared list of chunks."""

    answers: dict[str, list[str]]
    degraded: tuple[Degradation, ...] = ()
    index_version: str = "fake"
    depths: list[int] = field(default_factory=list)

    def search(self, query: SearchQuery) -> Retrieval:
        return Retrieval((), self.degraded)

    def rank(self, query: SearchQuery) -> list[Ranked]:
        self.depths.append(query.k)
        return [Ranked(chunk, 1.0) for chunk in self.answers.get(query.text, [])][: query.k]


def query(text: str, *targets: str, **more: object) -> EvalQuery:
    return EvalQuery(text, text, dict.fromkeys(targets, 1), **more)  # type: ignore[arg-type]


def run(subject: FakeSubject, store: FakeDocumentStore, *queries: EvalQuery, **more: object):  # type: ignore[no-untyped-def]
    evaluation = Evaluation(subject, store, **more)  # type: ignore[arg-type]
    return evaluation.run(QuerySet("small", queries), mode=SearchMode.HYBRID)


def test_the_best_chunk_of_a_document_counts_and_the_others_take_no_place(store: FakeDocumentStore) -> None:
    subject = FakeSubject({"bread": ["pasta.md:0", "pasta.md:1", "pasta.md:2", "bread.md:0"]})
    (score,) = run(subject, store, query("bread", "bread.md")).scores
    assert score.first_rank == 2
    assert score.found == ("pasta.md", "bread.md")
    assert score.metrics["MRR@10"] == pytest.approx(0.5)


def test_a_run_tells_how_many_of_its_queries_were_asked(store: FakeDocumentStore) -> None:
    heard: list[IngestProgress] = []
    evaluation = Evaluation(FakeSubject({}), store)
    queries = QuerySet("small", (query("bread", "bread.md"), query("basil", "pasta.md")))
    evaluation.run(queries, mode=SearchMode.HYBRID, progress=heard.append)
    told = [(event.phase, event.done, event.total) for event in heard]
    assert (told[0], told[-1]) == ((IngestPhase.MEASURE, 0, 2), (IngestPhase.MEASURE, 2, 2))


def test_a_section_is_met_by_its_own_chunk_and_not_by_a_neighbour(store: FakeDocumentStore) -> None:
    subject = FakeSubject({"basil": ["pasta.md:2", "pasta.md:1"]})
    (score,) = run(subject, store, query("basil", "pasta.md#Sauce")).scores
    assert score.found == ("pasta.md#Cheese", "pasta.md#Sauce")
    assert score.metrics["hit@1"] == 0
    assert score.metrics["hit@3"] == 1


def test_a_chapter_is_met_by_any_section_under_it(store: FakeDocumentStore) -> None:
    (score,) = run(FakeSubject({"q": ["pasta.md:2"]}), store, query("q", "pasta.md#Pasta")).scores
    assert score.metrics["hit@1"] == 1


def test_collection_ids_replace_paths(store: FakeDocumentStore) -> None:
    units = Units({"bread.md": "doc 7", "pasta.md": "doc 8", "김치.md": "doc 9"})
    (score,) = run(FakeSubject({"q": ["bread.md:0"]}), store, query("q", "doc 7"), units=units).scores
    assert score.found == ("doc 7",)
    assert score.metrics["nDCG@10"] == 1


def test_a_list_of_many_chunks_of_few_documents_is_asked_for_more(store: FakeDocumentStore) -> None:
    crowded = ["pasta.md:0"] * 300 + ["bread.md:0"]
    subject = FakeSubject({"q": crowded})
    (score,) = run(subject, store, query("q", "bread.md")).scores
    assert subject.depths == [200, 800]
    assert score.first_rank == 2


def test_missing_text_and_forbidden_targets_are_faults(store: FakeDocumentStore) -> None:
    subject = FakeSubject({"q": ["pasta.md:1", "bread.md:0"]})
    asked = query("q", "pasta.md", must_contain=("basil", "garlic"), forbidden=("bread.md", "김치.md"))
    (score,) = run(subject, store, asked).scores
    assert score.faults == ("missing: garlic", "forbidden: bread.md")


def test_refusals_are_scored_apart_from_search(store: FakeDocumentStore) -> None:
    queries = (
        query("bread", "bread.md"),
        query("sauce", "pasta.md"),
        query("taxes", refuse=True),
        query("weather", refuse=True),
    )
    subject = FakeSubject({"bread": ["bread.md:0"], "sauce": ["pasta.md:1"]})
    report = run(subject, store, *queries, refuses=lambda text, _: text in ("taxes", "sauce"))
    assert report.refusal is not None
    assert (report.refusal.precision, report.refusal.recall) == (0.5, 0.5)
    assert report.refusal.wrong == ("sauce", "weather")
    assert report.metrics["hit@1"] == 1
    assert len(report.scores) == 2


def test_groups_and_languages_have_their_own_means(store: FakeDocumentStore) -> None:
    queries = (
        query("a", "bread.md", group="typo", lang="en"),
        query("b", "김치.md", group="typo", lang="ko"),
    )
    report = run(FakeSubject({"a": ["bread.md:0"]}), store, *queries)
    assert report.groups["group:typo"]["hit@1"] == pytest.approx(0.5)
    assert report.groups["lang:en"]["hit@1"] == 1
    assert report.groups["lang:ko"]["hit@1"] == 0


def test_a_leg_that_could_not_run_is_told_once(store: FakeDocumentStore) -> None:
    subject = FakeSubject({}, degraded=(Degradation("vector", "model_unavailable", "no model"),))
    report = run(subject, store, query("a", "bread.md"), query("b", "bread.md"))
    assert report.degraded == ("vector: no model",)


def test_chunks_that_left_the_store_take_no_place(store: FakeDocumentStore) -> None:
    (score,) = run(FakeSubject({"q": ["gone:0", "bread.md:0"]}), store, query("q", "bread.md")).scores
    assert score.first_rank == 1
