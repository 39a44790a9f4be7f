"""The README: what it says of the commands is what the commands say of themselves."""

from __future__ import annotations

import re

from kebab.cli.reference import with_table
from tests.drivers.conftest import PROJECT, Cli

README = PROJECT / "README.md"


def test_the_table_of_commands_is_the_generated_one() -> None:
    text = README.read_text(encoding="utf-8")
    assert with_table(text) == text, "run: make docs"


def test_the_files_it_points_to_exist() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert [link for link in links if not (PROJECT / link).exists()] == []


def test_the_searches_it_shows_find_what_it_shows(library: Cli) -> None:
    """The first hit's citation; scores depend on the model, which these tests leave out."""
    text = README.read_text(encoding="utf-8")
    shown = re.findall(r'\$ kebab search "([^"]+)" -k 1.*?\n 1\. [\d.]+  (\S+)', text)
    assert len(shown) == 2
    for query, citation in shown:
        assert library("search", query, "-k", "1", "--json").json["hits"][0]["citation"]["uri"] == citation


def test_the_lines_it_fetches_are_those_of_the_vault(library: Cli) -> None:
    text = README.read_text(encoding="utf-8")
    match = re.search(r'\$ kebab fetch span -q "([^"]+)"\n(.*?)\n```', text, flags=re.DOTALL)
    assert match is not None
    assert library("fetch", "span", match[1]).out.strip() == match[2].strip()
