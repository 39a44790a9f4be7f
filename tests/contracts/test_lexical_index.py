"""What every LexicalIndex promises."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kebab.adapters.fts5_lexical import Fts5LexicalIndex
from kebab.adapters.lance_lexical import LanceLexicalIndex
from kebab.adapters.tantivy_lexical import TantivyLexicalIndex
from kebab.domain.chunk_words import ChunkCutter
from kebab.domain.documents import Metadata
from kebab.domain.ids import DocId
from kebab.domain.names import letters, name_key
from kebab.ports import IndexShape, LexicalIndex, LexicalQuery
from tests.fakes import FakeAnalyzer, FakeLexicalIndex
from tests.samples import Sample, sample

Opener = Callable[[], LexicalIndex]
BUILDERS: dict[str, Callable[[Path], LexicalIndex]] = {
    "fake": lambda _: FakeLexicalIndex(),
    "tantivy": lambda folder: TantivyLexicalIndex(folder / "tantivy", FakeAnalyzer()),
    "fts5": lambda folder: Fts5LexicalIndex(folder / "fts5.sqlite", FakeAnalyzer()),
    "lance": lambda folder: LanceLexicalIndex(folder / "lance", FakeAnalyzer()),
}
PERSISTENT = ["tantivy", "fts5", "lance"]


@pytest.fixture(params=list(BUILDERS))
def index(request: pytest.FixtureRequest, tmp_path: Path) -> LexicalIndex:
    return BUILDERS[request.param](tmp_path)


@pytest.fixture(params=PERSISTENT)
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Opens the same files again, as another process would."""
    return lambda: BUILDERS[request.param](tmp_path)


def apply(
    index: LexicalIndex, *samples: Sample, removed: tuple[DocId, ...] = (), checkpoint: int = 1
) -> None:
    chunks = [stored for one in samples for stored in one.stored()]
    index.apply(removed=removed, chunks=chunks, checkpoint=checkpoint)


def found(index: LexicalIndex, *terms: str, **options: Any) -> list[str]:
    return [hit.id for hit in index.search(LexicalQuery(terms, **options), limit=10)]


def ids(one: Sample) -> list[str]:
    return [chunk.chunk_id for chunk in one.chunks]


def test_a_new_index_is_empty_and_answers(index: LexicalIndex) -> None:
    assert index.checkpoint() == 0
    assert index.count() == 0
    assert index.chunk_ids() == set()
    assert found(index, "word") == []
    assert index.document_frequencies(["word"]) == {"word": 0}


def test_chunks_that_hold_a_term_are_found_best_first(index: LexicalIndex) -> None:
    one = sample("a.md", "ownership rules the borrow checker", "ownership ownership ownership", "garden")
    apply(index, one, checkpoint=7)
    assert index.checkpoint() == 7
    assert found(index, "ownership") == [one.chunks[1].chunk_id, one.chunks[0].chunk_id]
    assert found(index, "borrow", "garden")[0] in (ids(one)[0], ids(one)[2])
    hits = index.search(LexicalQuery(("ownership", "borrow")), limit=10)
    assert all(hit.score > 0 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_term_that_counts_less_ranks_less_where_the_engine_can_weigh(index: LexicalIndex) -> None:
    one = sample("a.md", "ownership rules", "borrow rules", "garden")
    apply(index, one)
    terms = ("ownership", "borrow")
    first, second = (
        index.search(LexicalQuery(terms, weights={light: 0.25}), limit=10)
        for light in ("borrow", "ownership")
    )
    assert {hit.id for hit in first} == {hit.id for hit in second} == set(ids(one)[:2])
    if not isinstance(index, Fts5LexicalIndex):
        assert [hit.id for hit in first] == ids(one)[:2] == [hit.id for hit in reversed(second)]
        assert first[1].score == pytest.approx(first[0].score / 4)


def test_unknown_terms_find_nothing_and_do_not_hide_known_ones(index: LexicalIndex) -> None:
    one = sample("a.md", "alpha beta")
    apply(index, one)
    assert found(index, "zeta") == []
    assert found(index) == []
    assert found(index, "zeta", "alpha") == ids(one)


def test_title_and_headings_count_as_words(index: LexicalIndex) -> None:
    one = sample("a.md", "text", title="Borrowing", heading_path=("Borrowing", "Slices"))
    apply(index, one)
    assert found(index, "borrowing") == found(index, "slices") == ids(one)


def test_the_limit_holds(index: LexicalIndex) -> None:
    apply(index, sample("a.md", *[f"word {n}" for n in range(30)]))
    assert len(index.search(LexicalQuery(("word",)), limit=7)) == 7
    assert index.search(LexicalQuery(("word",)), limit=0) == []


def test_equal_scores_are_ordered_by_id_also_at_the_cut(index: LexicalIndex) -> None:
    samples = [sample(f"{n}.md", "same words here") for n in range(60)]
    for at in range(0, 60, 20):
        apply(index, *samples[at : at + 20])
    every = sorted(chunk for one in samples for chunk in ids(one))
    for limit in (1, 5, 20, 59):
        hits = index.search(LexicalQuery(("same",)), limit=limit)
        assert [hit.id for hit in hits] == every[:limit]


def test_the_first_of_a_larger_limit_are_the_same(index: LexicalIndex) -> None:
    apply(index, *[sample(f"{n}.md", "word " * (n % 7 + 1) + "filler " * (n % 3)) for n in range(40)])
    query = LexicalQuery(("word",))
    whole = index.search(query, limit=40)
    assert len(whole) == 40
    for limit in (1, 5, 17):
        assert index.search(query, limit=limit) == whole[:limit]


def test_applying_twice_is_applying_once(index: LexicalIndex) -> None:
    one = sample("a.md", "alpha", "beta")
    apply(index, one)
    apply(index, one)
    assert index.count() == 2
    assert found(index, "alpha") == ids(one)[:1]
    assert index.document_frequencies(["alpha", "beta"]) == {"alpha": 1, "beta": 1}


def test_a_change_of_nothing_changes_nothing(index: LexicalIndex) -> None:
    one = sample("a.md", "alpha beta")
    apply(index, one, checkpoint=4)
    apply(index, checkpoint=4)
    assert (index.checkpoint(), index.chunk_ids(), index.faults()) == (4, set(ids(one)), [])
    assert found(index, "alpha") == ids(one)


def test_a_replaced_document_leaves_no_old_text(index: LexicalIndex) -> None:
    old, new = sample("a.md", "obsolete statement", "kept"), sample("a.md", "fresh statement", "kept")
    apply(index, old)
    apply(index, new, removed=(old.doc_id,), checkpoint=2)
    assert found(index, "obsolete") == []
    assert found(index, "statement") == ids(new)[:1]
    assert index.chunk_ids() == set(ids(new))
    assert index.document_frequencies(["obsolete", "kept"]) == {"obsolete": 0, "kept": 1}


def test_a_document_with_fewer_chunks_loses_the_others(index: LexicalIndex) -> None:
    one = sample("a.md", "alpha", "beta")
    apply(index, one)
    index.apply(removed=(), chunks=one.stored()[:1], checkpoint=2)
    assert found(index, "beta") == []
    assert index.count() == 1


def test_a_removed_document_is_gone(index: LexicalIndex) -> None:
    one, other = sample("a.md", "alpha"), sample("b.md", "alpha")
    apply(index, one, other)
    apply(index, removed=(one.doc_id, DocId("0" * 32)), checkpoint=2)
    assert found(index, "alpha") == ids(other)
    assert index.checkpoint() == 2


def test_every_phrase_must_stand_there(index: LexicalIndex) -> None:
    one = sample("a.md", "new york city", "york new city", "the city of york")
    apply(index, one)
    assert found(index, "new", "york", phrases=(("new", "york"),)) == ids(one)[:1]
    assert sorted(found(index, "city", phrases=(("city",),))) == sorted(ids(one))
    assert found(index, "city", phrases=(("york",), ("new", "city"))) == ids(one)[1:2]
    assert found(index, phrases=(("of", "york"),)) == ids(one)[2:]
    assert found(index, "city", phrases=(("no", "such"),)) == []


def test_excluded_words_leave_chunks_out(index: LexicalIndex) -> None:
    one = sample("a.md", "python snake", "python language", "python snake language")
    apply(index, one)
    assert found(index, "python", excluded=(("snake",),)) == ids(one)[1:2]
    assert set(found(index, "python", excluded=(("snake", "language"),))) == set(ids(one)[:2])
    assert len(found(index, "python", excluded=(("unknown",), ()))) == 3
    assert found(index, excluded=(("snake",),)) == []


def test_a_filter_keeps_only_its_documents_and_their_scores(index: LexicalIndex) -> None:
    samples = [sample(f"{n}.md", f"word number{n}" + " filler" * n) for n in range(20)]
    apply(index, *samples)
    query = LexicalQuery(("word",))
    scores = {hit.id: hit.score for hit in index.search(query, limit=20)}
    allowed = frozenset(one.doc_id for one in samples[10:])
    hits = index.search(query, limit=5, docs=allowed)
    assert [hit.id for hit in hits] == [ids(one)[0] for one in samples[10:15]]
    assert all(hit.score == pytest.approx(scores[hit.id], rel=1e-5) for hit in hits)
    assert index.search(query, limit=5, docs=frozenset()) == []
    assert index.search(query, limit=5, docs=frozenset([DocId("nobody")])) == []


@pytest.mark.parametrize("share", [1, 40, 101, 150, 299])
def test_whatever_share_of_the_documents_a_filter_lets_through_it_finds_all_there_are(
    index: LexicalIndex, share: int
) -> None:
    samples = [
        sample(f"{n}.md", f"word {'rare' if n % 50 == 7 else 'usual'}" + " x" * (n % 13)) for n in range(300)
    ]
    apply(index, *samples)
    docs = frozenset(one.doc_id for one in samples[:share])
    allowed = {name for one in samples[:share] for name in ids(one)}
    for terms in (("word",), ("rare",), ("rare", "usual"), ("unknown",)):
        every = [hit for hit in index.search(LexicalQuery(terms), limit=300) if hit.id in allowed]
        for limit in (3, 20, 300, 3):
            hits = index.search(LexicalQuery(terms), limit=limit, docs=docs)
            assert [hit.id for hit in hits] == [hit.id for hit in every[:limit]]


def test_a_filter_of_thousands_of_documents_still_fills_the_limit(index: LexicalIndex) -> None:
    samples = [sample(f"{n}.md", "word" + " filler" * (n % 11)) for n in range(60)]
    apply(index, *samples)
    others = {DocId(f"{n:032x}") for n in range(1500)}
    few, half = samples[::20], samples[1::2]
    for allowed in (few, half):
        docs = frozenset(others | {one.doc_id for one in allowed})
        wanted = [
            hit for hit in index.search(LexicalQuery(("word",)), limit=60) if _owner(samples, hit.id) in docs
        ]
        assert len(wanted) == len(allowed)
        for limit in (2, 10, 60):
            assert index.search(LexicalQuery(("word",)), limit=limit, docs=docs) == wanted[:limit]


def _owner(samples: list[Sample], chunk_id: str) -> DocId:
    return next(one.doc_id for one in samples if chunk_id in ids(one))


def test_document_frequencies_count_chunks(index: LexicalIndex) -> None:
    apply(index, sample("a.md", "alpha alpha", "alpha beta"), sample("b.md", "gamma"))
    wanted = ["alpha", "beta", "delta", "\udcff", ""]
    assert index.document_frequencies(wanted) == {"alpha": 2, "beta": 1, "delta": 0, "\udcff": 0, "": 0}


def test_an_index_says_how_it_lies_on_disk(index: LexicalIndex) -> None:
    assert index.shape() == IndexShape()
    one, two = sample("a.md", "alpha"), sample("b.md", "beta")
    apply(index, one, two)
    whole = index.shape()
    assert whole.pieces >= 1
    assert whole.removed == 0
    assert whole.byte_len > 0
    apply(index, removed=(one.doc_id,), checkpoint=2)
    assert index.shape().removed <= 1
    index.clear()
    assert index.shape() == IndexShape()


def test_clearing_brings_back_an_empty_index_that_can_be_filled(index: LexicalIndex) -> None:
    one = sample("a.md", "alpha")
    apply(index, one, checkpoint=9)
    index.clear()
    assert (index.checkpoint(), index.count(), found(index, "alpha")) == (0, 0, [])
    index.clear()
    apply(index, one, checkpoint=3)
    assert (index.checkpoint(), found(index, "alpha")) == (3, ids(one))


def test_korean_terms_are_found(index: LexicalIndex) -> None:
    one = sample("메모.md", "소유권 규칙", "빌림 검사기")
    apply(index, one)
    assert found(index, "소유권") == ids(one)[:1]
    assert found(index, "빌림", phrases=(("빌림", "검사기"),)) == ids(one)[1:]


def test_it_names_engine_layout_and_analyzer(index: LexicalIndex) -> None:
    kind, engine, analyzer = index.version.split(":")
    assert (kind, analyzer) == ("lexical", "fake-words-v1")
    assert engine


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    terms=st.lists(st.text(min_size=1, max_size=12), max_size=4),
    phrase=st.lists(st.text(min_size=1, max_size=8), max_size=3),
    excluded=st.lists(st.text(min_size=1, max_size=8), max_size=2),
)
@pytest.mark.parametrize("name", list(BUILDERS))
def test_any_string_is_a_valid_term(
    tmp_path: Path, name: str, terms: list[str], phrase: list[str], excluded: list[str]
) -> None:
    index = BUILDERS[name](tmp_path)
    if not index.count():
        apply(index, sample("a.md", "alpha beta gamma"))
    query = LexicalQuery(tuple(terms), (tuple(phrase),), (tuple(excluded),))
    assert {hit.id for hit in index.search(query, limit=3)} <= index.chunk_ids()


@pytest.mark.parametrize(
    "weird", ['"', "c-3po", "a:b", "*", "NOT", "AND", "\0", "(", "\udcff", "'", "NEAR(a b)", "^x"]
)
def test_punctuation_is_data(index: LexicalIndex, weird: str) -> None:
    one = sample("a.md", "alpha beta")
    apply(index, one)
    assert found(index, weird) == []
    assert found(index, weird, "alpha") == ids(one)
    assert found(index, "alpha", excluded=((weird,),)) == ids(one)


def test_a_checkpoint_survives_reopening(opener: Opener) -> None:
    one = sample("a.md", "alpha")
    apply(opener(), one, checkpoint=12)
    again = opener()
    assert (again.checkpoint(), again.count(), found(again, "alpha")) == (12, 1, ids(one))


def test_an_open_reader_sees_the_next_commit(opener: Opener) -> None:
    reader, writer = opener(), opener()
    assert found(reader, "alpha") == []
    one, two = sample("a.md", "alpha"), sample("b.md", "alpha")
    apply(writer, one, checkpoint=1)
    assert found(reader, "alpha") == ids(one)
    apply(writer, two, removed=(one.doc_id,), checkpoint=2)
    assert (reader.checkpoint(), found(reader, "alpha")) == (2, ids(two))
    writer.clear()
    assert (reader.checkpoint(), found(reader, "alpha")) == (0, [])
    apply(writer, one, checkpoint=4)
    assert found(reader, "alpha") == ids(one)


WRITE = """
import sys
from pathlib import Path
from tests.contracts.test_lexical_index import BUILDERS, apply
from tests.samples import sample
apply(BUILDERS[sys.argv[1]](Path(sys.argv[2])), sample("a.md", "alpha"), checkpoint=5)
"""


@pytest.mark.parametrize("name", PERSISTENT)
def test_a_reader_sees_what_another_process_wrote(name: str, tmp_path: Path) -> None:
    reader = BUILDERS[name](tmp_path)
    apply(reader, sample("b.md", "beta"))
    assert found(reader, "alpha") == []
    subprocess.run([sys.executable, "-c", WRITE, name, str(tmp_path)], check=True, env=_environment())
    assert found(reader, "alpha") == ids(sample("a.md", "alpha"))
    assert reader.checkpoint() == 5


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


class OtherAnalyzer(FakeAnalyzer):
    version = "fake-words-v2"


OTHERS: dict[str, Callable[[Path], LexicalIndex]] = {
    "tantivy": lambda folder: TantivyLexicalIndex(folder / "tantivy", OtherAnalyzer()),
    "fts5": lambda folder: Fts5LexicalIndex(folder / "fts5.sqlite", OtherAnalyzer()),
    "lance": lambda folder: LanceLexicalIndex(folder / "lance", OtherAnalyzer()),
}


@pytest.mark.parametrize("name", PERSISTENT)
def test_an_index_made_by_another_analyzer_counts_as_empty(name: str, tmp_path: Path) -> None:
    apply(BUILDERS[name](tmp_path), sample("a.md", "alpha"), checkpoint=5)
    newer = OTHERS[name](tmp_path)
    assert (newer.checkpoint(), newer.count(), found(newer, "alpha")) == (0, 0, [])
    apply(newer, sample("b.md", "beta"), checkpoint=1)
    assert (newer.count(), found(newer, "alpha")) == (1, []), "nothing of the old index is left"


def test_a_note_is_found_by_each_of_its_names(index: LexicalIndex) -> None:
    note = sample(
        "lang/react-hooks.md", "text", "more", title="React Hooks", metadata=Metadata(aliases=("Hook API",))
    )
    apply(index, note, sample("b.md", "text", title="Other"))
    for name in ("react hooks", "ReactHooks", "react-hooks.md", "lang/react-hooks", "HOOK API"):
        assert index.named(name_key(name)) == [ids(note)[0]], name
    assert index.named(name_key("hooks")) == index.named("") == []


def test_notes_of_one_name_are_all_found_within_a_filter(index: LexicalIndex) -> None:
    notes = [sample(f"{folder}/todo.md", f"text {folder}") for folder in "abc"]
    apply(index, *notes)
    assert index.named("todo") == sorted(ids(note)[0] for note in notes)
    assert index.named("todo", docs=frozenset({notes[1].doc_id})) == ids(notes[1])
    assert index.named("todo", docs=frozenset()) == []


def test_a_name_goes_with_its_note(index: LexicalIndex) -> None:
    note = sample("diary.md", "text")
    apply(index, note)
    apply(index, removed=(note.doc_id,), checkpoint=2)
    assert index.named("diary") == []


def test_a_name_that_was_looked_for_in_vain_is_found_once_a_note_has_it(index: LexicalIndex) -> None:
    apply(index, sample("a.md", "text"))
    assert index.named("diary") == index.named("diary") == []
    note = sample("diary.md", "text of a day")
    apply(index, note, checkpoint=2)
    assert index.named("diary") == ids(note)


def test_words_of_the_name_and_of_what_is_said_of_a_note_are_found(index: LexicalIndex) -> None:
    about = Metadata(tags=("garden",), user={"summary": "how bread rises"})
    note = sample("kitchen/sourdough.md", "flour", "water", title="Levain", metadata=about)
    apply(index, note, sample("b.md", "unrelated"))
    assert set(found(index, "sourdough")) == set(ids(note))
    for word in ("kitchen", "garden", "bread"):
        assert found(index, word) == ids(note)[:1], word


def test_a_term_in_the_name_of_a_note_counts_more(index: LexicalIndex) -> None:
    called, mentioned = sample("oven.md", "oven heat", title="T"), sample("b.md", "oven heat", title="T")
    apply(index, called, mentioned)
    assert found(index, "oven") == [*ids(called), *ids(mentioned)]


def test_a_word_as_it_was_typed_is_better_than_its_stem(index: LexicalIndex) -> None:
    # Both bodies hold the same terms for the engine: only how they are written differs.
    plain, other = sample("a.md", "polars"), sample("b.md", "polarization")
    chunks = [*plain.stored(), *other.stored()]
    as_written = ChunkCutter(FakeAnalyzer().index_text)
    cut = {stored.chunk.chunk_id: as_written(stored)._replace(body="polar") for stored in chunks}
    index.apply(removed=(), chunks=chunks, checkpoint=1, cut=cut)
    assert found(index, "polar", words=("polarization",))[0] == ids(other)[0]
    assert found(index, "polar", words=("polars",))[0] == ids(plain)[0]
    assert found(index, "polar", required=("polarization",)) == ids(other)
    assert found(index, "polar", required=("polar",)) == []


def test_the_words_of_the_corpus_can_be_listed_by_their_beginning(index: LexicalIndex) -> None:
    apply(index, sample("a.md", "Garden gardens", "garden rake", title="T"))
    assert index.words_from("gard") == {"garden": 2, "gardens": 1}
    assert index.words_from("x") == {}
    assert index.words_from(letters("정")) == {}
    apply(index, sample("b.md", "정원을", title="T"), checkpoint=2)
    assert index.words_from(letters("정")) == {letters("정원을"): 1}
