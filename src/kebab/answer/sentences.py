"""Cutting a chunk's Markdown into sentences that can be quoted with their own lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from kebab.domain.values import dataclass

_FENCE = re.compile(r"^\s*(```+|~~~+)")
# Possessive, and the rule of a table apart: a long line of spaces and bars is read once, not once a bar.
_SKIPPED = re.compile(
    r"^(?:\s*+(?:<[/!a-zA-Z]|\{\{#|\[[^\]]+\]:\s|[-*_=]{3,}\s*$|:{3,}|!{3}\s)|(?=[\s:|-][\s:-]*+\|)[\s:|-]++$)"
)
_TAG = re.compile(r"^\s*+<[a-zA-Z]")
RULER = re.compile(r"^[\s:|]*+-[\s:|-]*+$")
"""The line below the head of a table."""
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
ITEM = re.compile(r"^\s*([-*+]|\d{1,3}[.)])\s+")
_DEEP = ("    ", "\t")
# What indented lines are a part of: an item, a definition, a box, a fence, a footnote.
_HOLDS = re.compile(r"^\s*(?:[-*+]\s|\d{1,3}[.)]\s|:|!!!|\?\?\?|===|```|~~~|\[[^\]]+\]:|<)")
_SPOKEN = 3
"""Spaces in a line from which it may be a sentence."""
_CODE = re.compile(r"`[^`]*`")
# What a list of links says of one: "[Why?](…) - A talk.".
_DESCRIBED = re.compile(r"\s{1,3}(?:[-–—:]|\()")
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\([^()\s]{1,300}\)")
_QUOTED = re.compile(r"^(?:\s*+>\s?)+")
# A sentence ends at its sign and a space; Korean sentences end the same way. A quote or bracket may follow.
_END = re.compile(r"(?:(?<!\s)\.|[!?。！？])[\"'”’)\]*_`]*(?=\s)|(?<=[다요죠까])\.(?=[\"'”’)]*\s)")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|cf|vs|Mr|Mrs|Ms|Dr|Prof|No|Fig|Eq|approx|[A-Z])\.$|(?:^|:\s)\d{1,2}\.$"
)
_LONGEST_ABBREVIATION = 8
_NARROW = 50
"""Columns below which nobody wraps prose."""
_WIDEST = 3
"""Widths at which a paragraph may have been broken: the widest lines may stand out."""
_CARRIED = 3
"""Of so many lines, one that begins a sentence and does not end it shows that all of them are prose."""
_NEARLY_ALL, _NOTE = 0.8, 40
"""Share of the lines of such prose that end a sentence, and columns of a line that is more than a note."""
_ENDED = re.compile(r"[.!?。！？][\"'”’)\]*_`]*\s*$|[다요죠까]\W*$")
_STARTS = re.compile(
    r"^\s*(?:[A-Z0-9`*\"'“‘(\[<#$€₩~:]"
    r"|[a-z]{3,9}\.? \d{1,2}\b|[\w /-]{1,24}:\s|[^\x00-\x7f])"
)
# What runs on into the next line.
_GOES_ON = re.compile(
    r"(?:[,(\[{;/&+-]|\b(?:the|an?|of|to|and|or|in|on|at|for|with|by|as|is|are|be|that|which|from|than|into|via|not)"
    r"|[서고며면는은을를의에와과로도]|및|또는|그리고|하지만)\s*$",
    re.IGNORECASE,
)
# "버전 1.2.0. 부터": a particle never begins a sentence, so the sign before it ends none.
_PARTICLE = re.compile(r"\s+(?:부터|까지|이상|이하|이전|이후|미만|버전|에서|으로|에는)(?=[\s,.]|$)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text`` stands in the source as it is, but for line breaks, which are spaces, and hidden comments.

    ``first`` and ``last`` are its lines, counted from 0 inside the text it was cut from.
    """

    text: str
    first: int
    last: int
    item: bool = False
    """It begins an item of a list or a row of a table."""
    depth: int = 0
    """How far the item is indented, in columns."""
    apart: bool = False
    """Code, an image, a ruler or a heading stands between it and the sentence before."""


def sentences(text: str) -> list[Sentence]:
    """The sentences, list items and table rows of a Markdown text, in order; no headings, code or markup."""
    found: list[Sentence] = []
    end = -1
    lines_of = text.split("\n")
    for lines, first in _blocks(text):
        apart = any(line.strip() for line in lines_of[end + 1 : first])
        for begin, piece, entry in _broken(lines):
            depth = _column(lines_of[first + begin])
            cut = _split(piece, first + begin, apart=apart and not begin, depth=depth)
            found += [replace(one, item=True) if entry and not at else one for at, one in enumerate(cut)]
        end = first + len(lines) - 1
    return found


def _broken(lines: list[str]) -> Iterator[tuple[int, list[str], bool]]:
    """The lines, parted where the writer broke them on purpose, and whether the parts are entries of a list:
    "Mar 24 - London", and below it the next date.

    Prose breaks where the next word has no room; where most of the next words had room, lines are entries.
    """
    begin, entries = 0, False
    if len(lines) > 1 and not ITEM.match(lines[0]) and not lines[0].lstrip().startswith("|"):
        entries, ended = _roomy(lines) and not _carried(lines), sum(map(bool, map(_ENDED.search, lines)))
        bare, told = not ended, _CARRIED * ended >= len(lines)
        for at, (line, after) in enumerate(pairwise(lines), start=1):
            whole = bool(_ENDED.search(line)) if told else not _GOES_ON.search(line)
            broken = line.endswith(("  ", "\\")) or (entries and whole)
            if broken and (bare or _STARTS.match(after)):
                yield begin, lines[begin:at], entries and not _spoken(lines)
                begin = at
    yield begin, lines[begin:], entries and begin > 0 and not _spoken(lines)


def _spoken(lines: Sequence[str]) -> bool:
    """True for prose with a line for each sentence: nearly all lines end one, and are no mere notes."""
    ended = sum(bool(_ENDED.search(line)) for line in lines)
    return ended >= _NEARLY_ALL * len(lines) and sum(map(_width, lines)) >= _NOTE * len(lines)


def _roomy(lines: Sequence[str]) -> bool:
    """True when most lines end although the first word of the next one had room, at whatever width they are
    broken: one line that holds a long link or runs on is no measure for the others.
    """
    widths = [_width(line) for line in lines]
    firsts = [_width(line.split()[0]) for line in lines[1:]]

    def astray(width: int) -> int:
        room = (own + 1 + first < width for own, first in zip(widths, firsts, strict=False))
        return sum(room) + sum(own > width for own in widths)

    widest = sorted({max(_NARROW, width) for width in widths})[-_WIDEST:]
    return 2 * min(map(astray, widest)) >= len(firsts)


def _carried(lines: Sequence[str]) -> bool:
    """True when sentences run from one line into the next as often as every third time: nobody breaks those
    on purpose, however wide the lines are.
    """
    open_ended = (line for line in lines[:-1] if not _ENDED.search(line))
    return _CARRIED * sum(any(_ends(line)) for line in open_ended) >= len(lines) - 1


def _width(line: str) -> int:
    """Columns on a screen: a Korean syllable takes two."""
    text = line.strip()
    return len(text) + sum("\uac00" <= letter <= "\ud7a3" for letter in text)


def _column(line: str) -> int:
    """Where a line begins behind its indentation and the signs of quoting."""
    plain = line.expandtabs(4)
    return len(plain) - len(plain.lstrip(" >"))


def table_lines(lines: Sequence[str]) -> frozenset[int]:
    """The numbers of the lines that are rows of tables; these may do without bars at their ends."""
    found = {number for number, line in enumerate(lines) if line.lstrip().startswith("|")}
    for number, line in enumerate(lines):
        if (
            "|" not in line
            or number in found
            or not RULER.match(line)
            or not number
            or "|" not in lines[number - 1]
        ):
            continue
        end = number + 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        found.update(range(number - 1, end))
    return frozenset(found)


def indented(lines: Sequence[str]) -> frozenset[int]:
    """The numbers of the lines that are code by their indentation: below an empty line, no list, no prose."""
    found: set[int] = set()
    run: list[int] = []
    listed = bool(lines) and lines[0].startswith(_DEEP)
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        deep = line.startswith(_DEEP)
        if deep and not listed and (run or not lines[number - 1].strip()):
            run.append(number)
            continue
        found.update(run if not _prose(lines, run) else ())
        run = []
        listed = bool(_HOLDS.match(line)) or (deep and listed)
    found.update(run if not _prose(lines, run) else ())
    return frozenset(found)


def _prose(lines: Sequence[str], numbers: Sequence[int]) -> bool:
    """True for indented lines that read as sentences: who takes notes may indent them."""
    return any(lines[n].strip().count(" ") >= _SPOKEN and _ENDED.search(lines[n]) for n in numbers)


def split_prose(text: str) -> list[str]:
    """The sentences of a text that is no Markdown, such as one line of an answer."""
    return [sentence.text for sentence in _split([text], 0, apart=False)]


def without_comments(text: str) -> str:
    """The text without its HTML comments, of which only the line breaks stay; one never closed is text."""
    parts: list[str] = []
    begin = 0
    # Looked for by hand: `<!--.*?-->` reads to the end of the text once for every comment that never ends.
    while (start := text.find("<!--", begin)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        shown = text[start - 1 : start] == "`" == text[end + 3 : end + 4]  # `<!-- more -->` is what to type
        parts += (text[begin:start], text[start : end + 3] if shown else "\n" * text.count("\n", start, end))
        begin = end + 3
    return "".join((*parts, text[begin:]))


def _blocks(text: str) -> Iterator[tuple[list[str], int]]:
    """Neighbouring lines that read as one: a paragraph, an item, a row; with the number of the first."""
    block: list[str] = []
    start, fence, tag = 0, _fence_before(text), False
    lines = without_comments(text).split("\n")
    tables, code = table_lines(lines), indented(lines)
    for number, quoted in enumerate(lines):
        line = _QUOTED.sub("", quoted)
        opened = _FENCE.match(line)
        if fence or opened:
            fence = _fence_after(fence, opened)
            yield from _closed(block, start)
            block = []
        elif tag or number in code or not line.strip() or _SKIPPED.match(line) or _HEADING.match(line):
            tag = bool(line.strip()) and (tag or bool(_TAG.match(line))) and ">" not in line
            yield from _closed(block, start)
            block = []
        else:
            if block and (ITEM.match(line) or number in tables or number - 1 in tables):
                yield from _closed(block, start)
                block = []
            if not block:
                start = number
            block.append(line)
    yield from _closed(block, start)


def _fence_before(text: str) -> str:
    """The fence a text begins inside of: a long code block is cut, and its last piece has only the end."""
    fences = [line.strip() for line in text.split("\n") if _FENCE.match(line)]
    bare = fences and not fences[0].strip("`~")
    return fences[0] if bare and len(fences) % 2 else ""


def _fence_after(fence: str, opened: re.Match[str] | None) -> str:
    if not fence:
        return opened[1] if opened else ""
    return "" if opened and opened[1].startswith(fence) else fence


def _closed(block: list[str], start: int) -> Iterator[tuple[list[str], int]]:
    if block:
        yield block, start


def _split(lines: list[str], first: int, *, apart: bool, depth: int = 0) -> Iterator[Sentence]:
    item = bool(ITEM.match(lines[0])) or lines[0].lstrip().startswith("|")
    cleaned = [ITEM.sub("", lines[0]), *lines[1:]]
    joined = "\n".join(line.strip() for line in cleaned)
    begin, at = 0, first
    for end in [*_ends(joined), len(joined)]:
        piece = joined[begin:end]
        if text := piece.strip():
            begins = at + piece.count("\n", 0, len(piece) - len(piece.lstrip()))
            ends = begins + text.count("\n")
            yield Sentence(" ".join(text.split()), begins, ends, item, depth, apart=apart)
            item = apart = False  # only the first of a block begins it
        begin, at = end, at + piece.count("\n")


def _ends(text: str) -> Iterator[int]:
    # A sign inside code ends no sentence: the operator `?` is a word. Of those in a link, the last may.
    plain = _CODE.sub(lambda code: "_" * len(code[0]), text)
    plain = _LINK.sub(lambda link: "_" * (len(link[0]) - 1) + link[1][-1], plain)
    for match in _END.finditer(plain):
        end = match.start() + 1
        abbreviated = _ABBREVIATED.search(text, max(0, end - _LONGEST_ABBREVIATION), end)
        counted = text[match.start() - 1 : match.start()].isdigit() and _PARTICLE.match(text, match.end())
        described = text[match.end() - 1] == ")" and _DESCRIBED.match(text, match.end())
        if not abbreviated and not counted and not described:
            yield match.end()
