"""Files come, change, move and go in any order: what is stored and found is what a dict of them says.

A few hundred steps in every run; KEBAB_STEPS=2000 is the long form. Hypothesis prints the steps of a failure.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kebab.domain.queries import SearchFilters, SearchMode
from tests.faults.conftest import Base, sick
from tests.faults.kill_world import legs

STEPS = int(os.environ.get("KEBAB_STEPS", "240"))
STEPS_A_STORY = 24
WORDS = ("kelp", "mast", "anchor", "lantern", "밧줄", "갈매기", "등대")
NAMES = tuple(f"{folder}f{number}.md" for folder in ("", "deck/") for number in range(4))

texts = st.lists(st.sampled_from(WORDS), min_size=0, max_size=6).map(" ".join)
names = st.sampled_from(NAMES)


class Library(RuleBasedStateMachine):
    """A knowledge base beside two dicts: what is on the disk, and what was there at the last look."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kebab-model-"))
        (self.folder / "notes").mkdir()
        self.base = Base(self.folder / "notes", self.folder / "data")
        self.disk: dict[str, str] = {}
        self.indexed: dict[str, str] = {}
        self.kb = self.base.open()
        self.kb.ingest()

    def teardown(self) -> None:
        if hasattr(self, "kb"):
            self.kb.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    @rule(name=names, text=texts)
    def write(self, name: str, text: str) -> None:
        file = self.base.root / name
        file.parent.mkdir(exist_ok=True)
        self.disk[name] = f"# Note\n\n{text}\n"
        file.write_text(self.disk[name], encoding="utf-8")

    @precondition(lambda self: self.disk)
    @rule(data=st.data(), place=names)
    def move(self, data: st.DataObject, place: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.disk)))
        (self.base.root / place).parent.mkdir(exist_ok=True)
        (self.base.root / name).rename(self.base.root / place)
        self.disk[place] = self.disk.pop(name)

    @precondition(lambda self: self.disk)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.disk)))
        (self.base.root / name).unlink()
        del self.disk[name]

    @rule(force=st.booleans())
    def ingest(self, force: bool) -> None:
        report = self.kb.ingest(allow_mass_delete=True, force=force)
        assert report.run.failed == 0
        self.indexed = dict(self.disk)

    @precondition(lambda self: self.disk)
    @rule(data=st.data())
    def ingest_one(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.disk)))
        self.kb.ingest([self.base.root / name])
        self.indexed[name] = self.disk[name]

    @rule(rebuild=st.booleans())
    def index(self, rebuild: bool) -> None:
        self.kb.index(rebuild=rebuild)
        assert sick(self.kb.doctor()) == []

    @rule()
    def reopen(self) -> None:
        self.kb.close()
        self.kb = self.base.open()

    @rule()
    def move_house(self) -> None:
        """Everything into a bundle, and back from it."""
        bundle = self.folder / "all.kebab"
        self.kb.export_bundle(bundle, force=True)
        self.kb.import_bundle(bundle, force=True)

    @rule(word=st.sampled_from(WORDS), deck=st.booleans())
    def search(self, word: str, deck: bool) -> None:
        filters = SearchFilters(path=("deck/*",)) if deck else None
        found = self.kb.search(word, mode=SearchMode.LEXICAL, k=50, exact=True, filters=filters)
        wanted = {name for name, text in self.indexed.items() if word in text.split()}
        assert {hit.doc_path for hit in found.hits} == {
            name for name in wanted if not deck or name.startswith("deck/")
        }
        empty = deck and not any(name.startswith("deck/") for name in self.indexed)
        assert [each.code for each in found.degraded] == (["no_such_value"] if empty else [])

    @rule(word=st.sampled_from(WORDS))
    def search_by_meaning(self, word: str) -> None:
        found = self.kb.search(word, mode=SearchMode.VECTOR, k=50)
        assert {hit.doc_path for hit in found.hits} <= set(self.indexed)
        assert len({hit.chunk_id for hit in found.hits}) == len(found.hits)

    @invariant()
    def what_is_stored_is_what_was_there(self) -> None:
        if hasattr(self, "kb"):
            stored = {doc.path: self.kb.fetch_doc(doc.doc_id).text for doc in self.kb.list_docs()}
            assert stored == self.indexed
            documents, words, vectors = legs(self.kb)
            assert documents == words == vectors


Library.TestCase.settings = settings(
    max_examples=max(1, STEPS // STEPS_A_STORY),
    stateful_step_count=STEPS_A_STORY,
    suppress_health_check=list(HealthCheck),
    derandomize="KEBAB_STEPS" not in os.environ,
)
TestLibrary = pytest.mark.slow(Library.TestCase)
