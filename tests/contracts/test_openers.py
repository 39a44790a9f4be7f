"""What every place that opens stores, indexes and the memory promises, faked or a real knowledge base."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.assembly.engines import Engines
from kebab.domain.executions import ExecutionFilters
from kebab.errors import Corrupt, NotIndexed, ReadOnly
from kebab.ports import (
    ExecutionIndex,
    Indexes,
    MemoryAccess,
    MemoryKind,
    ModelKey,
    StoreAccess,
    Stores,
    VectorSpace,
)
from tests.memory_fakes import run
from tests.opener_fakes import FakeIndexes, FakeMemoryAccess, FakeStoreAccess, FakeStores
from tests.samples import sample

MODEL = ModelKey("toy", "1", 8)
ONE = sample("a.md", "one line")


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[Callable[..., Engines]]:
    """Opens one real place, for reading and writing or for reading alone."""
    opened: list[Kebab] = []
    (tmp_path / "notes").mkdir()

    def opens(*, readonly: bool = False) -> Engines:
        none = {"models.embedding.provider": "none"}
        opened.append(
            Kebab.open(root=tmp_path / "notes", data_dir=tmp_path / "data", readonly=readonly, overrides=none)
        )
        return opened[-1].engines

    yield opens
    for kebab in opened:
        kebab.close()


@pytest.fixture(params=["fake", "real"])
def access(request: pytest.FixtureRequest, engines: Callable[..., Engines]) -> StoreAccess:
    return FakeStoreAccess() if request.param == "fake" else engines()


@pytest.fixture(params=["fake", "real"])
def indexes(request: pytest.FixtureRequest, engines: Callable[..., Engines]) -> Indexes:
    if request.param == "fake":
        return FakeIndexes()
    real = engines()
    with real.writing("test"):
        return real


@pytest.fixture(params=["fake", "real"])
def memory(request: pytest.FixtureRequest, engines: Callable[..., Engines]) -> MemoryAccess:
    return FakeMemoryAccess() if request.param == "fake" else engines()


def fill(access: StoreAccess) -> None:
    with access.writing("test") as stores:
        stores.documents.put(ONE.document, ONE.chunks, ONE.state)


def held(stores: Stores) -> list[str]:
    return [document.path for document in stores.documents.list_documents()]


def test_before_anything_is_stored_there_is_nothing_to_read(access: StoreAccess) -> None:
    with pytest.raises(NotIndexed):
        access.require()
    with pytest.raises(NotIndexed):
        _ = access.reading
    assert access.reading_or_none is None


def test_what_was_written_is_read_also_after_it_was_closed(access: StoreAccess) -> None:
    fill(access)
    access.require()
    assert held(access.reading) == ["a.md"]
    access.close()
    assert held(access.reading) == ["a.md"]


def test_the_stores_belong_together(access: StoreAccess) -> None:
    fill(access)
    stores = access.reading
    assert stores.database.faults() == []
    assert list(stores.embeddings.missing(MODEL, limit=9).values())
    assert stores.ledger.runs() == []


def test_a_session_writes_turn_by_turn(access: StoreAccess) -> None:
    with access.session("ingest") as (stores, turns), turns.turn():
        stores.documents.put(ONE.document, ONE.chunks, ONE.state)
    assert held(access.reading) == ["a.md"]


def test_a_writer_is_named_while_it_writes(access: StoreAccess) -> None:
    fill(access)
    assert access.lock_owner() is None
    with access.locked("export"):
        assert "export" in (access.lock_owner() or "")
    assert access.lock_owner() is None


@pytest.mark.parametrize("kind", ["fake", "real"])
def test_read_only_refuses_every_way_to_write(kind: str, engines: Callable[..., Engines]) -> None:
    access: StoreAccess = FakeStoreAccess(readonly=True) if kind == "fake" else engines(readonly=True)

    assert access.readonly
    with pytest.raises(ReadOnly), access.writing("ingest"):
        pass
    with pytest.raises(ReadOnly), access.session("ingest"):
        pass
    with pytest.raises(ReadOnly), access.locked("ingest"):
        pass
    with pytest.raises(ReadOnly):
        access.forbid_readonly("ingest")


def test_a_copy_is_opened_beside_and_what_is_none_is_refused(access: StoreAccess, tmp_path: Path) -> None:
    fill(access)
    copy, other = tmp_path / "copy.sqlite", tmp_path / "other"
    access.reading.database.back_up(copy)
    other.write_bytes(b"not a knowledge base" * 100)
    with access.opened_copy(copy) as stores:
        assert held(stores) == ["a.md"]
    with pytest.raises(Corrupt), access.opened_copy(other):
        pass


def test_indexes_begin_empty_one_for_each_model(indexes: Indexes) -> None:
    other = ModelKey("other", "1", 8)
    assert indexes.lexical_index.count() == 0
    assert indexes.vector_index(MODEL).count() == 0
    assert indexes.vector_index(MODEL).checkpoint() == indexes.vector_index(other).checkpoint()
    assert indexes.other_vector_files([MODEL, other]) == []


def test_the_memory_keeps_records_and_has_an_index_for_each_kind(memory: MemoryAccess) -> None:
    memory.execution_store.save([run(1)])

    assert [found.id for found in memory.execution_store.select(ExecutionFilters(), limit=9)] == [run(1).id]
    assert all(memory.execution_index(kind).refresh() == "" for kind in MemoryKind)
    assert memory.memory_faults() == []
    memory.mend_memory()
    assert memory.memory_faults() == []


def test_an_index_of_the_memory_sees_what_the_store_holds(memory: MemoryAccess) -> None:
    index: ExecutionIndex = memory.execution_index(MemoryKind.EXECUTIONS)
    memory.execution_store.save([run(1)])

    assert index.refresh() == ""
    found = index.words(run(1).task_description, filters=ExecutionFilters(), limit=9)
    assert [hit.id for hit in found] == [run(1).id]
    assert index.spaces() == {VectorSpace("toy@1", 3): 1}


def test_the_fake_stores_are_stores() -> None:
    assert held(FakeStores()) == []
