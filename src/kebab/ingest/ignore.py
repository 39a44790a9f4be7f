"""Ignore rules: gitignore syntax from the configuration and from every ignore file on the way down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.errors import ConfigInvalid

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# In one folder the first that decides wins: what a person wrote for kebab stands over what is meant for git.
IGNORE_FILES = (".kebabignore", ".gitignore")
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class _RuleSet:
    spec: GitIgnoreSpec
    prefix: int
    """Length of the path, relative to the root, of the folder that the patterns are relative to."""
    reason: str


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rule sets that hold in one folder, deepest first: the first that has an opinion decides."""

    _sets: tuple[_RuleSet, ...]

    @classmethod
    def from_patterns(cls, patterns: Sequence[str]) -> IgnoreRules:
        """The configured patterns, relative to the root. Raises ConfigInvalid for one that cannot be read."""
        try:
            spec = _compiled(tuple(patterns))
        except ValueError as error:
            raise ConfigInvalid(f"exclude: not a gitignore pattern: {error}") from error
        return cls((_RuleSet(spec, 0, "excluded by the configuration"),))

    def entering(self, folder: Path, relative: str, present: Sequence[str]) -> IgnoreRules:
        """The rules inside a folder, where ``present`` names the ignore files that it holds."""
        added = tuple(
            _RuleSet(_from_file(folder / name), len(relative), f"ignored by {name}")
            for name in IGNORE_FILES
            if name in present
        )
        return IgnoreRules(added + self._sets) if added else self

    def reason(self, relative: str) -> str | None:
        """Why a path is left out, or None. A folder's path ends with a slash."""
        for rules in self._sets:
            verdict = rules.spec.check_file(relative[rules.prefix :], ()).include
            if verdict is not None:
                return rules.reason if verdict else None
        return None


def _from_file(path: Path) -> GitIgnoreSpec:
    """The rules of a file; a line that is no pattern is passed over, as git does."""
    try:
        with path.open("rb") as file:
            lines = file.read(_MAX_BYTES).decode("utf-8-sig", "replace").splitlines()
    except OSError:
        lines = []
    try:
        return _compiled(tuple(lines))
    except ValueError:
        return _compiled(tuple(line for line in lines if _is_pattern(line)))


def _is_pattern(line: str) -> bool:
    try:
        _compiled((line,))
    except ValueError:
        return False
    return True


@lru_cache(maxsize=512)
def _compiled(lines: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)
