"""From the paths a person names to the sources they belong to."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from kebab.domain.ids import nfc
from kebab.errors import InvalidInput
from kebab.ingest.scan import SourceFolder, above


@dataclass(frozen=True, slots=True)
class Target:
    """A source, or some files and folders of it."""

    source: SourceFolder
    under: tuple[str, ...] = ()
    """POSIX, NFC, relative to the source's root, none below another; empty for the whole of it."""


def find_targets(
    paths: Sequence[Path], sources: Sequence[SourceFolder], *, adopt: Callable[[Path], Target | None]
) -> list[Target]:
    """One target a source, in the order of the paths; a file outside every source is given to ``adopt``.

    Raises InvalidInput for a folder, or a file that does not exist, outside every source.
    """
    roots = _roots(sources)
    found: dict[str, tuple[SourceFolder, dict[str, None]]] = {}
    for path in paths:
        absolute = Path(os.path.abspath(path.expanduser()))
        target = _inside(absolute, roots) or _inside(absolute.resolve(), roots)
        if target is None:
            target = adopt(_outside(absolute))
        if target is not None:
            found.setdefault(target.source.id, (target.source, {}))[1].update(dict.fromkeys(target.under))
    return [Target(source, _uncovered(under)) for source, under in found.values()]


def _roots(sources: Sequence[SourceFolder]) -> list[tuple[Path, SourceFolder]]:
    """Every folder of a source, as it is named and as it is found, the innermost first."""
    inner_first = sorted(sources, key=lambda source: -len(source.root.parts))
    return [(root, source) for source in inner_first for root in (source.root, source.root.resolve())]


def _inside(path: Path, roots: Sequence[tuple[Path, SourceFolder]]) -> Target | None:
    """The innermost source that holds the path."""
    for root, source in roots:
        if path.is_relative_to(root):
            under = path.relative_to(root).as_posix()
            return Target(source, ("" if under == "." else nfc(under),))
    return None


def _outside(path: Path) -> Path:
    if path.is_dir():
        raise InvalidInput(
            f"the folder {path} belongs to no source", hint="name it in the configuration, under [[sources]]"
        )
    if not path.is_file():
        raise InvalidInput(f"there is no file at {path}")
    return path


def _uncovered(paths: Collection[str]) -> tuple[str, ...]:
    """The paths without those below another of them, or none where the whole source is among them."""
    if "" in paths:
        return ()
    return tuple(path for path in paths if not any(folder in paths for folder in above(path)))
