"""A knowledge base that others write and are killed over: what it must still hold afterwards."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from kebab.app import Kebab
from kebab.domain.queries import SearchMode
from kebab.ports import ModelKey
from tests.document_files import xlsx_file
from tests.faults.conftest import sick

FILES = 40
SHEET = "sheet.xlsx"
"""A file of a kind that is read in a worker process only."""


@dataclass
class World:
    """Notes that change, each version with a word of its own, and what writers said they had kept."""

    folder: Path
    dice: random.Random
    texts: dict[str, str] = field(default_factory=dict)
    """What stands on disk now."""
    past: dict[str, set[str]] = field(default_factory=dict)
    """Every text that a path ever had."""
    settled: dict[str, str] = field(default_factory=dict)
    """What stood on disk at the last complete run."""
    dead: list[str] = field(default_factory=list)
    """Words of texts that no file holds any more."""
    buried: list[str] = field(default_factory=list)
    """Those that were dead at the last complete run already: nothing may find them."""
    notes: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)
    count: int = 0

    @classmethod
    def made(cls, folder: Path, dice: random.Random) -> World:
        world = cls(folder, dice)
        world.root.mkdir(parents=True)
        world.config.write_text(
            f'[workspace]\nroot = "{world.root}"\n[storage]\ndata_dir = "{world.data}"\n'
            "[ingest]\nworkers = 2\n",
            encoding="utf-8",
        )
        for number in range(FILES):
            world.write(f"note-{number:03d}.md")
        world.write_sheet()
        world.settle()
        return world

    @property
    def root(self) -> Path:
        return self.folder / "notes"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def config(self) -> Path:
        return self.folder / "config.toml"

    def open(self, data: Path | None = None) -> Kebab:
        return Kebab.open(self.config, data_dir=data)

    # --- what people do ------------------------------------------------------------------------------

    def write(self, name: str) -> None:
        if name in self.texts:
            self.dead.append(word_of(self.texts[name]))
        self.count += 1
        text = (
            f"# Note {name}\n\nThe word is zq{self.count:06d}x.\n\n## 둘째\n\n" + "배를 묶는 밧줄. rope " * 30
        )
        draft = self.root / f".{name}.tmp"
        draft.write_text(text, encoding="utf-8")
        draft.replace(self.root / name)
        self.texts[name] = text
        self.past.setdefault(name, set()).add(text)

    def remove(self, name: str) -> None:
        self.dead.append(word_of(self.texts.pop(name)))
        (self.root / name).unlink()

    def write_sheet(self) -> None:
        self.count += 1
        (self.root / SHEET).write_bytes(xlsx_file({"Ropes": [["rope", "metres"], ["hemp", self.count]]}))

    def stir(self) -> None:
        """Change, add and remove some notes."""
        names = self.dice.sample(sorted(self.texts), 12)
        for name in names[:7]:
            self.write(name)
        for name in names[7:9]:
            self.remove(name)
        for _ in range(2):
            self.write(f"new-{self.count}.md")
        self.write_sheet()

    # --- what must hold --------------------------------------------------------------------------------

    def check(self) -> None:
        """Right after a kill: whole documents only, none lost; what is stored is found, or missed aloud."""
        assert intact(self.data / "kebab.sqlite")
        with self.open() as kb:
            source, inbox = stored(kb)
            for path, text in source.items():
                assert text in self.past[path], f"{path} holds what no version of the file held"
            kept = {path for path, text in self.settled.items() if self.texts.get(path) == text}
            assert kept <= source.keys(), f"lost: {sorted(kept - source.keys())[:5]}"
            assert self.notes <= inbox, f"lost notes: {sorted(self.notes - inbox)[:5]}"
            for path in self.dice.sample(sorted(source), 3):
                assert_found(kb, word_of(source[path]), path)
            assert_once(kb)
            self._check_runs(kb)

    def settle(self) -> None:
        """One more run: what is stored and found is what an undisturbed run makes of the same files."""
        with self.open() as kb:
            kb.ingest(allow_mass_delete=True)
            source, inbox = stored(kb)
            assert source == self.texts
            assert self.notes <= inbox
            assert sick(kb.doctor(full=True)) == []
            for word in self.dead[-12:]:
                assert kb.search(word, mode=SearchMode.LEXICAL, exact=True).hits == ()
            for path in self.dice.sample(sorted(source), 3):
                assert_found(kb, word_of(source[path]), path, declared=False)
            self._check_runs(kb)
            self._compare(kb)
        self.settled, self.buried = dict(self.texts), list(self.dead)

    def _compare(self, kb: Kebab) -> None:
        """Ids are made from content, so an undisturbed run elsewhere has the same in store and indexes."""
        documents, words, vectors = legs(kb)
        assert documents == words == vectors
        with self.open(self.folder / "undisturbed") as fresh:
            fresh.ingest(allow_mass_delete=True)
            assert legs(fresh)[0] == documents - inbox_chunks(kb)

    def _check_runs(self, kb: Kebab) -> None:
        if self.runs:
            ids = [run.id for run in kb.memory.select(limit=None)]
            assert len(ids) == len(set(ids))
            assert self.runs <= set(ids), f"lost runs: {sorted(self.runs - set(ids))[:5]}"


def word_of(text: str) -> str:
    start = text.index("zq")
    return text[start : start + 9]


def stored(kb: Kebab) -> tuple[dict[str, str], set[str]]:
    """The stored texts of the notes by path, and the last lines of those of the inbox."""
    documents = kb.engines.reading.documents
    every = [(doc, documents.source_text(doc.doc_id) or "") for doc in kb.list_docs()]
    source = {doc.path: text for doc, text in every if doc.source_id != "inbox" and doc.path != SHEET}
    return source, {text.splitlines()[-1] for doc, text in every if doc.source_id == "inbox"}


def assert_found(kb: Kebab, word: str, path: str, *, declared: bool = True) -> None:
    """In every leg; or, where that is allowed, with a declaration that the leg is incomplete."""
    for mode in SearchMode:
        found = kb.search(word, mode=mode, k=50)
        complete = not (declared and found.degraded)
        assert not complete or path in {hit.doc_path for hit in found.hits}, (mode, word, path)


def assert_once(kb: Kebab) -> None:
    found = kb.search("rope 밧줄", k=50).hits
    assert len({hit.chunk_id for hit in found}) == len(found)


def legs(kb: Kebab) -> tuple[set[str], set[str], set[str]]:
    """The chunks of the store, of the words index and of the vector index."""
    embedder = kb.engines.embedder
    assert embedder is not None
    index = kb.engines.vector_index(ModelKey.of(embedder))
    words = kb.engines.lexical_index.chunk_ids()
    return set(kb.engines.reading.documents.chunk_ids()), set(words), set(index.chunk_ids())


def inbox_chunks(kb: Kebab) -> set[str]:
    inspected = [kb.inspect_doc(doc.doc_id) for doc in kb.list_docs() if doc.source_id == "inbox"]
    return {stored.chunk.chunk_id for document in inspected for stored in document.chunks}


def intact(store: Path) -> bool:
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))


def some(dice: random.Random, names: list[str]) -> Iterator[str]:
    """The names in random order, over and over: each comes as often as any other."""
    while True:
        yield from dice.sample(names, len(names))
