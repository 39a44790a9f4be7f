"""Which formats are left out here, and why."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kebab.ingest.parse.code_languages import LANGUAGES

if TYPE_CHECKING:
    from kebab.config import Settings

_ENGINES = ("tree_sitter", "tree_sitter_language_pack")


def unread_formats(settings: Settings) -> Mapping[str, str]:
    """Extensions that kebab knows and does not read here, each with the reason. No engine is loaded.

    Known before a file is opened: a folder of notes may hold ten thousand files of source code.
    """
    reason = _why_no_code(settings)
    return dict.fromkeys(LANGUAGES, reason) if reason else {}


def _why_no_code(settings: Settings) -> str | None:
    if not settings.ingest.code:
        return "source code: ingest.code is off"
    if not all(map(find_spec, _ENGINES)):
        return "source code needs tree-sitter, which is not installed: pip install 'kebab[code]'"
    return None
