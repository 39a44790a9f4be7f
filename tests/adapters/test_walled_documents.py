"""What documents inside walls tell of files outside: nothing."""

from __future__ import annotations

from kebab.adapters.walled.documents import WalledDocumentStore
from kebab.domain.walls import Walls
from tests.fakes import FakeDocumentStore
from tests.samples import sample


def test_of_many_paths_only_those_inside_are_told() -> None:
    store = FakeDocumentStore()
    inside, outside = sample("open/a.md", "one"), sample("shut/b.md", "two")
    for one in (inside, outside):
        store.put(one.document, one.chunks, one.state)
    walled = WalledDocumentStore(store, Walls(path=("open/**",)))
    asked = [(one.document.source_id, one.state.path) for one in (inside, outside)]
    assert set(store.states_of(asked)) == set(asked)
    assert walled.states_of(asked) == {asked[0]: inside.state}
