"""SidecarExecutionIndex: words and vectors beside the store, in a folder that may be deleted at any time."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from kebab.adapters.execution_index.vectors import SqliteExecutionVectors
from kebab.adapters.execution_words import TantivyExecutionWords, WordsDocument
from kebab.disk.data_folder import tighten_tree
from kebab.domain.executions import ExecutionFilters
from kebab.domain.fusion import Ranked
from kebab.errors import Corrupt, EngineUnavailable
from kebab.ports import Analyzer, Frequencies, MemoryChanges, VectorSpace

LAYOUT = "sidecar-3"


class SidecarExecutionIndex:
    """FollowerIndex over tantivy, SQLite and numpy.

    ``folder`` is asked for on first use: it is named after the store, so that another store never meets
    another's index. An index of another layout or analyzer, or one that cannot be read, starts anew.
    """

    def __init__(self, folder: Callable[[], Path], *, analyzer: Analyzer) -> None:
        self._where = folder
        self._analyzer = analyzer
        self._parts: tuple[TantivyExecutionWords, SqliteExecutionVectors] | None = None
        self._guard = threading.RLock()

    @property
    def version(self) -> str:
        return f"{LAYOUT}:{self._analyzer.version}"

    def position(self) -> int:
        _, vectors = self._opened()
        return int(vectors.note("position") or 0)

    def apply(self, changes: MemoryChanges) -> None:
        # Words first: the position is written with the vectors, so a crash in between repeats the words.
        with self._guard:
            words, vectors = self._opened()
            documents = [
                WordsDocument(entry.id, self._analyzer.index_text(entry.text), entry)
                for entry in changes.entries
            ]
            words.apply(documents, removed=changes.removed)
            notes = {"position": str(changes.upto), "version": self.version}
            vectors.apply(changes.entries, removed=changes.removed, notes=notes)
            tighten_tree(self._where())

    def words(self, text: str, *, filters: ExecutionFilters, limit: int) -> list[Ranked]:
        index = self._opened()[0]
        index.reload()
        return index.search(self._analyzer.query_weights(text), filters=filters, limit=limit)

    def frequencies(self, terms: Collection[str]) -> Frequencies:
        return self._opened()[0].frequencies(terms)

    def held(self, texts: Mapping[str, str], terms: Collection[str]) -> dict[str, set[str]]:
        return {key: self._analyzer.held(text, terms) for key, text in texts.items()}

    def nearest(
        self, vector: Sequence[float], *, space: VectorSpace, filters: ExecutionFilters, limit: int
    ) -> list[Ranked]:
        return self._opened()[1].nearest(vector, space=space, filters=filters, limit=limit)

    def spaces(self) -> dict[VectorSpace, int]:
        return self._opened()[1].spaces()

    def clear(self) -> None:
        with self._guard:
            if self._parts is not None:
                self._parts[1].close()
                self._parts = None
            shutil.rmtree(self._where(), ignore_errors=True)

    def _opened(self) -> tuple[TantivyExecutionWords, SqliteExecutionVectors]:
        with self._guard:
            if self._parts is None:
                self._parts = self._open()
            return self._parts

    def _open(self) -> tuple[TantivyExecutionWords, SqliteExecutionVectors]:
        try:
            if not self._usable():
                self.clear()
            return self._open_parts()
        except (Corrupt, EngineUnavailable):
            self.clear()
            return self._open_parts()

    def _usable(self) -> bool:
        folder = self._where()
        if not (folder / "vectors.db").is_file() or not TantivyExecutionWords.exists(folder / "words"):
            return False
        vectors = SqliteExecutionVectors(folder / "vectors.db")
        version = vectors.note("version")
        vectors.close()
        return version == self.version

    def _open_parts(self) -> tuple[TantivyExecutionWords, SqliteExecutionVectors]:
        folder = self._where()
        words = TantivyExecutionWords(folder / "words")
        return words, SqliteExecutionVectors(folder / "vectors.db")
