"""Markdown as a person reads it: link targets, callout marks, shortcodes and wikilinks cleaned away.

Only for the eye and for measuring: what is quoted stays as it stands in the source.
"""

from __future__ import annotations

import re

_CODE = re.compile(r"(?<!`)(`++)[^`\n]*+\1")
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"!\[\[[^\]\n]*\]\]", ""),  # an embedded picture or note
        (r"\[\[(?:[^\]|\n]*\|)?([^\]|\n]*)\]\]", r"\1"),
        (r"!\[[^\]\n]*\](?:\([^()\n]*\)|\[[^\]\n]*\])", ""),
        (r"\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)", r"\1"),
        (r"\[([^\[\]\n]+)\]\[[^\[\]\n]*\]", r"\1"),
        (r"\[\^[^\]\n]*\]", ""),
        (r"\[![\w-]+\][-+]?\s?", ""),  # the mark of a callout
        (
            r"\{\{[<%]\s*(?:\w*tooltip|\w*link|\w*definition)\b[^<>{}]*?\btext=\"([^\"\n]*)\"[^{}\n]*[>%]\}\}",
            r"\1",
        ),
        (r"\{\{[<%#/]?[^{}\n]*\}\}", ""),
        (r"\{%[^{}\n]*%\}", ""),
        (r"\{[#.:][^{}\n]*\}", ""),
        (r"^\s*(?:>\s?)+", ""),
        (r"^:::+ ?\w*\s*", ""),
        (r"^:\s+", ""),  # what a list of definitions says of its term
        (r"^\s*\[[ xX]\]\s", ""),
        (r"</?[a-zA-Z][^<>\n]*>", ""),
        (r"(?<![\w*])\*\*(?=\S)([^*\n]+)\*\*", r"\1"),
        (r"(?<![\w*])\*(?=\S)([^*\n]+)\*(?!\w)", r"\1"),
        (r"(?<!\w)__?(?=\S)([^_\n]+?)__?(?!\w)", r"\1"),
        (r"~~([^~\n]+)~~", r"\1"),
        (r"==([^=\n]+)==", r"\1"),
        (r"<((?:https?|mailto)[^<>\s]+)>", r"\1"),
        (r"\s\^[\w-]+$", ""),
        (r"\\([\\`*_{}\[\]()#+.!|<>-])", r"\1"),
    )
)
_LONGEST = 1500
_MARKED = re.compile(r"[\[\]{}<>*_~=\\^|]|^\s*:")
_SPACES = re.compile(r"\s+")
_BEFORE_SIGN = re.compile(r" ([.,;:!?](?: |$))")


def readable(text: str) -> str:
    """One line of text without markup; code between backticks is kept as it is.

    Of a text longer than any passage only the spaces are cleaned.
    """
    if len(text) > _LONGEST or not _MARKED.search(text):
        return _SPACES.sub(" ", text).strip()
    parts: list[str] = []
    begin = 0
    kept: list[str] = []
    for found in _CODE.finditer(text):
        parts.append(text[begin : found.start()])
        parts.append(f"\x00{len(kept)}\x00")
        kept.append(found[0])
        begin = found.end()
    plain = "".join((*parts, text[begin:]))
    for pattern, replacement in _RULES:
        plain = pattern.sub(replacement, plain)
    plain = _BEFORE_SIGN.sub(r"\1", _SPACES.sub(" ", plain)).strip()
    return re.sub(r"\x00(\d+)\x00", lambda mark: kept[int(mark[1])], plain)
