"""A real Qdrant cluster that loses a node while it is read and written: whole releases, and nothing lost."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from kebab.adapters.qdrant_published.publication import QdrantPublication
from kebab.errors import EngineUnavailable
from kebab.ports import LexicalQuery
from tests.contracts.test_publication import MODEL, part, publish, published
from tests.fakes import FakeAnalyzer
from tests.qdrant_server import NEEDED, Node, address, program, running_qdrant
from tests.samples import Sample, sample

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(program() is None, reason=NEEDED),
    pytest.mark.xdist_group("qdrant"),
]

SAMPLES = tuple(sample(f"{number}.md", f"alpha note {number}", "beta") for number in range(20))


class Analyzer(FakeAnalyzer):
    """The one that the samples are published with."""

    version = "test"


ANALYZER = Analyzer()


class Reader:
    """Reads the newest release again and again, by what it says of itself and by its words and vectors."""

    def __init__(self, uri: str) -> None:
        self._publication = QdrantPublication(uri)
        self._stop = Event()
        self.times: list[float] = []
        self.documents: list[int] = []

    def read(self) -> None:
        while not self._stop.is_set():
            self._read_once()
            self.times.append(time.monotonic())

    def stop(self) -> None:
        self._stop.set()

    def _read_once(self) -> None:
        release = self._publication.newest()
        assert release is not None
        told = part(release).contents
        held = self._publication.marks(part(release))
        assert len(held) == told.documents, "a release is whole or not there"
        words = self._publication.words(release, Path(), ANALYZER, checkpoint=1)
        vectors = self._publication.vectors(release, MODEL, checkpoint=1)
        assert words is not None
        assert vectors is not None
        assert words.count() == vectors.count() == told.chunks
        assert len(words.search(LexicalQuery(("alpha",)), limit=100)) == told.documents
        self.documents.append(told.documents)


@pytest.fixture
def reading() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


def begun(reader: Reader, read: Future[None]) -> None:
    """Wait until something was read; raises what reading raised."""
    while not reader.documents:
        if read.done():
            read.result()
        time.sleep(0.05)


def grow(uri: str, upto: int, *, start: int) -> None:
    """Publish one document more each time."""
    publication = QdrantPublication(uri)
    for count in range(start + 1, upto + 1):
        publish(publication, *SAMPLES[:count], changed=(SAMPLES[count - 1],))


def gives_up_aloud(uri: str) -> None:
    """Publish what needs all nodes, with little patience: it says what it waits for, and that it gives up."""
    heard: list[str] = []
    began = time.monotonic()
    with pytest.raises(EngineUnavailable, match="cannot be used") as caught:
        publish(QdrantPublication(uri, patience_s=4.0, waiting=heard.append), *SAMPLES[:1])
    assert "more than half of its nodes" in str(caught.value.hint)
    assert heard[0].startswith("waiting for qdrant://")
    assert time.monotonic() - began < 45


def whole(nodes: Sequence[Node], name: str, samples: Sequence[Sample]) -> bool:
    """Whether each of these nodes, asked alone, has every document as it was sent."""
    for node in nodes:
        publication = QdrantPublication(address([node], name))
        records = {one.doc_id: one for one in publication.records(part(publication.newest()))}
        if records != {one.doc_id: published(one).record for one in samples}:
            return False
    return True


def test_reads_go_on_without_one_of_two_nodes_and_nothing_is_lost(
    tmp_path: Path, reading: ThreadPoolExecutor
) -> None:
    with running_qdrant(tmp_path, nodes=2) as nodes:
        uri = address(nodes, "two")
        publish(QdrantPublication(uri), *SAMPLES[:5])
        reader = Reader(uri)
        read = reading.submit(reader.read)
        with ThreadPoolExecutor(1) as writing:
            written = writing.submit(grow, uri, 10, start=5)
            begun(reader, read)
            nodes[1].kill()
            killed = time.monotonic()
            gives_up_aloud(address(nodes, "another"))
            time.sleep(max(killed + 3 - time.monotonic(), 0))
            without = sum(killed + 1 < at for at in reader.times)
            # Two nodes take no writes without each other: half of them is no majority.
            nodes[1].start(first=None, clustered=True)
            written.result(timeout=150)
        reader.stop()
        read.result(timeout=60)

        assert without > 0, "reads went on while the node was away"
        assert reader.documents == sorted(reader.documents)
        deadline = time.monotonic() + 60
        while not whole(nodes, "two", SAMPLES[:10]) and time.monotonic() < deadline:
            time.sleep(0.5)
        assert whole(nodes, "two", SAMPLES[:10])


def test_of_three_nodes_one_can_be_lost_and_writes_go_on(tmp_path: Path, reading: ThreadPoolExecutor) -> None:
    with running_qdrant(tmp_path, nodes=3) as nodes:
        uri = address(nodes, "three")
        publish(QdrantPublication(uri), *SAMPLES[:5])
        reader = Reader(uri)
        read = reading.submit(reader.read)
        with ThreadPoolExecutor(1) as writing:
            written = writing.submit(grow, uri, 12, start=5)
            begun(reader, read)
            nodes[2].kill()
            killed = time.monotonic()
            written.result(timeout=150)
        reader.stop()
        read.result(timeout=60)

        assert sum(killed < at for at in reader.times) > 0
        assert reader.documents == sorted(reader.documents)
        assert whole(nodes[:2], "three", SAMPLES[:12])
