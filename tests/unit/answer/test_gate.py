"""When the evidence is enough, and why a fused rank cannot tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.answer.background import Background
from kebab.answer.gate import Gate, above_background
from kebab.answer.kinds import wanted
from kebab.answer.question import read_question
from kebab.domain.answers import GATE_FEATURES, GateFeatures, GateReport, RefusalReason
from kebab.domain.chunks import StoredChunk
from kebab.domain.fusion import Ranked, rrf
from kebab.domain.hits import Retrieval
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.errors import Corrupt
from tests.fakes import FakeEmbedder, FakeLexicalIndex, FakeVectorIndex
from tests.unit.answer.world import ANALYZER, WEIGHTS, World, notes

TRAIN = "When does the night train to Vienna leave?"
SEEDS_GATE = 0.30
"""``score_gate`` of the original system, held against the normalised fusion score of the top hit."""


def judge(question: str, *, mode: SearchMode = SearchMode.HYBRID) -> GateReport:
    world = notes(embedder=FakeEmbedder(64))
    found = world.retriever().search(SearchQuery(question, mode=mode))
    stored = world.store.hydrate([hit.chunk_id for hit in found.hits])
    chunks = [stored[hit.chunk_id] for hit in found.hits]
    return judged(world, question, found, chunks)


def judged(
    world: World, question: str, found: Retrieval, chunks: list[StoredChunk], gate: Gate | None = None
) -> GateReport:
    gate = gate or world.gate()
    read = read_question(question, ANALYZER)
    ranked = world.ranker().rank(read, gate.weigh(read), found, chunks)
    return gate.judge(read, found, chunks, ranked)


@pytest.mark.parametrize("scores", [(0.01, 0.005), (12.0, 0.9)])
def test_the_rank_based_gate_of_the_seeds_can_never_refuse(scores: tuple[float, float]) -> None:
    """The seeds compare the normalised RRF score of the top hit with 0.30. Ranks forget the scores they came
    from: whoever is first in either list has (1/61) / (2/61) = 0.5, however little it has to do with the
    question. So the gate passes whenever anything at all is found, which is why ours looks at the evidence.
    """
    lexical, vector = scores
    apart = rrf({"lexical": [Ranked("a", lexical)], "vector": [Ranked("b", vector)]})
    together = rrf({"lexical": [Ranked("a", lexical)], "vector": [Ranked("a", vector)]})
    assert apart[0].score == 0.5 > SEEDS_GATE
    assert together[0].score == 1.0 > SEEDS_GATE


def test_where_the_seeds_would_answer_about_cooking_from_a_lease_ours_refuses() -> None:
    world = notes(embedder=FakeEmbedder(64))
    found = world.retriever().search(SearchQuery("Which year did the French Revolution begin?"))
    assert found.hits[0].score >= 0.5 > SEEDS_GATE
    assert not judge("Which year did the French Revolution begin?").passed


@pytest.mark.parametrize(
    "question",
    [
        "When does the night train to Vienna leave?",
        "How long does sourdough rise?",
        "전세 계약 갱신은 언제까지 알려야 하나요?",
    ],
)
def test_a_question_the_notes_answer_passes(question: str) -> None:
    assert judge(question).passed


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of Mongolia?",
        "How do I squash commits with git rebase?",
        "김치찌개는 어떻게 끓이나요?",
        "Who painted the Sistine Chapel?",
    ],
)
def test_a_question_about_something_else_is_refused(question: str) -> None:
    report = judge(question)
    assert not report.passed
    assert report.missing


def test_nothing_found_is_never_enough() -> None:
    world = notes()
    empty = world.retriever().search(SearchQuery("zyzzyva"))
    report = world.gate().judge(read_question("zyzzyva", ANALYZER), empty, [], [])
    assert (report.passed, report.confidence, report.features) == (False, 0.0, None)


def test_a_tiny_corpus_does_not_make_the_gate_refuse() -> None:
    """The original's lexical gate refused there: BM25 itself is near 0 when every chunk holds the word."""
    assert judge("When does the night train to Vienna leave?", mode=SearchMode.LEXICAL).passed


def test_a_leg_that_took_no_part_speaks_neither_for_nor_against() -> None:
    lexical = judge("When does the night train to Vienna leave?", mode=SearchMode.LEXICAL)
    vector = judge("When does the night train to Vienna leave?", mode=SearchMode.VECTOR)
    assert lexical.features is not None
    assert lexical.features.semantic is None
    assert vector.features is not None
    assert vector.features.lexical is None
    assert lexical.passed
    assert vector.passed


def test_the_background_of_a_model_is_taken_off_its_cosines() -> None:
    assert above_background(0.86, 0.85) == pytest.approx(0.0667, abs=1e-3)
    assert above_background(0.5, 0.2) == pytest.approx(0.375)
    assert above_background(0.1, 0.2) == 0.0


def test_evidence_in_another_language_needs_less_of_everything() -> None:
    """It cannot share the question's words, only their meaning."""
    weak = GateFeatures(coverage=0.6, specific=0.5, closeness=0.5, lexical=0.0, semantic=0.3)
    assert WEIGHTS.probability(replace(weak, foreign=1.0)) > WEIGHTS.probability(weak)


unit = st.floats(0, 1)


@given(st.tuples(*[unit] * len(GATE_FEATURES)), st.sampled_from(GATE_FEATURES))
def test_more_evidence_never_lowers_the_confidence(values: tuple[float, ...], name: str) -> None:
    features = GateFeatures(*values)
    more = replace(features, **{name: 1.0})
    assert WEIGHTS.probability(more) >= WEIGHTS.probability(features)


def test_a_few_words_are_refused_only_when_it_is_surer() -> None:
    gate = notes().gate()
    words, question = (read_question(text, ANALYZER) for text in ("night train Vienna", TRAIN))
    assert gate.threshold_for(words) < gate.threshold_for(question) == gate.threshold
    assert gate.threshold_for(read_question("비엔나 야간열차 출발 시각", ANALYZER)) < gate.threshold


def test_the_background_is_measured_once_until_the_index_changes() -> None:
    world = notes(embedder=FakeEmbedder(64))
    assert world.embedder is not None
    assert world.vectors is not None
    background = Background(world.embedder, world.vectors)
    asked = len(world.embedder.calls)
    first = background.cosine()
    assert first is not None
    assert background.cosine() == first
    assert len(world.embedder.calls) == asked + 1
    world.add("new.md", "Rice needs twelve minutes to boil.")
    background.cosine()
    assert len(world.embedder.calls) == asked + 3


def test_an_empty_index_has_no_background() -> None:
    embedder = FakeEmbedder(64)
    assert Background(embedder, FakeVectorIndex(embedder.key)).cosine() is None


class BrokenLexicalIndex(FakeLexicalIndex):
    def count(self) -> int:
        raise Corrupt("the words index is damaged")


def test_a_damaged_words_index_does_not_keep_the_gate_from_judging() -> None:
    world = notes(embedder=FakeEmbedder(64))
    found = world.retriever().search(SearchQuery(TRAIN, mode=SearchMode.VECTOR))
    stored = world.store.hydrate([hit.chunk_id for hit in found.hits])
    gate = replace(world.gate(), lexical=BrokenLexicalIndex())
    report = judged(world, TRAIN, found, [stored[hit.chunk_id] for hit in found.hits], gate)
    assert report.passed


PRIVATE = [
    "What is my phone number?",
    "phone number",
    "내 여권 번호는?",
    "주민등록번호",
    "my social security number",
    "What is the wifi password?",
    "담당자 이메일 주소는?",
]


@pytest.mark.parametrize("question", PRIVATE)
def test_no_sentence_about_a_private_thing_answers_for_it(question: str) -> None:
    world = World()
    world.add("phones.md", "A phone number, a passport number and a social security number belong together.")
    world.add("wifi.md", "The wifi password is changed every year.")
    world.add("번호.md", "전화번호, 여권 번호, 주민등록번호, 담당자 이메일 주소는 함께 적어 둔다.", lang="ko")
    assert world.ask(question).refusal is RefusalReason.WEAK_EVIDENCE


@pytest.mark.parametrize("question", ["내 여권 번호는?", "What is my passport number?", "여권 전화번호는?"])
def test_a_date_is_no_number_of_a_passport_or_phone(question: str) -> None:
    world = World()
    world.add("packing.md", "passport (여권 전화번호, 만료일 2031-11-02), number and one photo")
    assert world.ask(question).refusal is RefusalReason.WEAK_EVIDENCE


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("What is the phone number of the dentist?", "The dentist has the phone number 02-555-0134."),
        ("여권 번호는?", "여권 번호: M12345678"),
        ("전화번호는?", "전화번호: 2031-1102 (2026-02-01 확인)"),
        ("What is the wifi password?", "The wifi password is hunter2-guest."),
    ],
)
def test_a_private_thing_that_a_note_gives_is_told(question: str, note: str) -> None:
    world = World()
    world.add("private.md", note)
    assert world.ask(question).grounded


@pytest.mark.parametrize(
    "question", ["How do I change my phone number?", "What is the password length?", "비밀번호를 바꾸려면?"]
)
def test_a_question_about_a_private_thing_may_be_answered_without_it(question: str) -> None:
    assert wanted(question) is None


def test_how_many_is_not_answered_without_a_number() -> None:
    world = World()
    world.add("staff.md", "For each company, all employees of the company who have contributed are listed.")
    assert not world.ask("How many employees does the company have?").grounded
    world.add("size.md", "The company has 52 employees.")
    assert world.ask("How many employees does the company have?").grounded


def test_when_something_happened_is_not_answered_without_a_date() -> None:
    world = World()
    world.add("release.md", "The first release was published after a long discussion.")
    assert not world.ask("When was the first release published?").grounded


def test_keywords_with_a_name_that_stands_nowhere_need_as_much_as_a_question() -> None:
    gate = notes().gate()
    asked = read_question("VS Code 라인 삭제 단축키", ANALYZER)
    assert gate.threshold_for(asked, named=True) < gate.threshold_for(asked, named=False) == gate.threshold
