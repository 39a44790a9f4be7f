"""How people name what stands in source code: languages by their short names, symbols by their ends."""

from __future__ import annotations

from functools import lru_cache

from kebab.domain.ids import nfc

_LANGUAGES = {
    "py": "python", "js": "javascript", "jsx": "javascript", "ts": "typescript", "tsx": "typescript",
    "golang": "go", "rs": "rust", "kt": "kotlin", "c++": "cpp", "cxx": "cpp", "c#": "csharp", "cs": "csharp",
    "rb": "ruby", "sh": "shell", "bash": "shell", "zsh": "shell",
}  # fmt: skip


def code_lang(name: str) -> str:
    """A programming language as documents name it: ``C++`` and ``cpp`` are ``cpp``."""
    return _LANGUAGES.get(name.lower(), name.lower())


def names_symbol(pattern: str, symbol: str) -> bool:
    """Whether a pattern names a symbol: the whole or its end after a dot, in any case; ``*`` is any text."""
    parts = _parts(pattern)
    low = symbol.casefold()
    starts = [0, *(at + 1 for at, sign in enumerate(low) if sign == ".")]
    return any(_fits(parts, low[start:]) for start in starts)


@lru_cache(maxsize=256)
def _parts(pattern: str) -> tuple[str, ...]:
    """What stands between the stars; ``::`` and ``#`` are dots to whoever comes from C++ or Ruby."""
    return tuple(nfc(pattern).replace("::", ".").replace("#", ".").casefold().split("*"))


def _fits(parts: tuple[str, ...], text: str) -> bool:
    """Each part is taken where it first stands, so that any number of stars takes linear time."""
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return text == first
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in parts[1:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
