"""The words that the built-in model was trained with: what is among them is a word, whoever writes it."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

from kebab.adapters.embedders.static import SHIPPED

# What an English word may end with besides, and what then stands in its place.
_ENDINGS = (
    ("ies", "y"),
    ("ily", "y"),
    ("s", ""),
    ("es", ""),
    ("d", ""),
    ("ed", ""),
    ("ing", ""),
    ("ing", "e"),
    ("ly", ""),
)
_SHORTEST = 3


class ShippedWords:
    """Vocabulary of the pieces of kebab-static that begin a word. Read when a word is first asked for.

    Where the file cannot be read no word is known.
    """

    def __init__(self, folder: Path = SHIPPED) -> None:
        self._folder = folder

    def has(self, word: str) -> bool:
        lowered = word.lower()
        stems = (lowered.removesuffix(end) + put for end, put in _ENDINGS if lowered.endswith(end))
        return lowered in self._words or any(len(stem) >= _SHORTEST and stem in self._words for stem in stems)

    @cached_property
    def _words(self) -> frozenset[str]:
        # Without numpy: a search for words alone does not load it.
        try:
            about = json.loads((self._folder / "model.json").read_text("utf-8"))
            pieces = (self._folder / "pieces.txt").read_text("utf-8").split("\n")
        except (OSError, ValueError):
            return frozenset()
        return frozenset(pieces[: int(about["continuing"])])
