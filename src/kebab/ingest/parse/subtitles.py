"""Subtitles: SubRip (``.srt``) and WebVTT (``.vtt``). The text is what is said; its place is when.

A cue begins with a line such as ``00:01:02,000 --> 00:01:04,500`` and ends at a blank line. Marks of style
and position go; the speaker of a WebVTT voice stays, as ``Name: words``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import NamedTuple

from kebab.domain.documents import BlockKind, Media, Metadata
from kebab.domain.language import detect
from kebab.domain.places import Time
from kebab.domain.plurals import count_of
from kebab.ingest.chunk import cues
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, ParsedBlock, Unreadable
from kebab.ingest.parse.textual import Decoding

VERSION = "subtitles-v1"

_CLOCK = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[,.](\d{1,3})"
_TIMES = re.compile(rf"{_CLOCK}[ \t]{{0,9}}-->[ \t]{{0,9}}{_CLOCK}(?:[ \t].*)?")
_VOICE = re.compile(r"<v(?:\.[^ \t<>]*)?[ \t]([^<>]*)>")
_MARK = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
# A line that is shown again after this long is said again.
_ROLLING_MS = 500


class _Cue(NamedTuple):
    time: Time
    words: tuple[str, ...]


def parse_subtitles(lines: Lines, defaults: Defaults) -> Parsed | Unreadable:
    """One block a cue, in the order of the file; a cue without words is left out."""
    found = list(_cues(lines.text.split("\n")))
    if not found:
        return Unreadable("no subtitles in it: not one line such as 00:01:02,000 --> 00:01:04,500")
    spoken = list(_without_repeats(cue for cue in found if isinstance(cue, _Cue)))
    broken = sum(cue is None for cue in found)
    blocks, text = [], Lines("\n".join(word for cue in spoken for word in cue.words))
    line = 1
    for cue in spoken:
        end = line + len(cue.words) - 1
        blocks.append(ParsedBlock(BlockKind.PARAGRAPH, line, end, (), place=cue.time))
        line = end + 1
    return Parsed(
        title=defaults.stem,
        lang=detect(text.text),
        metadata=Metadata(source_type=defaults.source_type, trust_level=defaults.trust_level),
        blocks=tuple(blocks),
        warnings=_backwards(broken),
        lines=text,
    )


FORMAT = Format(Media.SUBTITLES, VERSION, Decoding(parse_subtitles), cues.CHUNKER)


def _cues(lines: Sequence[str]) -> Iterator[_Cue | None]:
    """The cues in order; None for one whose time runs backwards."""
    at = 0
    while at < len(lines):
        times = _TIMES.fullmatch(lines[at].strip())
        at += 1
        if times is None:
            continue  # a number, a name, a header, a note
        words = []
        while at < len(lines) and lines[at].strip() and not _TIMES.fullmatch(lines[at].strip()):
            words.append(_plain(lines[at]))
            at += 1
        start, end = _milliseconds(times.groups()[:4]), _milliseconds(times.groups()[4:])
        kept = tuple(word for word in words if word)
        yield _Cue(Time(start, end), kept) if end >= start else None


def _without_repeats(found: Iterator[_Cue]) -> Iterator[_Cue]:
    """Rolling captions show a line again until the next is whole: each line is kept once, all its time."""
    before: _Cue | None = None
    for cue in found:
        if before is None or cue.time.start - before.time.end > _ROLLING_MS:
            new = cue.words
        else:
            new = _unseen(cue.words, before.words)
        if before is not None and new:
            yield before
        if new:
            before = cue._replace(words=new)
        elif before is not None and cue.words:
            before = before._replace(time=Time(before.time.start, max(before.time.end, cue.time.end)))
    if before is not None:
        yield before


def _unseen(words: tuple[str, ...], before: tuple[str, ...]) -> tuple[str, ...]:
    if words[: len(before)] == before:
        return words[len(before) :]
    return words[1:] if words[:1] == before[-1:] else words


def _plain(line: str) -> str:
    """The words of a line, on one line."""
    spoken = _MARK.sub("", _VOICE.sub(r"\1: ", line))
    return " ".join(unescape(spoken).split())


def _milliseconds(clock: Sequence[str | None]) -> int:
    hours, minutes, seconds, rest = clock
    whole = 3600 * int(hours or 0) + 60 * int(minutes or 0) + int(seconds or 0)
    return 1000 * whole + int(f"{rest:0<3}")


def _backwards(count: int) -> tuple[str, ...]:
    told = count_of(count, "subtitle ends before it begins", "subtitles end before they begin")
    return (f"{told}, and left out",) if count else ()
