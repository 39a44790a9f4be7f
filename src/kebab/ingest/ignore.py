"""Ignore rules: gitignore syntax from the configuration and from every ignore file on the way down.

The walk goes from the top down and never enters a folder that is left out, so a rule is asked about an entry
itself, as git asks, and not about the folders above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kebab.domain.ids import nfc
from kebab.errors import ConfigInvalid
from kebab.ingest.gitignore import Rule, read_rule

# In one folder the first that decides wins: what a person wrote for kebab stands over what is meant for git.
_FOR_KEBAB = ".kebabignore"
IGNORE_FILES = (_FOR_KEBAB, ".gitignore")
_MAX_BYTES = 1 << 20

Rules = tuple[Rule, ...]
"""The last first."""


@dataclass(frozen=True, slots=True)
class _RuleSet:
    rules: Rules
    prefix: int
    """Length of the path, relative to the root, of the folder that the patterns are relative to."""
    reason: str
    for_kebab: bool

    def verdict(self, relative: str) -> bool | None:
        """Whether the last pattern that matches leaves the path out; None when none does."""
        path = relative[self.prefix :]
        return next((rule.leaves_out for rule in self.rules if rule.is_about(path)), None)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rule sets that hold in one folder, deepest first: the first that has an opinion decides.

    The configuration comes last, and what it leaves out only a .kebabignore takes back: a .gitignore that
    ignores everything but some kinds of files (``*``, ``!*/``, ``!*.md``) takes back every hidden folder.
    """

    _sets: tuple[_RuleSet, ...]
    _configured: _RuleSet

    @classmethod
    def from_patterns(cls, patterns: Sequence[str]) -> IgnoreRules:
        """The configured patterns, relative to the root. Raises ConfigInvalid for one that cannot be read."""
        try:
            rules = _read(tuple(patterns))
        except ValueError as error:
            raise ConfigInvalid(f"exclude: not a gitignore pattern: {error}") from error
        return cls((), _RuleSet(rules, 0, "excluded by the configuration", for_kebab=True))

    def entering(self, folder: Path, relative: str, present: Sequence[str]) -> IgnoreRules:
        """The rules inside a folder, where ``present`` names the ignore files that it holds."""
        added = tuple(
            _RuleSet(_from_file(folder / name), len(relative), f"ignored by {name}", name == _FOR_KEBAB)
            for name in IGNORE_FILES
            if name in present
        )
        return IgnoreRules(added + self._sets, self._configured) if added else self

    def reason(self, relative: str) -> str | None:
        """Why a path is left out, or None. A folder's path ends with a slash."""
        for rules in self._sets:
            verdict = rules.verdict(relative)
            if verdict:
                return rules.reason
            if verdict is not None and rules.for_kebab:
                return None
            if verdict is not None:
                break
        return self._configured.reason if self._configured.verdict(relative) else None


def _from_file(path: Path) -> Rules:
    """The rules of a file; a line that is no pattern is passed over, as git does."""
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ()
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return _read(tuple(filter(_is_pattern, lines)))


def _is_pattern(line: str) -> bool:
    try:
        read_rule(line)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=512)
def _read(lines: tuple[str, ...]) -> Rules:
    """The rules of some lines, the last first. Raises ValueError for a line that is no pattern."""
    # Composed like the paths they are compared with: an editor on macOS may have written them decomposed.
    return tuple(rule for line in reversed(lines) if (rule := read_rule(nfc(line))))
