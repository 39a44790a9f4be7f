"""Ignore files mean to kebab what they mean to git, asked of git itself on random trees."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab.ingest.gitignore import read_rule
from kebab.ingest.scan import SourceFolder, scan
from tests.growth import seconds

FOLDERS = ["", "a/", "b/", "a/b/", "a/a/", "a/b/c/", "ab/", "b/a-b/"]
NAMES = ["a.md", "b.md", "ab.md", "a-b.md", "[a].md", "c d.md", "A1.md", "!a.md", "a*.md"]
PIECES = [
    *[
        "*",
        "**",
        "***",
        "?",
        "/",
        "/",
        "a",
        "b",
        "ab",
        ".md",
        "*.md",
        "c d",
        "-",
        "1",
        "\\*",
        "\\a",
        "\\",
        "!",
    ],
    *[
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-c]",
        "[]a]",
        "[[]",
        "[a",
        "[[:alpha:]]",
        "[[:upper:][:digit:]]",
        "[b-]",
        "[\\]]",
    ],
    *["[[:none:]]", "[z-a]", "[!]]", "[a\\-c]"],
]
LINES = [
    "**/a",
    "a/**",
    "a/**/b",
    "!*.md",
    "!*/",
    "*",
    "/a",
    "a/",
    "/*/b",
    "# a",
    "b.md  ",
    "c\\ d.md",
    "\\!a.md",
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", root], check=True)
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            (root / folder / name).write_text("x")
    return root


def random_files(seed: int) -> Iterator[tuple[str, str]]:
    """Ignore files for some of the folders, by their paths."""
    chance = random.Random(seed)
    for folder in chance.sample(FOLDERS, chance.randint(1, 3)):
        yield folder + ".gitignore", "".join(f"{_line(chance)}\n" for _ in range(chance.randint(1, 5)))


def _line(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return chance.choice(LINES)
    sign = "!" if chance.random() < 0.25 else ""
    return sign + "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 5)))


def kept_by_git(root: Path) -> list[str]:
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted(path for path in listed.stdout.split("\0") if path.endswith(".md"))


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_the_files_that_are_taken_are_those_that_git_would_take(tree: Path, first: int) -> None:
    differ = {}
    for seed in range(first, first + 50):
        written = dict(random_files(seed))
        for path, text in written.items():
            (tree / path).write_text(text)
        kept = kept_by_git(tree)
        taken = [file.path for file in scan(SourceFolder("s", tree), max_file_bytes=1000).files]
        taken = [path for path in taken if not path.startswith(".git/")]
        if taken != kept:
            differ[seed] = (written, sorted(set(taken) ^ set(kept)))
        for path in written:
            (tree / path).unlink()

    assert differ == {}


@pytest.mark.parametrize(
    "pattern", ["*a" * 15 + "b", "**/a*" * 15 + "b", "[!b]*" * 30 + "b", "*" * 5000 + "b"]
)
def test_many_stars_in_an_ignore_file_hold_nothing_up(pattern: str) -> None:
    rule = read_rule(pattern)

    assert rule is not None
    assert seconds(lambda: rule.is_about("a" * 200 + "/" + "a" * 200)) < 0.2
