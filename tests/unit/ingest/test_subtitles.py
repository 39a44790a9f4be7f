"""Subtitles: what is said, when, without the marks of style."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.documents import Block, BlockKind, LineSpan
from kebab.domain.ids import BlockId, DocId
from kebab.domain.places import Time
from kebab.ingest.chunk import cues
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.parsed import Defaults, Parsed, Unreadable
from kebab.ingest.parse.subtitles import FORMAT

SRT = """1
00:00:01,000 --> 00:00:03,500
<i>밧줄을</i> 말린다.
{\\an8}Dry the rope.

2
00:00:04,000 --> 00:00:05,000 X1:10 X2:20
&amp; then we sail
"""
VTT = """WEBVTT - a talk

STYLE
::cue { color: red }

NOTE not said

intro
00:01.000 --> 00:02.000 align:start
<v.loud Mina Park>Hello <c.red>there</c></v>

1:00:00.000 --> 1:00:02.000
bye
"""


def parsed(text: str, ending: str = ".srt") -> Parsed:
    found = FORMAT.parse(text.encode(), Defaults("talk", extension=ending))
    assert isinstance(found, Parsed), found
    return found


def test_srt_gives_what_is_said_with_its_time() -> None:
    found = parsed(SRT)
    assert found.lines.text == "밧줄을 말린다.\nDry the rope.\n& then we sail"
    assert [(b.start, b.end, b.place) for b in found.blocks] == [
        (1, 2, Time(1000, 3500)),
        (3, 3, Time(4000, 5000)),
    ]
    assert found.title == "talk"


def test_vtt_names_the_speaker_and_leaves_notes_and_styles_out() -> None:
    found = parsed(VTT, ".vtt")
    assert found.lines.text == "Mina Park: Hello there\nbye"
    assert [block.place for block in found.blocks] == [Time(1000, 2000), Time(3_600_000, 3_602_000)]


def test_rolling_captions_are_said_once_for_all_their_time() -> None:
    text = (
        "WEBVTT\n\n00:00.000 --> 00:02.000\nwe dry\n\n00:02.000 --> 00:02.010\nwe dry\n\n"
        "00:02.010 --> 00:04.000\nwe dry\nthe rope\n\n00:04.000 --> 00:06.000\nthe rope\nand sail\n"
    )
    found = parsed(text, ".vtt")
    assert found.lines.text == "we dry\nthe rope\nand sail"
    assert found.blocks[0].place == Time(0, 2010)


def test_what_is_said_again_later_is_kept() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nno\n\n2\n00:00:09,000 --> 00:00:10,000\nno\n"
    assert parsed(text).lines.text == "no\nno"


def test_a_cue_that_ends_before_it_begins_is_left_out_and_told_of() -> None:
    text = SRT + "\n3\n00:00:09,000 --> 00:00:08,000\nlost\n"
    found = parsed(text)
    assert "lost" not in found.lines.text
    assert found.warnings == ("1 subtitle ends before it begins, and left out",)


@pytest.mark.parametrize("text", ["", "hello", "WEBVTT\n", "1\n00:00:01 -> 00:00:02\nhello\n"])
def test_a_file_without_a_cue_is_unreadable(text: str) -> None:
    assert isinstance(FORMAT.parse(text.encode(), Defaults("talk")), Unreadable)


def test_cues_without_words_give_an_empty_text() -> None:
    assert parsed("1\n00:00:01,000 --> 00:00:02,000\n\n").blocks == ()


# --- the chunker -----------------------------------------------------------------------------------


def chunked(times: list[tuple[int, int]], words: str = "words") -> list[tuple[int, int]]:
    """The times of the chunks that cues at these times give."""
    lines = Lines("\n".join([words] * len(times)))
    blocks = [
        Block(BlockId(f"b{n}"), BlockKind.PARAGRAPH, LineSpan(n + 1, n + 1), (), 0, Time(*time))
        for n, time in enumerate(times)
    ]
    policy = ChunkPolicy(target_tokens=50, overlap_tokens=10, max_tokens=60)
    chunks = cues.CHUNKER.chunks(DocId("d"), blocks, lines, policy)
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == [words] * len(times)
    places = [chunk.place for chunk in chunks]
    return [(place.start, place.end) for place in places if isinstance(place, Time)]


def test_cues_gather_until_a_silence() -> None:
    assert chunked([(0, 1000), (1000, 2000), (30_000, 31_000)]) == [(0, 2000), (30_000, 31_000)]


def test_a_chunk_is_no_longer_than_two_minutes() -> None:
    every_ten = [(10_000 * n, 10_000 * n + 9000) for n in range(24)]
    assert all(end - start <= 120_000 for start, end in chunked(every_ten, "a"))
    assert len(chunked(every_ten, "a")) == 2


def test_a_chunk_is_no_larger_than_the_target() -> None:
    assert len(chunked([(n, n + 1) for n in range(40)], "some words that are said here")) > 4


def test_a_time_that_runs_backwards_begins_a_new_chunk() -> None:
    assert chunked([(9000, 9500), (0, 500), (500, 900)]) == [(9000, 9500), (0, 900)]


@given(st.lists(st.tuples(st.integers(0, 300_000), st.integers(0, 5000)), min_size=1, max_size=40))
def test_every_cue_is_in_one_chunk_whose_time_holds_it(found: list[tuple[int, int]]) -> None:
    times = [(start, start + length) for start, length in found]
    spans = chunked(times)
    assert all(any(a <= start and end <= b for a, b in spans) for start, end in times)
