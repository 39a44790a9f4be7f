"""Cutting a snippet out of a chunk: original text, around where the query's words stand closest together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from kebab.domain.hits import Snippet
from kebab.ports import Analyzer

ELLIPSIS = "…"


def make_snippet(text: str, *, analyzer: Analyzer, terms: Collection[str], length: int) -> Snippet:
    """At most about ``length`` characters of the text with the matched words marked.

    Without a match it is the start of the text. White space is kept as it stands, except at the ends.
    """
    ranges = analyzer.matches(text, terms) if terms else []
    start, end = _window(text, ranges, length)
    start, end = _trimmed(text, start, end)
    lead = ELLIPSIS if text[:start].strip() else ""
    tail = ELLIPSIS if text[end:].strip() else ""
    shift = len(lead) - start
    marks = tuple((a + shift, b + shift) for a, b in ranges if a >= start and b <= end)
    return Snippet(lead + text[start:end] + tail, marks)


def shorten(snippet: Snippet, length: int) -> Snippet:
    """The first ``length`` characters of a snippet, with the marks that survive."""
    if len(snippet.text) <= length:
        return snippet
    marks = tuple(mark for mark in snippet.marks if mark[1] <= length)
    return Snippet(snippet.text[:length].rstrip() + ELLIPSIS, marks)


def _window(text: str, ranges: list[tuple[int, int]], length: int) -> tuple[int, int]:
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
    inside: Counter[str] = Counter()
    best, most, upto = words[0][0], 0, 0
    for index, (begin, _, word) in enumerate(words):
        while upto < len(words) and words[upto][1] <= begin + length:
            inside[words[upto][2]] += 1
            upto += 1
        if len(inside) > most:
            best, most = begin, len(inside)
        upto = max(upto, index + 1)
        inside[word] -= 1
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
