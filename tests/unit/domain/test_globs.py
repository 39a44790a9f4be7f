from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.globs import glob_matches
from tests.growth import seconds

GLOBS = st.lists(
    st.sampled_from(
        ["*", "**", "**/", "/**", "?", "/", "a", "b", "[ab]", "[!a]", "[", "]", "[b-a]", "[-a]", "-"]
    )
).map("".join)
PATHS = st.text("ab/-[", max_size=10)
_PIECE = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?[^\]/]+\]|[^*?\[]+|\[")


def as_expression(glob: str) -> re.Pattern[str]:
    """What globs mean, said as a regular expression, which takes for ever on hostile ones."""
    plain = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    whole = glob + ("**" if glob.endswith("/") else "")
    with warnings.catch_warnings(action="ignore", category=FutureWarning):  # of [a--b]
        return re.compile("".join(plain.get(p) or _set_or_text(p) for p in _PIECE.findall(whole)), re.DOTALL)


def _set_or_text(piece: str) -> str:
    if len(piece) < 2 or not piece.startswith("["):
        return re.escape(piece)
    members = piece[1:-1].removeprefix("!")
    inside = "".join(char if char == "-" else re.escape(char) for char in members)
    try:
        return re.compile(f"(?!/)[{'^' if piece[1] == '!' else ''}{inside}]").pattern
    except re.error:
        return re.escape(piece)


@given(GLOBS, PATHS)
def test_a_glob_matches_what_its_regular_expression_matches(glob: str, path: str) -> None:
    assert glob_matches(glob)(path) == bool(as_expression(glob).fullmatch(path))


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.md", "a.md", True),
        ("*.md", "docs/a.md", False),
        ("docs/", "docs/deep/a.md", True),
        ("docs/**", "docs", False),
        ("a/**/b", "a/b", True),
        ("**/*a*b", "x/y/zab", True),
        ("**a*b", "a/ab", True),
        ("[!a]*", "/", False),
        ("노트/*메모*.md", "노트/긴 메모 2.md", True),
    ],
)
def test_a_star_stays_in_its_folder_and_two_cross_folders(glob: str, path: str, expected: bool) -> None:
    assert glob_matches(glob)(path) is expected


@pytest.mark.parametrize(
    "glob", ["*a" * 9 + "b", "**a" * 30 + "b", "**/a*" * 30 + "b", "*?" * 50 + "b", "*[ab]" * 50 + "b"]
)
def test_many_stars_take_no_more_than_a_walk_along_the_path(glob: str) -> None:
    matches = glob_matches(glob)

    assert seconds(lambda: matches("a" * 4000)) < 0.5


@pytest.mark.parametrize("glob", ["[" * 20_000, "*" * 20_000, "[a" * 10_000 + "/]", "**/" * 10_000])
def test_a_long_glob_is_read_in_little_time(glob: str) -> None:
    assert seconds(lambda: glob_matches.__wrapped__(glob)("a/b")) < 0.5
