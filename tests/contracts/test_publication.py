"""What every Publication promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from kebab.adapters.lance_published.publication import LancePublication
from kebab.adapters.qdrant_published.publication import QdrantPublication
from kebab.domain.ids import DocId
from kebab.domain.publications import Contents, Part, Release
from kebab.errors import Conflict, InvalidInput
from kebab.ports import Edition, ModelKey, Publication, PublishedChunk, PublishedDocument, Record
from tests import blob_store, qdrant_server
from tests.fakes import FakeAnalyzer
from tests.object_store import BUCKET, NEEDED, environment, in_environment, running_store, weed
from tests.publication_fakes import FakePublication
from tests.qdrant_server import Node, address, program, running_qdrant
from tests.samples import Sample, sample

MODEL = ModelKey("fake-model", "1", 4)
BUILDERS: dict[str, Callable[[Path], Publication]] = {
    "fake": lambda _: FakePublication(),
    "folder": lambda folder: LancePublication(str(folder / "published")),
    "s3": lambda folder: LancePublication(f"s3://{BUCKET}/{folder.name}-{uuid4().hex}"),
    "az": lambda folder: LancePublication(f"az://{blob_store.CONTAINER}/{folder.name}-{uuid4().hex}"),
}


@pytest.fixture(scope="module")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A real one, with its credentials in the environment."""
    if weed() is None:
        pytest.skip(NEEDED)
    with running_store(tmp_path_factory.mktemp("store")) as port, in_environment(environment(port)):
        yield


@pytest.fixture(scope="module")
def blobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Azure's emulator, with its credentials in the environment."""
    if blob_store.azurite() is None:
        pytest.skip(blob_store.NEEDED)
    with (
        blob_store.running_blobs(tmp_path_factory.mktemp("blobs")) as port,
        in_environment(blob_store.environment(port)),
    ):
        yield


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Node]]:
    """A real server; each test has a name of its own there."""
    if program() is None:
        pytest.skip(qdrant_server.NEEDED)
    with running_qdrant(tmp_path_factory.mktemp("qdrant")) as nodes:
        yield nodes


@pytest.fixture(params=[*BUILDERS, pytest.param("qdrant", marks=pytest.mark.slow)])
def publication(request: pytest.FixtureRequest, tmp_path: Path) -> Publication:
    if request.param == "qdrant":
        nodes: list[Node] = request.getfixturevalue("cluster")
        return QdrantPublication(address(nodes, uuid4().hex))
    if needed := {"s3": "object_store", "az": "blobs"}.get(request.param):
        request.getfixturevalue(needed)
    return BUILDERS[request.param](tmp_path)


def published(one: Sample, *, mark: str = "1", seed: int = 0) -> PublishedDocument:
    analyzer = FakeAnalyzer()
    numbers = np.random.default_rng(seed + len(one.document.path))
    record = Record(
        one.doc_id,
        one.document.source_id,
        mark,
        one.document.text.encode(),
        b"vectors of " + one.doc_id.encode(),
    )
    chunks = tuple(
        PublishedChunk(
            stored, analyzer.index_text(stored.chunk.text), numbers.standard_normal(4).astype(np.float32)
        )
        for stored in one.stored()
    )
    return PublishedDocument(record, chunks)


def contents(*samples: Sample) -> Contents:
    return Contents(
        sources=tuple(sorted({one.document.source_id for one in samples})),
        documents=len(samples),
        chunks=sum(len(one.chunks) for one in samples),
        lexical="lexical:test",
        model=(MODEL.model_id, MODEL.version, MODEL.dimensions),
        missing=0,
        kebab="1",
        published_at="2024-05-01T12:00:00Z",
    )


def publish(
    publication: Publication,
    *samples: Sample,
    name: str = "ann",
    changed: tuple[Sample, ...] | None = None,
    removed: tuple[DocId, ...] = (),
) -> Release:
    """Publish; ``samples`` is all that there is afterwards, ``changed`` what of it is new."""
    newest = publication.newest()
    edition = Edition(
        publisher=name,
        contents=contents(*samples),
        removed=removed,
        changed=[published(one) for one in (samples if changed is None else changed)],
        base=newest.part(name) if newest else None,
    )
    return publication.publish(edition)


def part(release: Release | None, name: str = "ann") -> Part:
    found = release.part(name) if release else None
    assert found is not None
    return found


def held(publication: Publication, name: str = "ann") -> set[DocId]:
    return set(publication.marks(part(publication.newest(), name)))


A, B, C = sample("a.md", "alpha one", "alpha two"), sample("b.md", "beta"), sample("c.md", "gamma 감마")


def test_where_nothing_was_published_there_is_no_release(publication: Publication) -> None:
    assert publication.newest() is None
    assert publication.releases() == []


def test_what_was_published_is_read_back_as_it_was(publication: Publication) -> None:
    release = publish(publication, A, C)
    assert publication.newest() == release
    assert part(release).contents == contents(A, C)
    records = {record.doc_id: record for record in publication.records(part(release))}
    assert records == {one.doc_id: published(one).record for one in (A, C)}
    assert publication.marks(part(release)) == {A.doc_id: "1", C.doc_id: "1"}


def test_releases_are_numbered_from_one(publication: Publication) -> None:
    made = [publish(publication, A), publish(publication, A, B, changed=(B,))]
    assert [release.number for release in made] == [1, 2]
    assert [release.number for release in publication.releases()] == [2, 1]
    assert publication.roll_back(1).number == 3
    assert held(publication) == {A.doc_id}


def test_some_records_can_be_read_alone(publication: Publication) -> None:
    release = publish(publication, A, B, C)
    found = list(publication.records(part(release), [C.doc_id, DocId("0" * 32)]))
    assert [record.doc_id for record in found] == [C.doc_id]
    assert list(publication.records(part(release), [])) == []


def test_a_later_edition_sends_only_what_changed(publication: Publication) -> None:
    first = publish(publication, A, B)
    second = publish(publication, A, C, changed=(C,), removed=(B.doc_id,))
    assert second.number > first.number
    assert held(publication) == {A.doc_id, C.doc_id}
    assert publication.newest() == second


def test_a_changed_document_has_its_new_record_alone(publication: Publication) -> None:
    publish(publication, A, B)
    newest = publication.newest()
    again = replace(published(A, mark="2"), record=replace(published(A).record, mark="2", rows=b"new rows"))
    edition = Edition("ann", contents(A, B), (), [again], base=part(newest))
    release = publication.publish(edition)
    records = {record.doc_id: record for record in publication.records(part(release))}
    assert records[A.doc_id].rows == b"new rows"
    assert set(records) == {A.doc_id, B.doc_id}


def test_an_edition_without_documents_is_one(publication: Publication) -> None:
    publish(publication, A)
    release = publish(publication, changed=(), removed=(A.doc_id,))
    assert publication.marks(part(release)) == {}
    assert list(publication.records(part(release))) == []


def test_an_older_release_can_still_be_read(publication: Publication) -> None:
    first = publish(publication, A, B)
    publish(publication, C, changed=(C,), removed=(A.doc_id, B.doc_id))
    assert set(publication.marks(part(first))) == {A.doc_id, B.doc_id}


def test_an_edition_that_fails_on_the_way_changes_nothing(publication: Publication) -> None:
    release = publish(publication, A)

    def broken() -> Iterator[PublishedDocument]:
        yield published(B)
        raise KeyError("the disk is gone")

    with pytest.raises(KeyError):
        publication.publish(Edition("ann", contents(A, B), (A.doc_id,), broken(), base=part(release)))
    assert publication.newest() == release
    assert held(publication) == {A.doc_id}
    publish(publication, A, C, changed=(C,))
    assert held(publication) == {A.doc_id, C.doc_id}, "what the failed one left is not seen later either"


def test_several_publishers_have_a_part_each(publication: Publication) -> None:
    theirs = sample("a.md", "delta", source_id="theirs")
    publish(publication, A)
    release = publish(publication, theirs, name="bob")
    assert release.publishers == ("ann", "bob")
    assert held(publication, "ann") == {A.doc_id}
    assert held(publication, "bob") == {theirs.doc_id}


def test_a_source_belongs_to_one_publisher(publication: Publication) -> None:
    publish(publication, A)
    with pytest.raises(InvalidInput, match="already published by 'ann'"):
        publish(publication, B, name="bob")
    assert publication.newest() is not None
    assert held(publication) == {A.doc_id}


def test_who_publishes_over_what_it_has_not_seen_is_stopped(publication: Publication) -> None:
    first = publish(publication, A)
    publish(publication, A, B, changed=(B,))
    with pytest.raises(Conflict):
        publication.publish(Edition("ann", contents(C), (), [published(C)], base=part(first)))
    assert held(publication) == {A.doc_id, B.doc_id}


def test_a_publisher_can_be_removed(publication: Publication) -> None:
    theirs = sample("a.md", "delta", source_id="theirs")
    publish(publication, A)
    publish(publication, theirs, name="bob")
    release = publication.remove("ann")
    assert release.publishers == ("bob",)
    assert publication.newest() == release
    with pytest.raises(InvalidInput, match="ann"):
        publication.remove("ann")
    publish(publication, A, B)
    assert held(publication) == {A.doc_id, B.doc_id}


def test_an_earlier_release_can_be_made_the_newest_again(publication: Publication) -> None:
    first = publish(publication, A, B)
    second = publish(publication, C, changed=(C,), removed=(A.doc_id, B.doc_id))
    back = publication.roll_back(first.number)
    assert back.number > second.number
    assert publication.newest() == back
    assert held(publication) == {A.doc_id, B.doc_id}
    publish(publication, A, B, C, changed=(C,))
    assert held(publication) == {A.doc_id, B.doc_id, C.doc_id}
    with pytest.raises(InvalidInput):
        publication.roll_back(9_999)


def test_releases_are_listed_newest_first(publication: Publication) -> None:
    made = [publish(publication, A), publish(publication, A, B, changed=(B,))]
    assert publication.releases() == made[::-1]


def test_collecting_keeps_the_newest_release_whole(publication: Publication) -> None:
    publish(publication, A, B)
    publish(publication, A, C, changed=(C,), removed=(B.doc_id,))
    newest = publication.newest()
    young = publication.collect(older_than=timedelta(hours=1))
    assert young.releases == 0
    assert len(publication.releases()) == 2
    done = publication.collect(older_than=timedelta(0))
    assert done.releases == 1
    assert publication.releases() == [newest]
    assert held(publication) == {A.doc_id, C.doc_id}
    assert {record.doc_id for record in publication.records(part(newest))} == {A.doc_id, C.doc_id}
    publish(publication, A, B, C, changed=(B,))
    assert held(publication) == {A.doc_id, B.doc_id, C.doc_id}


def test_collecting_removes_what_was_rolled_back_from(publication: Publication) -> None:
    first = publish(publication, A)
    publish(publication, B, changed=(B,), removed=(A.doc_id,))
    publication.roll_back(first.number)
    publication.collect(older_than=timedelta(0))
    assert held(publication) == {A.doc_id}
    assert len(publication.releases()) == 1


def test_collecting_removes_a_publisher_that_is_gone(publication: Publication) -> None:
    theirs = sample("a.md", "delta", source_id="theirs")
    publish(publication, A)
    publish(publication, theirs, name="bob")
    publication.remove("ann")
    publication.collect(older_than=timedelta(0))
    assert held(publication, "bob") == {theirs.doc_id}
    publish(publication, A)
    assert held(publication) == {A.doc_id}


def test_the_address_shows_no_credentials(publication: Publication) -> None:
    assert "@" not in publication.uri
