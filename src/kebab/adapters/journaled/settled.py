"""What has settled: an index of words and files of vectors, both up to one place, written in large steps.

Files only grow or are replaced whole, and a manifest that is renamed into place says how much of them counts:
readers need no lock, and a writer that is killed leaves the last step as it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from kebab.adapters.execution_words import TantivyExecutionWords, WordsDocument
from kebab.disk.private import make_folder, open_private, replacing
from kebab.errors import Corrupt
from kebab.ports import MemoryEntry, VectorSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CHANGING = (".lock", "meta.json", ".managed.json")


class SpaceFile(msgspec.Struct):
    """The vectors of one model: rows of float32 of length 1, and the places they belong to, ascending."""

    model: str
    dimensions: int
    name: str
    rows: int
    blocks: list[tuple[int, int]]
    """For each step the number of rows and the checksum over both files' parts."""


class Manifest(msgspec.Struct):
    upto: int = 0
    tokens: int = 0
    """Terms of all records, repeated ones too."""
    spaces: list[SpaceFile] = []
    words: dict[str, tuple[int, int]] = {}
    """Size and checksum of each file of the index of words that does not change."""


class Settled:
    """The settled part of one kind of record, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = Manifest()
        self._seen: tuple[int, int] | None = None
        self._words: TantivyExecutionWords | None = None
        self._maps: dict[VectorSpace, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}

    def refresh(self) -> None:
        """See what was settled since. Raises Corrupt where the manifest cannot be read."""
        try:
            status = (self.folder / "manifest.json").stat()
        except FileNotFoundError:
            self.manifest, self._seen = Manifest(), None
            return
        if (status.st_ino, status.st_mtime_ns) == self._seen:
            return
        try:
            self.manifest = msgspec.json.decode((self.folder / "manifest.json").read_bytes(), type=Manifest)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Corrupt(f"the memory's settled index cannot be read: {error}") from error
        self._seen = (status.st_ino, status.st_mtime_ns)
        self._maps.clear()
        if self._words is not None:
            self._words.reload()

    @property
    def words(self) -> TantivyExecutionWords | None:
        """The index of words; None while nothing has settled."""
        if self.manifest.upto == 0:
            return None
        if self._words is None:
            self._words = TantivyExecutionWords(self.folder / "words")
        return self._words

    def vectors(self, space: VectorSpace) -> tuple[NDArray[np.int64], NDArray[np.float32]] | None:
        """Places and vectors of one model, mapped into memory."""
        import numpy as np

        file = self._space(space)
        if file is None or file.rows == 0:
            return None
        if space not in self._maps:
            shape = (file.rows, file.dimensions)
            path = self.folder / file.name
            try:
                places = np.fromfile(path.with_suffix(".seq"), dtype="<i8", count=file.rows)
                rows = np.memmap(path, dtype="<f4", mode="r", shape=shape)
            except (OSError, ValueError) as error:
                raise Corrupt(f"the memory's vectors cannot be read: {error}") from error
            self._maps[space] = (places, rows)
        return self._maps[space]

    def extend(
        self,
        upto: int,
        documents: Sequence[WordsDocument],
        vectors: Iterable[tuple[VectorSpace, int, bytes]],
        *,
        dead: Sequence[int],
    ) -> None:
        """Settle records up to a place; ``dead`` places leave the index of words."""
        make_folder(self.folder)
        by_space: dict[VectorSpace, list[tuple[int, bytes]]] = {}
        for space, place, content in vectors:
            by_space.setdefault(space, []).append((place, content))
        spaces = {VectorSpace(file.model, file.dimensions): file for file in self.manifest.spaces}
        for space, rows in by_space.items():
            spaces[space] = self._appended(spaces.get(space) or self._new_file(space, len(spaces)), rows)
        words = self._words or TantivyExecutionWords(self.folder / "words")
        words.apply(documents, removed=[str(place) for place in dead])
        self._words = words
        tokens = self.manifest.tokens + sum(document.terms.count(" ") + 1 for document in documents)
        self._publish(Manifest(upto, tokens, list(spaces.values()), self._checksums()))

    def faults(self) -> list[str]:
        """What of these files is not as it was written."""
        found = []
        for name, (size, checksum) in self.manifest.words.items():
            path = self.folder / "words" / name
            if not path.is_file() or (path.stat().st_size, crc32(path.read_bytes())) != (size, checksum):
                found.append(f"words/{name}")
        return found + [file.name for file in self.manifest.spaces if not self._sound(file)]

    def _space(self, space: VectorSpace) -> SpaceFile | None:
        named = (space.model, space.dimensions)
        return next((each for each in self.manifest.spaces if (each.model, each.dimensions) == named), None)

    def _new_file(self, space: VectorSpace, number: int) -> SpaceFile:
        return SpaceFile(space.model, space.dimensions, f"vectors-{number}.f32", 0, [])

    def _appended(self, file: SpaceFile, rows: Sequence[tuple[int, bytes]]) -> SpaceFile:
        import numpy as np

        block = np.frombuffer(b"".join(content for _, content in rows), dtype="<f4")
        block = block.reshape(len(rows), file.dimensions)
        lengths = np.linalg.norm(block, axis=1, keepdims=True)
        content = (block / np.where(lengths == 0, 1, lengths)).astype("<f4").tobytes()
        places = np.array([place for place, _ in rows], dtype="<i8").tobytes()
        path = self.folder / file.name
        # What lies behind the rows that count was left by a writer that was killed.
        _extended(path, content, at=file.rows * file.dimensions * 4)
        _extended(path.with_suffix(".seq"), places, at=file.rows * 8)
        blocks = [*file.blocks, (len(rows), crc32(places, crc32(content)))]
        return SpaceFile(file.model, file.dimensions, file.name, file.rows + len(rows), blocks)

    def _sound(self, file: SpaceFile) -> bool:
        path, row = self.folder / file.name, 0
        try:
            with path.open("rb") as vectors, path.with_suffix(".seq").open("rb") as places:
                for rows, checksum in file.blocks:
                    content = vectors.read(rows * file.dimensions * 4)
                    if crc32(places.read(rows * 8), crc32(content)) != checksum:
                        return False
                    row += rows
        except OSError:
            return False
        return row == file.rows

    def _checksums(self) -> dict[str, tuple[int, int]]:
        """Of each file once: the index of words never changes a file, it writes others."""
        found = {}
        for path in sorted((self.folder / "words").iterdir()):
            if not path.name.endswith(_CHANGING):
                size = path.stat().st_size
                known = self.manifest.words.get(path.name)
                found[path.name] = known if known and known[0] == size else (size, crc32(path.read_bytes()))
        return found

    def _publish(self, manifest: Manifest) -> None:
        with replacing(self.folder / "manifest.json") as file:
            file.write(msgspec.json.encode(manifest))
        self._seen = None
        self.refresh()


def entry_of(row: Sequence[object], labels: Sequence[tuple[str, str]], *, text: str = "") -> MemoryEntry:
    """What the index of words needs of a row of ``records``."""
    from kebab.adapters.journaled.queries import moment

    return MemoryEntry(
        id=str(row[2]),
        text=text,
        agent_id=str(row[3] or ""),
        agent_role=None if row[4] is None else str(row[4]),
        task_type=str(row[5] or ""),
        provider=str(row[6] or ""),
        success=bool(row[7]),
        cost_cents=float(row[10] or 0),  # type: ignore[arg-type]
        finished_at=moment(int(row[12])),  # type: ignore[call-overload]
        expires_at=None if row[13] is None else moment(int(row[13])),  # type: ignore[call-overload]
        labels=tuple(labels),
    )


def _extended(path: Path, content: bytes, *, at: int) -> None:
    with os.fdopen(open_private(path, create=True, write=True), "r+b") as file:
        file.truncate(at)
        file.seek(at)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
