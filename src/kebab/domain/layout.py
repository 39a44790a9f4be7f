"""Where each thing lies in the data folder."""

from __future__ import annotations

from pathlib import Path

from kebab.domain.values import dataclass


@dataclass(frozen=True, slots=True)
class DataLayout:
    """The data folder of one knowledge base. Nothing here says that a file or folder exists."""

    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / "kebab.sqlite"

    @property
    def database_files(self) -> tuple[Path, ...]:
        """The file and what its engine writes beside it."""
        file = self.database
        return file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")

    @property
    def lock(self) -> Path:
        return self.folder / "writer.lock"

    @property
    def index(self) -> Path:
        return self.folder / "index"

    @property
    def vectors(self) -> Path:
        return self.index / "vectors"

    @property
    def models(self) -> Path:
        """What fastembed downloaded."""
        return self.folder / "models"

    @property
    def registered_models(self) -> Path:
        return self.folder / "models.json"

    @property
    def inbox(self) -> Path:
        """Texts and files that belong to no source."""
        return self.folder / "inbox"

    @property
    def recognised(self) -> Path:
        """What was read from images and heard in recordings: a cache."""
        return self.folder / "ocr"

    @property
    def shell(self) -> Path:
        """The sockets by which commands reach open processes."""
        return self.folder / "shell"

    @property
    def memory(self) -> Path:
        """The execution memory: its embedded store, and the indexes of whichever store is used."""
        return self.folder / "memory"
