"""What every DocumentStore promises."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kebab.adapters.sqlite.connection import Database
from kebab.adapters.sqlite.document_store import SqliteDocumentStore
from kebab.domain.documents import Media, Metadata, TrustLevel
from kebab.domain.ids import ChunkId, DocId
from kebab.domain.ingests import NO_TIME
from kebab.domain.places import Caption, Cells, CodeUnit, Page, Place, Region, Slide, Time
from kebab.domain.queries import SearchFilters
from kebab.ports import DocumentStore
from tests.fakes import FakeDocumentStore
from tests.samples import Sample, sample


class Clock:
    def __init__(self) -> None:
        self.now = "2024-05-01T12:00:00Z"

    def __call__(self) -> str:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["fake", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> DocumentStore:
    builders: dict[str, Callable[[], DocumentStore]] = {
        "fake": lambda: FakeDocumentStore(clock),
        "sqlite": lambda: SqliteDocumentStore(Database(tmp_path / "kb" / "kebab.sqlite"), clock=clock),
    }
    return builders[request.param]()


def put(store: DocumentStore, *samples: Sample) -> None:
    for one in samples:
        store.put(one.document, one.chunks, one.state)


def test_a_new_store_is_empty(store: DocumentStore) -> None:
    assert store.counts() == (0, 0)
    assert store.list_documents() == []
    assert store.file_states("default") == {}
    assert store.latest() == store.oldest()
    assert store.pending(store.latest()) is None
    assert store.behind(store.latest()) == 0


def test_an_error_among_writes_together_leaves_none_of_them(store: DocumentStore) -> None:
    kept, lost, late = sample("kept.md", "a"), sample("lost.md", "b"), sample("late.md", "c")
    put(store, kept)
    before = store.latest(), store.revision()

    def fail_halfway() -> None:
        with store.together():
            put(store, lost)
            store.remove([kept.doc_id])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_halfway()
    assert [found.path for found in store.list_documents()] == ["kept.md"]
    assert (store.latest(), store.revision()) == before
    with store.together():
        put(store, lost, late)
        store.remove([kept.doc_id])
    assert [found.path for found in store.list_documents()] == ["late.md", "lost.md"]


def test_what_was_put_comes_back_whole(store: DocumentStore) -> None:
    metadata = Metadata(tags=("한국어", "rust"), repo="kebab", code_lang="python", created_at="2024-01-01")
    one = sample("노트/소유권.md", "# 소유권\n규칙", "second", title="소유권", lang="ko", metadata=metadata)
    assert store.put(one.document, one.chunks, one.state) == one.stored()
    assert store.chunks_of(one.doc_id) == one.stored()
    assert list(store.stored_chunks()) == one.stored()
    assert store.source_text(one.doc_id) == one.document.text
    assert store.file_states("default") == {one.state.path: one.state}
    found = store.document(one.doc_id)
    assert found is not None
    assert (found.path, found.title, found.lang, found.tags) == (
        "노트/소유권.md",
        "소유권",
        "ko",
        metadata.tags,
    )
    assert (found.byte_len, found.chunk_count, found.chunker_version) == (one.state.size, 2, "test-v1")
    assert (found.media, found.trust_level) == ("markdown", TrustLevel.PRIMARY)
    assert (found.created_at, found.updated_at) == ("2024-01-01", None)
    assert found.indexed_at == "2024-05-01T12:00:00Z"


def test_an_unknown_document_is_none_and_has_no_chunks(store: DocumentStore) -> None:
    nobody = DocId("0" * 32)
    assert store.document(nobody) is None
    assert store.source_text(nobody) is None
    assert store.chunks_of(nobody) == []


def test_a_changed_file_replaces_its_old_document(store: DocumentStore) -> None:
    old, new = sample("a.md", "old text"), sample("a.md", "new text", "more")
    put(store, old)
    before = store.latest()
    put(store, new)
    assert store.counts() == (1, 2)
    assert store.chunk_ids() == {stored.chunk.chunk_id for stored in store.stored_chunks()}
    assert store.document(old.doc_id) is None
    assert store.doc_ids() == [new.doc_id]
    assert store.hydrate([old.chunks[0].chunk_id]) == {}
    change = store.pending(before)
    assert change is not None
    assert (change.changed, change.removed) == ((new.doc_id,), (old.doc_id,))


def test_putting_the_same_document_again_leaves_one_and_reports_it_changed(store: DocumentStore) -> None:
    one = sample("a.md", "text")
    put(store, one, one)
    assert store.counts() == (1, 1)
    change = store.pending(store.oldest())
    assert change is not None
    assert (change.changed, change.removed) == ((one.doc_id,), ())


def test_two_paths_may_share_one_asset(store: DocumentStore) -> None:
    here, there = sample("a.md", "same"), sample("b/a.md", "same")
    assert here.document.asset_id == there.document.asset_id
    put(store, here, there)
    store.remove([here.doc_id])
    assert store.source_text(there.doc_id) == "same"
    assert store.counts() == (1, 1)


def test_the_same_path_in_two_sources_is_two_documents(store: DocumentStore) -> None:
    put(store, sample("a.md", "text", source_id="one"), sample("a.md", "text", source_id="two"))
    assert [(d.source_id, d.path) for d in store.list_documents()] == [("one", "a.md"), ("two", "a.md")]
    assert set(store.file_states("one")) == {"a.md"}


def test_what_is_known_at_and_below_some_paths_is_told_without_the_rest(store: DocumentStore) -> None:
    paths = [
        "a",
        "a-b.md",
        "a.md",
        "a/b.md",
        "a/c/d.md",
        "a0.md",
        "ab/c.md",
        "b%.md",
        "b_/c.md",
        "노트/글.md",
    ]
    put(store, *(sample(path, path) for path in paths), sample("a/b.md", "other", source_id="other"))

    def below(*under: str) -> list[str]:
        return list(store.file_states("default", under))

    assert below("a") == ["a", "a/b.md", "a/c/d.md"]
    assert below("a/c", "a.md") == ["a.md", "a/c/d.md"]
    assert below("b%.md", "b_") == ["b%.md", "b_/c.md"]
    assert below("노트") == ["노트/글.md"]
    assert below("A", "a/c/d", "nothing") == []
    assert store.file_states("default", ["a/b.md"]) == {"a/b.md": sample("a/b.md", "a/b.md").state}


def test_what_is_known_of_many_paths_is_told_at_once(store: DocumentStore) -> None:
    here, there = sample("a.md", "text", source_id="one"), sample('노트/"b".md', "other", source_id="two")
    put(store, here, there, sample("c.md", "third", source_id="one"))
    asked = [("one", "a.md"), ("two", '노트/"b".md'), ("two", "a.md"), ("none", "a.md")]
    assert store.states_of(asked) == {asked[0]: here.state, asked[1]: there.state}
    assert store.states_of([]) == {}


def test_removal_takes_chunks_text_and_file_along(store: DocumentStore) -> None:
    one, other = sample("a.md", "one"), sample("b.md", "two")
    put(store, one, other)
    before, revision = store.latest(), store.revision()
    store.remove([one.doc_id, DocId("f" * 32)])
    assert store.counts() == (1, 1)
    assert store.source_text(one.doc_id) is None
    assert set(store.file_states("default")) == {"b.md"}
    assert store.revision() > revision
    change = store.pending(before)
    assert change is not None
    assert (change.changed, change.removed) == ((), (one.doc_id,))


def test_removing_nothing_changes_nothing(store: DocumentStore) -> None:
    put(store, sample("a.md", "one"))
    before = store.revision(), store.latest()
    store.remove([])
    store.remove([DocId("f" * 32)])
    assert (store.revision(), store.latest()) == before


def test_touch_records_times_and_is_no_change(store: DocumentStore) -> None:
    one = sample("a.md", "one")
    put(store, one)
    before = store.revision(), store.latest()
    newer = replace(one.state, mtime_ns=5, size=7)
    store.touch("default", [newer, replace(newer, path="unknown.md")])
    assert store.file_states("default") == {"a.md": newer}
    assert (store.revision(), store.latest()) == before


def test_languages_are_those_of_the_documents_and_unknown_ids_are_left_out(store: DocumentStore) -> None:
    english, korean = sample("a.md", "one", lang="en"), sample("b.md", "하나", lang="ko")
    put(store, english, korean)
    ids = [english.chunks[0].chunk_id, ChunkId("0" * 32), korean.chunks[0].chunk_id]
    assert store.languages(ids) == {ids[0]: "en", ids[2]: "ko"}
    assert store.languages([]) == {}


def test_hydrate_keeps_the_order_asked_for_and_leaves_unknown_ids_out(store: DocumentStore) -> None:
    one = sample("a.md", "zero", "one", "two")
    put(store, one)
    ids = [chunk.chunk_id for chunk in reversed(one.chunks)]
    found = store.hydrate([ids[0], ChunkId("0" * 32), *ids[1:]])
    assert list(found) == ids
    assert [stored.chunk.text for stored in found.values()] == ["two", "one", "zero"]
    assert store.hydrate([]) == {}


def test_documents_are_listed_by_source_and_path(store: DocumentStore) -> None:
    put(
        store,
        sample("b.md", "x", source_id="z"),
        sample("c.md", "x", source_id="a"),
        sample("b.md", "y", source_id="a"),
    )
    assert [(d.source_id, d.path) for d in store.list_documents()] == [
        ("a", "b.md"),
        ("a", "c.md"),
        ("z", "b.md"),
    ]


def test_a_document_is_found_by_id_prefix_and_by_end_of_path(store: DocumentStore) -> None:
    one, two = sample("notes/deep/a.md", "one"), sample("notes/ba.md", "two")
    put(store, one, two)
    assert [d.doc_id for d in store.find_documents(one.doc_id)] == [one.doc_id]
    assert [d.doc_id for d in store.find_documents(one.doc_id[:12])] == [one.doc_id]
    assert [d.path for d in store.find_documents("a.md")] == ["notes/deep/a.md"]
    assert [d.path for d in store.find_documents("deep/a.md")] == ["notes/deep/a.md"]
    assert store.find_documents("") == []
    assert store.find_documents("%") == []


def test_chunks_are_found_by_the_beginning_of_their_id(store: DocumentStore) -> None:
    put(store, sample("a.md", "one"), sample("b.md", "two"))
    for chunk_id in store.chunk_ids():
        assert store.find_chunks(chunk_id) == store.find_chunks(chunk_id[:12]) == [chunk_id]
    assert store.find_chunks("") == store.find_chunks("%") == store.find_chunks("\udcff") == []


def test_an_exact_path_wins_over_ends_of_others(store: DocumentStore) -> None:
    put(store, sample("a.md", "one"), sample("b/a.md", "two"))
    assert [d.path for d in store.find_documents("a.md")] == ["a.md"]


@pytest.fixture
def varied(store: DocumentStore, clock: Clock) -> DocumentStore:
    put(
        store,
        sample("notes/rust.md", "1", lang="en", metadata=Metadata(tags=("rust", "lang"))),
        sample(
            "notes/deep/메모.md", "2", lang="ko", metadata=Metadata(tags=("memo", "메모"), source_type="chat")
        ),
        sample("log.txt", "3", media=Media.TEXT, metadata=Metadata(trust_level=TrustLevel.GENERATED)),
    )
    clock.now = "2024-06-01T00:00:00Z"
    code = Metadata(trust_level=TrustLevel.SECONDARY, repo="shop/kebab", code_lang="python")
    unit = "배.Ship.speed"
    put(store, sample("src/x.py", "4", source_id="code", lang="und", metadata=code, symbol=unit))
    return store


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (SearchFilters(tag=("rust", "memo")), {"notes/rust.md", "notes/deep/메모.md"}),
        (SearchFilters(tag=("none",)), set()),
        (SearchFilters(tag=(unicodedata.normalize("NFD", "메모"),)), {"notes/deep/메모.md"}),
        (SearchFilters(lang=("ko",)), {"notes/deep/메모.md"}),
        (SearchFilters(path=("notes/*",)), {"notes/rust.md"}),
        (SearchFilters(path=("notes/**",)), {"notes/rust.md", "notes/deep/메모.md"}),
        (SearchFilters(path=("**/*.md", "*.txt")), {"notes/rust.md", "notes/deep/메모.md", "log.txt"}),
        (SearchFilters(path=("NOTES/**",)), set()),
        (SearchFilters(media=("text",)), {"log.txt"}),
        (SearchFilters(source=("code",)), {"src/x.py"}),
        (SearchFilters(source_type=("chat",)), {"notes/deep/메모.md"}),
        (SearchFilters(trust_min=TrustLevel.SECONDARY), {"notes/rust.md", "notes/deep/메모.md", "src/x.py"}),
        (SearchFilters(trust_min=TrustLevel.GENERATED, lang=("und",)), {"src/x.py"}),
        (SearchFilters(repo=("kebab",)), {"src/x.py"}),
        (SearchFilters(repo=("Shop/Kebab", "other")), {"src/x.py"}),
        (SearchFilters(repo=("bab", "shop", "%", "")), set()),
        (SearchFilters(code_lang=("python", "rust")), {"src/x.py"}),
        (SearchFilters(code_lang=("PY",)), {"src/x.py"}),
        (SearchFilters(symbol=("speed",)), {"src/x.py"}),
        (SearchFilters(symbol=(unicodedata.normalize("NFD", "배.ship.*"), "x")), {"src/x.py"}),
        (SearchFilters(symbol=("Ship",)), set()),
        (SearchFilters(symbol=("speed",), lang=("ko",)), set()),
        (SearchFilters(ingested_after="2024-05-15"), {"src/x.py"}),
        (SearchFilters(tag=("rust",), lang=("ko",)), set()),
        (SearchFilters(path=("[",), tag=("\udcff", "'; DROP TABLE documents")), set()),
    ],
)
def test_filters_are_and_across_fields_and_or_inside(
    varied: DocumentStore, filters: SearchFilters, expected: set[str]
) -> None:
    allowed = varied.matching(filters)
    assert allowed is not None
    by_id = {d.doc_id: d.path for d in varied.list_documents()}
    assert {by_id[doc_id] for doc_id in allowed} == expected
    assert {d.path for d in varied.list_documents(filters)} == expected


def test_a_filter_by_document_id_keeps_that_document(varied: DocumentStore) -> None:
    first = varied.list_documents()[0].doc_id
    assert varied.matching(SearchFilters(doc_id=(first, DocId("nobody")))) == frozenset({first})
    assert varied.matching(SearchFilters(doc_id=(DocId(first[:12]),))) == frozenset({first})
    assert varied.matching(SearchFilters(doc_id=(DocId(""), DocId("%")))) == frozenset()


def test_the_chunks_of_a_symbol_are_found_by_its_end(varied: DocumentStore) -> None:
    (doc,) = varied.list_documents(SearchFilters(source=("code",)))
    (stored,) = varied.chunks_of(doc.doc_id)
    assert stored.chunk.place == CodeUnit("배.Ship.speed")
    assert varied.defining(["ship.speed", "none"]) == frozenset({stored.chunk.chunk_id})
    assert varied.defining(["none"]) == frozenset()
    assert varied.defining([]) is None


def test_an_empty_filter_is_none(store: DocumentStore) -> None:
    assert store.matching(SearchFilters()) is None


def test_the_outbox_is_read_in_pages_each_document_once(store: DocumentStore) -> None:
    samples = [sample(f"{n}.md", f"text {n}") for n in range(5)]
    put(store, *samples, samples[0])
    position = store.oldest()
    seen: list[DocId] = []
    while change := store.pending(position, limit=2):
        assert change.upto > position
        assert len(change.changed) + len(change.removed) <= 2
        seen.extend(change.changed)
        position = change.upto
    assert set(seen) == {one.doc_id for one in samples}
    assert position == store.latest()


def test_a_removed_document_is_removed_even_where_an_earlier_page_says_changed(store: DocumentStore) -> None:
    one = sample("a.md", "text")
    put(store, one)
    store.remove([one.doc_id])
    first = store.pending(store.oldest(), limit=1)
    assert first is not None
    assert (first.changed, first.removed) == ((), (one.doc_id,))


def test_a_document_that_came_back_is_changed(store: DocumentStore) -> None:
    one, two = sample("a.md", "text"), sample("a.md", "edited")
    put(store, one, two, one)
    change = store.pending(store.oldest())
    assert change is not None
    assert (change.changed, change.removed) == ((one.doc_id,), (two.doc_id,))


def test_documents_are_counted_by_source(store: DocumentStore) -> None:
    assert store.source_counts() == {}
    put(store, sample("a.md", "text", source_id="work"), sample("a.md", "text", source_id="home"))
    put(store, sample("b.md", "text", source_id="work"))
    assert list(store.source_counts().items()) == [("home", 1), ("work", 2)]


def test_behind_counts_the_documents_an_index_lacks(store: DocumentStore) -> None:
    start = store.latest()
    put(store, *[sample(f"{n}.md", f"text {n}") for n in range(3)])
    put(store, sample("0.md", "text 0"))
    assert store.behind(start) == 3
    assert store.behind(store.latest()) == 0


def test_a_pruned_outbox_says_where_it_begins(store: DocumentStore) -> None:
    put(store, *[sample(f"{n}.md", f"text {n}") for n in range(3)])
    before = store.oldest()
    middle = store.pending(before, limit=2)
    assert middle is not None
    store.prune_outbox(middle.upto)
    assert store.oldest() == middle.upto
    rest = store.pending(middle.upto)
    assert rest is not None
    assert len(rest.changed) == 1
    assert store.behind(before) == 3, "an index from before the cut is built anew"
    store.prune_outbox(before)
    assert store.oldest() == middle.upto, "pruning never goes back"
    store.prune_outbox(store.latest() + 1000)
    assert store.oldest() == store.latest()
    position = store.latest()
    put(store, sample("9.md", "later"))
    assert store.latest() > position, "positions are never used twice"


def test_a_document_without_chunks_is_stored(store: DocumentStore) -> None:
    empty = sample("empty.md")
    put(store, empty)
    assert store.counts() == (1, 0)
    assert store.source_text(empty.doc_id) == ""
    assert list(store.stored_chunks([empty.doc_id])) == []


def test_chunks_of_many_documents_come_document_by_document(store: DocumentStore) -> None:
    samples = [sample(f"{n:04}.md", "a", "b") for n in range(900)]
    put(store, *samples)
    assert [s.chunk.doc_id for s in store.stored_chunks()] == [one.doc_id for one in samples for _ in "ab"]
    wanted = [samples[7].doc_id, samples[3].doc_id]
    assert {s.chunk.doc_id for s in store.stored_chunks(wanted)} == set(wanted)
    assert list(store.stored_chunks([])) == []


def test_times_of_other_sources_are_forgotten_and_nothing_else_is(store: DocumentStore) -> None:
    moved, own = sample("a.md", "a"), sample("b.md", "b", source_id="inbox")
    put(store, moved, own)
    store.forget_times(except_source="inbox")
    assert store.file_states("default") == {"a.md": replace(moved.state, mtime_ns=NO_TIME)}
    assert store.file_states("inbox") == {"b.md": own.state}


@pytest.mark.parametrize(
    "place",
    [
        None,
        Page(3),
        Region(1, 2, 3, 4, page=5),
        Slide(6),
        Cells("예산 #1", 2, 3, 30, 4000),
        Time(62_000, 75_500),
        Caption(),
        CodeUnit("Reader.read"),
    ],
)
def test_a_chunk_keeps_its_place(store: DocumentStore, place: Place | None) -> None:
    one = sample("a.md", "some text")
    chunks = tuple(replace(chunk, place=place) for chunk in one.chunks)
    (stored,) = store.put(one.document, chunks, one.state)
    assert stored.chunk.place == place
    assert [found.chunk.place for found in store.chunks_of(one.doc_id)] == [place]


def test_the_same_filter_gives_the_same_set_until_the_documents_change(store: DocumentStore) -> None:
    korean = SearchFilters(lang=("ko",))
    put(store, sample("a.md", "one", lang="ko"), sample("b.md", "two", lang="en"))
    first = store.matching(korean)
    assert first == frozenset({sample("a.md", "one", lang="ko").doc_id})
    assert store.matching(SearchFilters(lang=("ko",))) == first
    put(store, sample("c.md", "three", lang="ko"))
    assert len(store.matching(korean) or ()) == 2
    store.remove([sample("a.md", "one", lang="ko").doc_id])
    assert store.matching(korean) == frozenset({sample("c.md", "three", lang="ko").doc_id})
    for number in range(200):  # more filters than are remembered
        assert store.matching(SearchFilters(path=(f"{number}.md",))) == frozenset()
    assert len(store.matching(korean) or ()) == 1


def test_the_state_changes_with_every_change_and_with_nothing_else(store: DocumentStore) -> None:
    one, other = sample("a.md", "a"), sample("a.md", "b")
    states = [store.state()]
    put(store, one)
    states.append(store.state())
    put(store, other)
    states.append(store.state())
    store.remove([other.document.doc_id])
    states.append(store.state())
    assert len(set(states)) == len(states)
    store.touch("default", [one.state])
    store.prune_outbox(store.latest())
    store.list_documents()
    assert store.state() == states[-1]


def test_counting_what_is_behind_ends_where_it_is_told_to(store: DocumentStore) -> None:
    begin = store.latest()
    put(store, *(sample(f"{number}.md", "text") for number in range(5)))
    assert [store.behind(begin, at_most=most) for most in (None, 3, 5, 9)] == [5, 3, 5, 5]
    store.prune_outbox(store.latest())
    assert [store.behind(begin, at_most=most) for most in (None, 3, 5, 9)] == [5, 3, 5, 5]
    assert store.behind(store.latest(), at_most=3) == 0


def test_chunks_tell_whose_they_are_and_which_hold_the_same_text(store: DocumentStore) -> None:
    one, same, other = sample("a.md", "x", "y"), sample("b.md", "x", "y"), sample("c.md", "z")
    put(store, one, same, other)
    ids = [chunk.chunk_id for each in (one, same, other) for chunk in each.chunks]
    owners = store.owners([*ids, ChunkId("gone")])
    assert list(map(owners.__contains__, ids)) == [True] * 5
    assert ChunkId("gone") not in owners
    assert (owners[ids[0]].doc_id, owners[ids[0]].path) == (one.doc_id, "a.md")
    assert owners[ids[0]].text_key == owners[ids[2]].text_key != owners[ids[1]].text_key
    assert owners[ids[0]].content_key == owners[ids[2]].content_key != owners[ids[4]].content_key


def _matching(store: DocumentStore, **filters: object) -> set[str]:
    wanted = SearchFilters(**filters)  # type: ignore[arg-type]
    found = store.matching(wanted)
    assert found is not None
    listed = {summary.doc_id for summary in store.list_documents(wanted)}
    assert listed == found
    paths = {summary.doc_id: summary.path for summary in store.list_documents()}
    return {paths[doc_id] for doc_id in found}


def test_a_tag_is_met_whatever_its_case_and_by_the_tags_below_it(store: DocumentStore) -> None:
    for path, tag in (
        ("a.md", "Project/Active"),
        ("b.md", "project"),
        ("c.md", "projector"),
        ("d.md", "독서"),
    ):
        put(store, sample(path, path, metadata=Metadata(tags=(tag,))))
    assert _matching(store, tag=("PROJECT",)) == _matching(store, tag=("#project/",)) == {"a.md", "b.md"}
    assert _matching(store, tag=("project/active",)) == {"a.md"}
    assert _matching(store, tag=("독서", "projector")) == {"c.md", "d.md"}
    assert _matching(store, tag=("",)) == set()


def test_english_stands_for_what_no_language_could_be_told_of(store: DocumentStore) -> None:
    for lang in ("en", "ko", "und"):
        put(store, sample(f"{lang}.md", lang, lang=lang))
    assert _matching(store, lang=("EN",)) == {"en.md", "und.md"}
    assert _matching(store, lang=("Ko",)) == {"ko.md"}


def test_a_path_without_wildcards_names_a_folder_or_a_file(store: DocumentStore) -> None:
    for path in ("notes/a.md", "notes/deep/b.md", "notes2/c.md"):
        put(store, sample(path, path))
    assert (
        _matching(store, path=("notes",))
        == _matching(store, path=("notes/",))
        == {
            "notes/a.md",
            "notes/deep/b.md",
        }
    )
    assert _matching(store, path=("notes/a.md",)) == {"notes/a.md"}


def test_titles_and_file_names_are_met_by_a_part_of_them(store: DocumentStore) -> None:
    put(store, sample("x/Go-Tour.md", "a", title="A Tour of Go"), sample("go/b.md", "b", title="Other"))
    assert _matching(store, title=("tour OF",)) == {"x/Go-Tour.md"}
    assert _matching(store, file=("go",)) == _matching(store, file=("GO-*.md",)) == {"x/Go-Tour.md"}


def test_the_date_of_a_note_is_in_its_name_or_when_it_was_created_or_changed(store: DocumentStore) -> None:
    put(
        store,
        sample("2021-03-04 walk.md", "a", metadata=Metadata(created_at="2024-01-01")),
        sample("b.md", "b", metadata=Metadata(created_at="2022-05-06", updated_at="2024-01-01")),
        sample("c.md", "c", metadata=Metadata(updated_at="2023-07-08T09:00:00Z")),
        sample("d.md", "d"),
    )
    assert _matching(store, dated_from="2022-05-06") == {"b.md", "c.md"}
    assert _matching(store, dated_before="2022-05-06") == {"2021-03-04 walk.md"}
    assert _matching(store, dated_from="2022-05-06", dated_before="2022-05-07") == {"b.md"}


def test_sketches_are_kept_by_text_and_change_no_document(store: DocumentStore) -> None:
    one, same, other = sample("a.md", "x"), sample("b.md", "x"), sample("c.md", "z")
    put(store, one, same, other)
    before = store.state()
    assert set(store.unsketched(limit=9)) == {each.document.doc_id for each in (one, same, other)}
    assert len(store.unsketched(limit=2)) == 2
    store.put_sketches({one.document.doc_id: b"abcd", other.document.doc_id: b""})
    assert store.unsketched(limit=9) == []
    assert store.state() == before
    ids = [each.chunks[0].chunk_id for each in (one, same, other)]
    assert [store.owners(ids)[chunk].sketch for chunk in ids] == [b"abcd", b"abcd", b""]


def test_a_sketch_comes_with_its_document_and_goes_with_the_last_one_of_its_text(
    store: DocumentStore,
) -> None:
    one, same = sample("a.md", "x"), sample("b.md", "x")
    store.put(replace(one.document, sketch=b"abcd"), one.chunks, one.state)
    store.put(replace(same.document, sketch=b"abcd"), same.chunks, same.state)
    store.remove([one.document.doc_id])
    kept = same.chunks[0].chunk_id
    assert store.owners([kept])[kept].sketch == b"abcd"
    store.remove([same.document.doc_id])
    put(store, sample("a.md", "x"))
    assert len(store.unsketched(limit=9)) == 1
