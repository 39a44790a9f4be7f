"""Cutting a snippet out of a chunk: original text, around where the query's words stand closest together."""

from __future__ import annotations

from collections.abc import Sequence

from kebab.domain.hits import Snippet
from kebab.domain.names import folded
from kebab.domain.readable import legible

ELLIPSIS = "…"
WIDER = 4
"""Markup may take most of a text: so many times the length is cleaned, and then cut."""

Ranges = Sequence[tuple[int, int]]
"""Where matched words stand in a text: sorted, not overlapping."""


def cut(text: str, ranges: Ranges, length: int) -> Snippet:
    """At most about ``length`` characters of the text with the matched words marked.

    Without a match it is the start of the text. White space is kept as it stands, except at the ends.
    """
    start, end = _window(text, ranges, length)
    start, end = _trimmed(text, start, end)
    lead = ELLIPSIS if text[:start].strip() else ""
    tail = ELLIPSIS if text[end:].strip() else ""
    shift = len(lead) - start
    marks = tuple((a + shift, b + shift) for a, b in ranges if a >= start and b <= end)
    found = marks[0][0] - shift if marks else start
    return Snippet(lead + text[start:end] + tail, marks, text.count("\n", 0, found))


def readable_cut(text: str, ranges: Ranges, length: int, *, heading: str = "") -> Snippet:
    """The same for the eye: without markup, and without the heading where it stands above anyway.

    What was matched is always in it: where that stands in markup alone, such as the target of a link, the
    text is shown as it is. Of a text that is nothing but markup nothing is left.
    """
    start, end = _whole_lines(text, *_window(text, ranges, WIDER * length), most=length)
    marks = tuple((a - start, b - start) for a, b in ranges if a >= start and b <= end)
    clean = legible(Snippet(text[start:end], marks), inside_code=text[:start].count("```") % 2 == 1)
    clean = _below_heading(clean, heading)
    if marks and not clean.marks:
        return cut(text, ranges, length)
    if not clean.text.strip():
        return Snippet("")
    shown = cut(clean.text, clean.marks, length)
    lead = ELLIPSIS if start > 0 and not shown.text.startswith(ELLIPSIS) else ""
    tail = ELLIPSIS if text[end:].strip() and not shown.text.endswith(ELLIPSIS) else ""
    moved = tuple((a + len(lead), b + len(lead)) for a, b in shown.marks)
    return Snippet(lead + shown.text + tail, moved)


def _whole_lines(text: str, start: int, end: int, *, most: int) -> tuple[int, int]:
    """The window moved out to where lines begin and end, if that is near: half a link cannot be cleaned."""
    begin = text.rfind("\n", max(0, start - most), start) + 1
    stop = text.find("\n", end, end + most)
    return begin if begin or start <= most else start, stop if stop >= 0 else min(len(text), end + most)


def _below_heading(snippet: Snippet, heading: str) -> Snippet:
    """The snippet without a first line that is the heading, unless nothing matched would be left."""
    first, newline, rest = snippet.text.lstrip().partition("\n")
    if not heading or not newline or folded(first.strip()) != folded(heading) or not rest.strip():
        return snippet
    gone = len(snippet.text) - len(rest)
    marks = tuple((a - gone, b - gone) for a, b in snippet.marks if a >= gone)
    return Snippet(rest, marks) if marks or not snippet.marks else snippet


def shorten(snippet: Snippet, length: int) -> Snippet:
    """The first ``length`` characters of a snippet, with the marks that survive."""
    if len(snippet.text) <= length:
        return snippet
    marks = tuple(mark for mark in snippet.marks if mark[1] <= length)
    return Snippet(snippet.text[:length].rstrip() + ELLIPSIS, marks)


def _window(text: str, ranges: Ranges, length: int) -> tuple[int, int]:
    """The window that holds the most distinct matched words; the earliest among equals."""
    if len(text) <= length:
        return 0, len(text)
    if not ranges:
        return 0, length
    best = _most_distinct([(a, b, text[a:b].lower()) for a, b in ranges], length)
    start = max(0, min(best - length // 5, len(text) - length))
    return start, min(len(text), start + length)


def _most_distinct(words: list[tuple[int, int, str]], length: int) -> int:
    """Where the window of this length begins that holds most distinct words; both its ends only move on."""
    inside: dict[str, int] = {}
    best, most, upto = words[0][0], 0, 0
    for index, (begin, _, word) in enumerate(words):
        while upto < len(words) and words[upto][1] <= begin + length:
            inside[words[upto][2]] = inside.get(words[upto][2], 0) + 1
            upto += 1
        if len(inside) > most:
            best, most = begin, len(inside)
        upto = max(upto, index + 1)
        inside[word] = inside.get(word, 0) - 1
        if inside[word] <= 0:
            del inside[word]
    return best


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Move the ends to word boundaries, if one is near, and off white space."""
    if start > 0 and (space := _first_space(text, start, start + 20)) is not None:
        start = space + 1
    if end < len(text) and (space := _last_space(text, end - 20, end)) is not None:
        end = space
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _first_space(text: str, start: int, end: int) -> int | None:
    return next((i for i in range(start, min(end, len(text))) if text[i].isspace()), None)


def _last_space(text: str, start: int, end: int) -> int | None:
    return next((i for i in range(end - 1, max(start, 0), -1) if text[i].isspace()), None)
