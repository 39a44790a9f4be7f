"""What engines made of files before: kept in a folder, by the content of the file and by what read it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kebab.disk.private import make_folder, replacing


@dataclass(frozen=True, slots=True)
class Kept:
    """Values of JSON by key. A folder that cannot be read or written is passed over."""

    folder: Path

    def read(self, key: str) -> object | None:
        """None where nothing is kept."""
        try:
            found: object = json.loads(self._file(key).read_bytes())
        except (OSError, ValueError):
            return None
        return found

    def write(self, key: str, value: object) -> None:
        try:
            make_folder(self.folder)
            with replacing(self._file(key)) as held:
                held.write(json.dumps(value, ensure_ascii=False).encode())
        except OSError:
            return

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"
