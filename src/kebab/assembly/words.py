"""Which words index the settings choose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kebab.assembly.choice import chosen
from kebab.assembly.installed import require
from kebab.ports import Analyzer, LexicalIndex


def build_lexical_index(engine: str, folder: Path, analyzer: Analyzer) -> LexicalIndex:
    """The index of an engine in the folder of all indexes."""
    builders: dict[str, Callable[[], LexicalIndex]] = {
        "tantivy": lambda: _tantivy(folder, analyzer),
        "fts5": lambda: _fts5(folder, analyzer),
        "lance": lambda: _lance(folder, analyzer),
    }
    return chosen(builders, engine, key="search.lexical_engine")()


def _tantivy(folder: Path, analyzer: Analyzer) -> LexicalIndex:
    from kebab.adapters.tantivy_lexical import TantivyLexicalIndex

    return TantivyLexicalIndex(folder / "tantivy", analyzer)


def _fts5(folder: Path, analyzer: Analyzer) -> LexicalIndex:
    from kebab.adapters.fts5_lexical import Fts5LexicalIndex

    return Fts5LexicalIndex(folder / "fts5.sqlite", analyzer)


def _lance(folder: Path, analyzer: Analyzer) -> LexicalIndex:
    from kebab.adapters.lance_lexical import LanceLexicalIndex

    require("lance", "this words index needs Lance", extra="lance")
    return LanceLexicalIndex(folder / "lance-words", analyzer)
