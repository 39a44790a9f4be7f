"""Changes in folders, told by comparing what is there: no threads, no waiting."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Step = Callable[[], object]


def _state(path: str) -> tuple[int, ...]:
    """What differs after a change; a folder's own time is none, since its entries are told themselves."""
    found = os.lstat(path)
    return (found.st_ino,) if os.path.isdir(path) else (found.st_ino, found.st_size, found.st_mtime_ns)


def snapshot(roots: Sequence[Path]) -> dict[str, tuple[int, ...]]:
    return {
        path: _state(path)
        for root in roots
        for folder, folders, files in os.walk(root)
        for name in (*folders, *files)
        if os.path.lexists(path := os.path.join(folder, name))
    }


@dataclass
class FakeFolderEvents:
    """Makes a step of a script before each batch but the first; ``done`` after the last one."""

    script: list[Step] = field(default_factory=list)
    quiet: int = 2
    """How many empty batches follow the script."""
    roots: list[list[Path]] = field(default_factory=list)
    """What was watched, each time."""
    done: bool = False

    def batches(self, roots: Sequence[Path], *, stopped: Callable[[], bool]) -> Iterator[frozenset[str]]:
        self.roots.append(list(roots))
        before = snapshot(roots)
        yield frozenset()
        while not stopped():
            self._step()
            now = snapshot(roots)
            yield frozenset(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
            before = now

    def _step(self) -> None:
        if self.script:
            self.script.pop(0)()
        elif self.quiet:
            self.quiet -= 1
        else:
            self.done = True
