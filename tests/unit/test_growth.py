"""Nothing that a person or a file can say takes more than about twice the time for twice the text."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kebab.adapters.embedders.subwords import words
from kebab.answer.decline import _patterns as declining
from kebab.answer.facts import facts, missing_from
from kebab.answer.markers import read_markers
from kebab.answer.passages import passages
from kebab.answer.question import read_question
from kebab.answer.sentences import split_prose, without_comments
from kebab.answer.split import split
from kebab.answer.words import pattern as pattern_of
from kebab.answer.words import pattern_names
from kebab.domain.chunks import searchable_under
from kebab.domain.documents import TrustLevel
from kebab.domain.ids import nfc
from kebab.domain.language import detect
from kebab.domain.readable import readable
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.prepare import FileTask, Prepared, _prepare
from kebab.search.analyze import Analyzer
from kebab.search.parse import parse_query
from kebab.search.snippet import cut
from tests.growth import Found, attacks, compiled_patterns, inline_patterns, scan, seconds

SIZE = 6000
QUICK = 0.003
"""Seconds within which 6,000 characters pass for read once; the square of them takes longer."""
FACTOR = 9.0
"""Four times the text may take this many times as long: 4 is linear, 16 the square."""

BOUNDED = {
    "kebab.domain.language._NOT_PROSE": 4096,
    "kebab.domain.readable._CODE": 1500,
    "kebab.domain.readable._RULES": 1500,
    "kebab.domain.readable._LINE_RULES": 1500,
    "kebab.domain.readable._DEFINITION": 1500,
    "kebab.domain.readable._CONTENTS": 1500,
    "kinds.txt announces": 80,
    "kinds.txt defines.10": 160,
    "kinds.txt defines.9": 160,
    "kinds.txt defines.6": 160,
    "kinds.txt defines.4": 160,
    "kinds.txt like.enumerated": 1280,
    "kinds.txt like.place": 1280,
}
"""Patterns that never see more than so many characters."""
BUILT = {
    "answer/facts.py": "a literal behind a lookbehind",
    "answer/decline.py": "held by `_patterns`, tested below",
    "answer/kinds.py": "a number before a literal, in a passage of at most 1,280 characters",
    "answer/typed.py": "literals, and between them at most three signs, none of which begins a literal",
    "answer/follow.py": "words of a question behind a literal, in at most 2,000 characters",
    "answer/words/__init__.py": "held by `pattern`, tested below",
    "evaluate/answers.py": "written by the person who measures, for answers of that person's own",
    "evaluate/laboratory.py": "the same",
    "domain/globs.py": "one character, or a path where no two stars compete; see test_globs.py",
    "upkeep/edit_config.py": "matches one line at its start, around a literal",
}
"""Files whose patterns are put together when they run, and why they are linear."""


def _everything() -> dict[tuple[str, int], Found]:
    known = {(found.pattern.pattern, found.pattern.flags): found for found in compiled_patterns()}
    kinds = [Found(f"kinds.txt {name}", pattern_of(name)) for name in pattern_names()]
    for found in (*kinds, *(Found("answer/decline", pattern) for pattern in declining())):
        known.setdefault((found.pattern.pattern, found.pattern.flags), found)
    texts = {found.pattern.pattern for found in known.values()}
    for place, text in inline_patterns():
        if text is not None and text not in texts:
            pattern = re.compile(text)
            known.setdefault((text, pattern.flags), Found(place, pattern))
    return known


def _grows(pattern: re.Pattern[str]) -> str | None:
    """The beginning of a text for which the pattern takes more than its share of time, or None."""
    longer = attacks(pattern, size=4 * SIZE)
    for text, four in zip(attacks(pattern, size=SIZE), longer, strict=True):
        if seconds(scan(pattern, text)) < QUICK:
            continue
        once = seconds(scan(pattern, text), times=3)
        if once >= QUICK and seconds(scan(pattern, four), times=2) > FACTOR * once:
            return text[:40]
    return None


@pytest.mark.slow
def test_every_regular_expression_reads_hostile_text_in_linear_time() -> None:
    found = [item for item in _everything().values() if item.place not in BOUNDED]

    slow = {item.place: text for item in found if (text := _grows(item.pattern))}

    assert len(found) > 80
    assert slow == {}


def test_what_never_sees_a_long_text_is_done_with_its_longest_at_once() -> None:
    found = [item for item in _everything().values() if item.place in BOUNDED]
    slow = {
        item.place: text[:40]
        for item in found
        for text in attacks(item.pattern, size=BOUNDED[item.place])
        if seconds(scan(item.pattern, text)) > 0.1
    }

    assert {item.place for item in found} == BOUNDED.keys()
    assert slow == {}


def test_a_pattern_that_is_built_when_it_runs_is_known_to_these_tests() -> None:
    built = {place for place, text in inline_patterns() if text is None}

    assert built <= BUILT.keys(), "say why these are linear, or keep the pattern at the top of its module"


@pytest.mark.slow
@pytest.mark.parametrize("hostile", [r"\s+x", r"<!--.*?-->", r"^a*a*b", r"^\[[^#]*[^-]*#", r"[?!]\W*$"])
def test_the_attacks_find_patterns_that_backtrack(hostile: str) -> None:
    assert _grows(re.compile(hostile, re.DOTALL))


WORDS = Analyzer()


def _asked(text: str) -> object:
    question = read_question(text, WORDS)
    return question, split(question, WORDS)


def _prepared(text: str) -> object:
    content = f"# {text[: len(text) // 2]}\n\n{text}".encode()
    task = FileTask("s", "a.md", "/a.md", len(content), 1, "note", TrustLevel.PRIMARY)
    prepared = _prepare(task, content, ChunkPolicy(), FORMATS)
    assert isinstance(prepared, Prepared)
    return [searchable_under(prepared.document.title, chunk) for chunk in prepared.chunks]


def _snippet(text: str) -> object:
    return cut(text, WORDS.matches(text, ["seat", "가"]), 220)


def _judged(text: str) -> object:
    return missing_from(facts(text), text)


@pytest.mark.parametrize(
    ("read", "unit"),
    [
        pytest.param(read, unit, id=f"{name} of {unit[:12]!r}")
        for name, read, units in [
            (
                "sentences",
                passages,
                ["a |", " |", "> ", "It is so. ", "e.g. "],
            ),
            (
                "passages",
                passages,
                [
                    "다음 ",
                    "If a ",
                    "# a\n- b:\n",
                    "|a|\n|-|\n",
                    "it 1. ",
                    "<!-- a ",
                    "a\nb. ",
                    "- a:\n",
                    "```\n",
                    "[a",
                    "`a. ",
                ],
            ),
            ("shown", readable, ["[", "[a](", "{{< ", "*a", "`", "[[a|", "![", "<a ", "_a ", "==a", "{#"]),
            ("comments", without_comments, ["<!--", "<!---->", "-->"]),
            ("prose", split_prose, ["Yes. ", "다. ", "No. 1. ", '."']),
            ("markers", read_markers, ["[#1] ", " ", "[#1, #2", "so. [#1] ", "[#1]", "- "]),
            (
                "question",
                _asked,
                ["가", "가지 않", "what, and how ", "a; ", "하고 ", "a(b", "a-", "rust의 ", "' "],
            ),
            (
                "a file",
                _prepared,
                ["# a\n", "> ", "  - a\n", "[a](", "|a", "<!--", "`", "\u0301\u0316", "a b\n\n"],
            ),
            ("composing", nfc, ["\u0301\u0316", "\u0f73", "가", "\u1100\u1161", "—"]),
            ("terms", WORDS.terms, ["가", "a-", "aA", "https://a/", "1,000", "\u0301\u0316", "don't "]),
            ("a query", parse_query, ['"', '"a" ', "-a ", "tag:a ", "a:", " "]),
            ("a language", detect, ["](", "```", "https://"]),
            ("pieces", words, ["aA", "가a", "\u0301\u0316"]),
            ("a snippet", _snippet, ["seat ", "a seat-", "가", "seat\u0301\u0316"]),
            ("facts", _judged, ["Rust 1.2 ", "9", "9,999", "A-", "`a` ", '"a b c" ', "가씨 "]),
        ]
        for unit in units
    ],
)
def test_reading_four_times_the_text_takes_about_four_times_as_long(
    read: Callable[[str], object], unit: str
) -> None:
    assert_grows_evenly(lambda size: read((unit * size)[:size]))


def assert_grows_evenly(work: Callable[[int], object], *, size: int = 5000) -> None:
    once, four = seconds(lambda: work(size), times=3), seconds(lambda: work(4 * size), times=3)
    assert four < 0.02 or four < FACTOR * once, f"{once:.4f} s, then {four:.4f} s for four times as much"
