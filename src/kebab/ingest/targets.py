"""From the paths a person names to the sources they belong to."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kebab.domain.ids import nfc
from kebab.errors import InvalidInput
from kebab.ingest.scan import SourceFolder


@dataclass(frozen=True, slots=True)
class Target:
    """A source, or one file or folder of it."""

    source: SourceFolder
    under: str = ""
    """POSIX, NFC, relative to the source's root; empty for the whole of it."""


def find_targets(
    paths: Sequence[Path], sources: Sequence[SourceFolder], *, adopt: Callable[[Path], Target | None]
) -> list[Target]:
    """One target a path, each once; a file outside every source is given to ``adopt``.

    Raises InvalidInput for a folder, or a file that does not exist, outside every source.
    """
    targets: dict[tuple[str, str], Target] = {}
    for path in paths:
        absolute = Path(os.path.abspath(path.expanduser()))
        target = _inside(absolute, sources) or _inside(absolute.resolve(), sources)
        if target is None:
            target = adopt(_outside(absolute))
        if target is not None:
            targets.setdefault((target.source.id, target.under), target)
    return [target for target in targets.values() if not _is_covered(target, targets)]


def _inside(path: Path, sources: Sequence[SourceFolder]) -> Target | None:
    """The innermost source that holds the path."""
    for source in sorted(sources, key=lambda source: -len(source.root.parts)):
        for root in (source.root, source.root.resolve()):
            if path.is_relative_to(root):
                under = path.relative_to(root).as_posix()
                return Target(source, "" if under == "." else nfc(under))
    return None


def _outside(path: Path) -> Path:
    if path.is_dir():
        raise InvalidInput(
            f"the folder {path} belongs to no source", hint="name it in the configuration, under [[sources]]"
        )
    if not path.is_file():
        raise InvalidInput(f"there is no file at {path}")
    return path


def _is_covered(target: Target, targets: dict[tuple[str, str], Target]) -> bool:
    """True when a folder above is named as well: each file is looked at once."""
    parts = target.under.split("/")
    above = ["/".join(parts[:depth]) for depth in range(len(parts))] if target.under else []
    return any((target.source.id, folder) in targets for folder in above)
