"""A reader of source code without a grammar."""

from __future__ import annotations

import re

from kebab.ports import Definition, Outline

_DEF = re.compile(r"( *)(?:def|class) (\w+)")


class FakeCodeReader:
    """Finds what it was told to find; told nothing, what Python indents under ``def`` and ``class``."""

    def __init__(self, *definitions: Definition) -> None:
        self._definitions = definitions

    def outline(self, text: str, *, grammar: str) -> Outline:
        return Outline(self._definitions or tuple(_indented(text.split("\n"))))


def _indented(lines: list[str]) -> list[Definition]:
    found: list[Definition] = []
    open_: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        match = _DEF.match(line)
        if match is None:
            continue
        depth = len(match[1])
        open_ = [(at, name) for at, name in open_ if at < depth] + [(depth, match[2])]
        found.append(Definition(tuple(name for _, name in open_), number, _end(lines, number, depth)))
    return found


def _end(lines: list[str], start: int, depth: int) -> int:
    end = start
    for number in range(start + 1, len(lines) + 1):
        line = lines[number - 1]
        if line.strip() and len(line) - len(line.lstrip()) <= depth:
            break
        end = number if line.strip() else end
    return end
