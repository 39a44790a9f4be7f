"""A published knowledge base, read elsewhere: the same answers, whole releases, and what may go wrong."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from kebab import Kebab, wire
from kebab.adapters.lance_published.publication import LancePublication
from kebab.assembly.publications import build_publisher, build_replica, settings_on
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.domain.walls import Walls
from kebab.errors import EngineUnavailable, InvalidInput, NotIndexed, OutsideWalls, ReadOnly
from kebab.upkeep.cache import ReplicaCache
from tests.object_store import BUCKET, NEEDED, environment, in_environment, running_store, weed
from tests.publication_fakes import FakePublication

VAULT = Path(__file__).parents[2] / "examples" / "vault"
ENGLISH = (
    "ownership rules", "how do I back up my notes", "sourdough starter", "borrow checker", "meeting",
    '"the" notes', "note -draft", "gard*", "what is a monad", "spaced repetition", "travel plan", "python",
)  # fmt: skip
KOREAN = (
    "소유권 규칙", "김치 담그는 법", "회의록", "여행 준비물", "한국어 형태소", "프로젝트 일정", "빌림 검사기",
    "책 읽기", "운동", "커피 내리는 방법", "메모 정리", "백업은 어떻게 하나요",
)  # fmt: skip


@pytest.fixture(scope="module")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    if weed() is None:
        pytest.skip(NEEDED)
    with running_store(tmp_path_factory.mktemp("store")) as port, in_environment(environment(port)):
        yield


@pytest.fixture(params=["folder", "s3"])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path / "published")
    request.getfixturevalue("object_store")
    return f"s3://{BUCKET}/{uuid4().hex}"


class Desk:
    """One person's folder, knowledge base and cache."""

    def __init__(self, folder: Path, name: str, notes: Path | None = None) -> None:
        self.notes = folder / name / "notes"
        if notes is not None:
            shutil.copytree(notes, self.notes)
        else:
            self.notes.mkdir(parents=True)
        self.data = folder / name / "data"
        self.cache = folder / name / "cache"
        self.config = folder / name / "config.toml"
        self.config.write_text(f'[[sources]]\nid = "{name}"\nroot = "notes"\n', encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def open(
        self,
        uri: str = "",
        *,
        walls: Walls | None = None,
        cache_mb: int = 1000,
        follow_s: float = 0,
        search: Mapping[str, str] | None = None,
    ) -> Kebab:
        index = {"index.url": uri, "index.cache_dir": str(self.cache), "index.follow_s": follow_s}
        overrides = {"storage.data_dir": str(self.data), "index.cache_mb": cache_mb, **index}
        overrides |= {f"search.{key}": value for key, value in (search or {}).items()}
        return Kebab.open(self.config, overrides=overrides, walls=walls)

    def ingest(self) -> None:
        with self.open() as kebab:
            kebab.ingest()

    def publish(self, uri: str) -> int:
        with self.open() as kebab:
            return kebab.publish(uri).changed


def answers(kebab: Kebab) -> list[bytes]:
    """What many questions are answered, as JSON."""
    found = [
        msgspec.json.encode(wire.search_response(kebab.search(text, mode=mode, explain=True, groups=True)))
        for text in (*ENGLISH, *KOREAN)
        for mode in SearchMode
    ]
    found += [
        msgspec.json.encode(
            wire.search_response(kebab.search("notes", filters=SearchFilters(lang=("ko",)), k=3))
        ),
        msgspec.json.encode(wire.doc_list(kebab.list_docs())),
    ]
    for document in kebab.list_docs()[:5]:
        found.append(msgspec.json.encode(wire.doc_inspection(kebab.inspect_doc(document.doc_id))))
        found.append(msgspec.json.encode(wire.fetch_result(kebab.fetch_doc(document.path))))
        found.append(msgspec.json.encode(wire.why(kebab.why(document.path, "소유권 notes"))))
    return found


def test_a_replica_answers_byte_for_byte_like_the_knowledge_base(uri: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, "ann", VAULT)
    desk.ingest()
    assert desk.publish(uri) == sum(path.is_file() for path in desk.notes.rglob("*"))
    with desk.open() as own, desk.open(uri) as replica:
        assert answers(replica) == answers(own)


def test_it_still_does_after_notes_changed_moved_and_went(uri: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, "ann", VAULT)
    desk.ingest()
    desk.publish(uri)
    with desk.open(uri):
        pass  # the first release is in the cache
    notes = sorted(desk.notes.rglob("*.md"))
    notes[0].unlink()
    notes[1].rename(notes[1].with_name("moved.md"))
    notes[2].write_text(
        notes[2].read_text(encoding="utf-8") + "\n\nownership 소유권 again\n", encoding="utf-8"
    )
    desk.write("new.md", "# 새 메모\n\n빌림 검사기 and the borrow checker\n")
    desk.ingest()
    assert desk.publish(uri) == 3
    with desk.open() as own, desk.open(uri) as replica:
        assert answers(replica) == answers(own)
    with desk.open() as own, Desk(tmp_path, "other").open(uri) as elsewhere:
        hits = [(hit.chunk_id, hit.score) for hit in elsewhere.search("소유권").hits]
        assert hits == [(hit.chunk_id, hit.score) for hit in own.search("소유권").hits]


def test_nothing_is_sent_where_nothing_changed(uri: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, "ann")
    desk.write("a.md", "alpha")
    desk.ingest()
    with desk.open() as kebab:
        first, second = kebab.publish(uri), kebab.publish(uri)
        again = kebab.publish(uri, everything=True)
    assert (first.changed, second.changed, again.changed) == (1, 0, 1)
    assert first.release == second.release < again.release


@pytest.mark.parametrize(
    "engines", [{"vector_engine": "lance"}, {"lexical_engine": "lance"}, {"lexical_engine": "fts5"}]
)
def test_other_engines_answer_alike_too(engines: dict[str, str], tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann", VAULT), str(tmp_path / "published")
    with desk.open(search=engines) as own:
        own.ingest()
        own.publish(target)
    theirs = {} if "vector_engine" in engines else engines  # the vectors' engine is the publisher's by itself
    with desk.open(search=engines) as own, desk.open(target, search=theirs) as replica:
        assert answers(replica) == answers(own)


def test_words_that_were_indexed_anew_are_published_again(tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann", VAULT), str(tmp_path / "published")
    desk.ingest()
    desk.write("README.md", "# Read me\n\nownership and 소유권\n")
    desk.ingest()
    desk.publish(target)
    with desk.open() as kebab:
        kebab.index(rebuild=True)
        assert kebab.publish(target).changed == 0
    with desk.open() as own, desk.open(target) as replica:
        assert answers(replica) == answers(own)


def test_an_open_replica_follows_and_is_whole_at_every_moment(uri: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, "ann")
    for name in ("a", "b"):
        desk.write(f"{name}.md", "version 0 alpha")
    desk.ingest()
    desk.publish(uri)
    with desk.open(uri) as replica:
        for version in (1, 2):
            for name in ("a", "b"):
                desk.write(f"{name}.md", f"version {version} alpha")
            desk.ingest()
            desk.publish(uri)
            until = time.monotonic() + 60
            seen: set[str] = set()
            while f"version {version} alpha" not in seen and time.monotonic() < until:
                seen = {hit.snippet.text for hit in replica.search("alpha", mode=SearchMode.LEXICAL).hits}
                assert len(seen) == 1, "both notes are of one release"
            assert seen == {f"version {version} alpha"}


def test_a_release_that_made_room_for_others_is_fetched_again(tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann"), tmp_path / "published"
    desk.write("a.md", "alpha")
    desk.ingest()
    desk.publish(str(target))
    with desk.open(str(target), follow_s=3600) as replica:
        (address,) = desk.cache.glob("index-*")
        shutil.rmtree(address)
        assert [hit.snippet.text for hit in replica.search("alpha").hits] == ["alpha"]
        shutil.rmtree(address)
        target.rename(tmp_path / "away")
        with pytest.raises(NotIndexed, match="nothing is published"):
            replica.search("alpha")
        (tmp_path / "away").rename(target)
        assert [hit.snippet.text for hit in replica.search("alpha").hits] == ["alpha"]


def test_a_reader_goes_on_when_others_have_brought_two_releases_since(tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann"), str(tmp_path / "published")
    desk.write("a.md", "alpha 0")
    desk.ingest()
    desk.publish(target)
    with desk.open(target, follow_s=3600) as replica:
        for number in (1, 2):
            desk.write("a.md", f"alpha {number}")
            desk.ingest()
            desk.publish(target)
            with desk.open(target):
                pass
        assert [hit.snippet.text for hit in replica.search("alpha").hits] == ["alpha 2"]


def test_several_people_publish_into_one(uri: str, tmp_path: Path) -> None:
    ann, bob, reader = Desk(tmp_path, "ann"), Desk(tmp_path, "bob"), Desk(tmp_path, "reader")
    ann.write("plan.md", "# Plan\n\nthe garden plan of ann 정원")
    bob.write("plan.md", "# Plan\n\nthe garden plan of bob 정원")
    for desk in (ann, bob):
        desk.ingest()
        desk.publish(uri)
    with reader.open(uri) as kebab:
        assert {hit.source_id for hit in kebab.search("garden plan").hits} == {"ann", "bob"}
        some = kebab.search("정원", filters=SearchFilters(source=("bob",)))
        assert [hit.source_id for hit in some.hits] == ["bob"]
    with reader.open(uri, walls=Walls(source=("ann",))) as kebab:
        assert {hit.source_id for hit in kebab.search("garden plan").hits} == {"ann"}
    with pytest.raises(InvalidInput, match="no source 'carol'"):
        reader.open(uri, walls=Walls(source=("carol",)))
    with bob.open() as kebab:
        kebab.remove_published(uri, "bob")
    with reader.open(uri) as kebab:
        assert {hit.source_id for hit in kebab.search("garden plan").hits} == {"ann"}


def test_two_people_together_score_like_one_knowledge_base_of_both(tmp_path: Path) -> None:
    halves = [Desk(tmp_path, name) for name in ("ann", "bob")]
    both = Desk(tmp_path, "both")
    notes = sorted(VAULT.rglob("*.md"))
    for desk, part in zip(halves, (notes[::2], notes[1::2]), strict=True):
        for note in part:
            desk.write(note.name, note.read_text(encoding="utf-8"))
        desk.ingest()
        desk.publish(str(tmp_path / "published"))
    roots = "".join(
        f'[[sources]]\nid = "{desk.notes.parent.name}"\nroot = "{desk.notes}"\n' for desk in halves
    )
    both.config.write_text(roots, encoding="utf-8")
    both.ingest()
    with both.open() as one, both.open(str(tmp_path / "published")) as replica:
        for text in (*ENGLISH, *KOREAN):
            expected = [(hit.chunk_id, hit.score) for hit in one.search(text).hits]
            assert [(hit.chunk_id, hit.score) for hit in replica.search(text).hits] == expected, text


def test_what_carries_no_index_is_indexed_here(tmp_path: Path) -> None:
    desk, fake = Desk(tmp_path, "ann", VAULT), FakePublication()
    desk.ingest()
    with desk.open() as own:
        publisher = replace(build_publisher(own.engines), open_publication=lambda _: fake)
        first = publisher.publish("memory://fake")
        index = msgspec.structs.replace(own.settings.index, url=str(tmp_path))
        settings = msgspec.structs.replace(own.settings, index=index)
        replica = replace(build_replica(settings), publication=fake, cache=ReplicaCache(desk.cache, 1000))
        held = replica.follow()
        assert replica.follow() == held
        assert held.release.number == first.release
        with Kebab(settings_on(own.settings, held.folder, held.release), readonly=True) as copy:
            for text in (*ENGLISH, *KOREAN):
                expected = [(hit.chunk_id, hit.score) for hit in own.search(text).hits]
                assert [(hit.chunk_id, hit.score) for hit in copy.search(text).hits] == expected, text


def test_a_source_that_another_published_is_refused(tmp_path: Path) -> None:
    ann, other = Desk(tmp_path, "ann"), Desk(tmp_path / "elsewhere", "ann")
    for desk in (ann, other):
        desk.write("a.md", "alpha")
        desk.ingest()
    target = str(tmp_path / "published")
    ann.publish(target)
    with other.open() as kebab, pytest.raises(InvalidInput, match="already published by 'ann'"):
        kebab.publish(target, name="somebody")


def test_a_release_can_be_taken_back(tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann"), str(tmp_path / "published")
    desk.write("a.md", "alpha")
    desk.ingest()
    desk.publish(target)
    desk.write("a.md", "omega")
    desk.ingest()
    desk.publish(target)
    with desk.open() as kebab:
        first = kebab.published(target)[-1]
        kebab.roll_back_published(target, first.number)
    with desk.open(target) as replica:
        assert [hit.snippet.text for hit in replica.search("alpha").hits] == ["alpha"]
    assert desk.publish(target) == 1, "the next edition starts from what was taken back"
    with desk.open(target) as replica:
        assert [hit.snippet.text for hit in replica.search("omega").hits] == ["omega"]


def test_a_replica_writes_nothing_into_what_is_published(tmp_path: Path) -> None:
    desk, target = Desk(tmp_path, "ann"), tmp_path / "published"
    desk.write("a.md", "alpha")
    desk.ingest()
    desk.publish(str(target))
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*")}
    with desk.open(str(target)) as replica:
        replica.ask("alpha?")
        for write in (replica.ingest, lambda: replica.publish(str(target)), replica.index):
            with pytest.raises(ReadOnly, match="published elsewhere"):
                write()
    assert {path: path.stat().st_mtime_ns for path in target.rglob("*")} == before


def test_walls_keep_from_publishing(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "ann")
    desk.write("a.md", "alpha")
    desk.ingest()
    with desk.open(walls=Walls(path=("x/*",))) as kebab, pytest.raises(OutsideWalls):
        kebab.publish(str(tmp_path / "published"))


def test_where_nothing_is_published_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotIndexed, match="nothing is published"):
        Desk(tmp_path, "ann").open(str(tmp_path / "nowhere"))


def test_what_was_published_when_numbers_were_versions_is_still_followed(tmp_path: Path) -> None:
    import lance

    desk, target = Desk(tmp_path, "ann"), str(tmp_path / "published")
    desk.write("a.md", "alpha")
    desk.ingest()
    desk.publish(target)
    lance.dataset(f"{target}/catalogue.lance").delete_config_keys(["kebab.before"])
    newest = LancePublication(target).newest()
    assert newest is not None
    assert newest.number == 3
    desk.write("b.md", "beta")
    desk.ingest()
    desk.publish(target)
    with desk.open(target) as replica:
        assert len(replica.search("beta", mode=SearchMode.LEXICAL).hits) == 1
        releases = replica.published(target)
    assert [release.number for release in releases[:2]] == [4, 3]
    assert LancePublication(target).roll_back(3).number == 5


def test_a_file_name_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    import lance
    import pyarrow as pa

    from kebab.adapters.lance_published.words import words_schema
    from kebab.errors import Corrupt

    desk, target = Desk(tmp_path, "ann"), str(tmp_path / "published")
    desk.write("a.md", "alpha")
    desk.ingest()
    desk.publish(target)
    table = f"{target}/parts/ann/words.lance"
    rows = [{"name": "../../evil", "part": 0, "hash": "x", "content": b"x"}]
    planted = lance.write_dataset(pa.Table.from_pylist(rows, schema=words_schema()), table, mode="append")
    catalogue = lance.dataset(f"{target}/catalogue.lance")
    entry = catalogue.config()["kebab.part.ann"]
    named = msgspec.json.decode(entry)
    named["versions"]["words"] = planted.version
    catalogue.update_config({"kebab.part.ann": msgspec.json.encode(named).decode()})
    with pytest.raises(Corrupt, match="none of its own"):
        desk.open(target)
    assert not list(tmp_path.rglob("evil"))


@pytest.mark.parametrize("wrong", ["ftp://x/y", "s3://key:secret@bucket/x", "s3://", "s3://bucket/x?a=b"])
def test_an_address_that_cannot_be_one_is_refused_without_its_secrets(wrong: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        LancePublication(wrong)
    assert "secret" not in f"{caught.value} {caught.value.hint}"


def test_a_store_that_refuses_the_credentials_is_named(object_store: None) -> None:
    with in_environment({"AWS_SECRET_ACCESS_KEY": "wrong"}), pytest.raises(EngineUnavailable) as caught:
        LancePublication(f"s3://{BUCKET}/x").newest()
    assert "access denied" in str(caught.value)
    assert "wrong" not in f"{caught.value} {caught.value.hint}"
