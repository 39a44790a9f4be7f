"""From a path that a caller names to a file of a source: nothing else on the disk can be named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kebab.config.sections import Source
from kebab.errors import InvalidInput


def source_file(sources: Iterable[Source], path: str) -> Path:
    """The file of a source at this path, absolute or relative to the source.

    Links are followed before the place is judged. Raises InvalidInput, in the same words whether or not there
    is a file outside, so that nobody learns what else is on the disk.
    """
    for root, candidate in _candidates(sources, path):
        try:
            file = candidate.resolve()
            if file.is_relative_to(root.resolve()) and file.is_file():
                return file
        except (OSError, ValueError, RuntimeError):  # too long, a NUL, a loop of links
            continue
    raise InvalidInput(
        f"no source has a file at {path[:200]!r}",
        hint="name a file inside a source, or store its text with ingest_text",
    )


def _candidates(sources: Iterable[Source], path: str) -> Iterator[tuple[Path, Path]]:
    named = Path(path)
    for source in sources:
        root = Path(source.root)
        yield root, named if named.is_absolute() else root / named
