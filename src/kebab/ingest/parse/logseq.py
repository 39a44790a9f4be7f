"""Logseq's page properties: lines such as ``tags:: rope, [[deep sea]]`` at the top of a page."""

from __future__ import annotations

import re

_PROPERTY = re.compile(r"(?:- )?([A-Za-z][\w-]{0,40}):: {0,9}(.{0,1000})")
_MOST = 30
_TAGS = frozenset({"tags", "tag"})
"""Read wherever they stand in a note, see ``inline_tags``."""
_LISTS = frozenset({"alias", "aliases"})


def page_properties(text: str) -> dict[str, object]:
    """The properties by name, aliases as a list; empty for a text that does not begin with one."""
    values: dict[str, object] = {}
    for line in text.lstrip("\n").split("\n", _MOST)[:_MOST]:
        found = _PROPERTY.fullmatch(line.rstrip())
        if found is None:
            break
        name, value = found[1].lower(), found[2].strip()
        if name in _TAGS:
            continue
        values[name] = [_plain(part) for part in value.split(",")] if name in _LISTS else _plain(value)
    return values


def _plain(value: str) -> str:
    """Without the marks of a link or a tag."""
    return value.strip().removeprefix("#").removeprefix("[[").removesuffix("]]").strip()
