"""Addresses that open a hit in an editor."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab.cli.links import address

FILE = Path("/home/kim/노트/a b#1.md")


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("file", "file:///home/kim/%EB%85%B8%ED%8A%B8/a%20b%231.md"),
        ("vscode", "vscode://file/home/kim/%EB%85%B8%ED%8A%B8/a%20b%231.md:12"),
        ("cursor", "cursor://file/home/kim/%EB%85%B8%ED%8A%B8/a%20b%231.md:12"),
        ("zed", "zed://file/home/kim/%EB%85%B8%ED%8A%B8/a%20b%231.md:12"),
        ("obsidian", "obsidian://open?path=%2Fhome%2Fkim%2F%EB%85%B8%ED%8A%B8%2Fa%20b%231.md"),
        (
            "idea://open?file={path}&line={line}",
            "idea://open?file=/home/kim/%EB%85%B8%ED%8A%B8/a%20b%231.md&line=12",
        ),
        ("none", None),
    ],
)
def test_a_hit_leads_to_its_line_in_the_editor_that_is_set(style: str, expected: str | None) -> None:
    assert address(style, FILE, line=12) == expected


def test_a_hit_without_a_line_leads_to_the_first() -> None:
    assert address("vscode", Path("/a.pdf"), line=0) == "vscode://file/a.pdf:1"
