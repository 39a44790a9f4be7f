"""Which links a Markdown text holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.links import LinkKind
from kebab.ingest.parse.links import MOST_LINKS
from kebab.ingest.parse.markdown import FORMAT
from kebab.ingest.parse.parsed import Defaults, Parsed


def links(text: str) -> list[tuple[str, str, int]]:
    parsed = FORMAT.parse(text.encode(), Defaults("note"))
    assert isinstance(parsed, Parsed)
    return [(link.kind.value, link.target, link.line) for link in parsed.links]


WIKI, MARKDOWN, EMBED = (kind.value for kind in (LinkKind.WIKILINK, LinkKind.MARKDOWN, LinkKind.EMBED))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see [[My Note#Part|that]]", [(WIKI, "My Note#Part", 1)]),
        ("![[picture.png|200]] ![x](a%20b.png)", [(EMBED, "picture.png", 1), (EMBED, "a%20b.png", 1)]),
        ("# H [[in a heading]]\n\n- [x](../a.md#h)", [(WIKI, "in a heading", 1), (MARKDOWN, "../a.md#h", 3)]),
        ("[one][r] and [r]\n\n[r]: b.md 'title'", [(MARKDOWN, "b.md", 1), (MARKDOWN, "b.md", 1)]),
        ("[x](<my note.md>)", [(MARKDOWN, "my note.md", 1)]),
        ("| a |\n|---|\n| [[t\\|x]] |", [(WIKI, "t", 3)]),
        ("> [!note] [[inside]]\n> and [[too]]", [(WIKI, "inside", 1), (WIKI, "too", 2)]),
        ("[[#below]]", [(WIKI, "#below", 1)]),
        ("---\nup: '[[Parent|p]]'\n---\n\n[[a]]", [(WIKI, "Parent", 2), (WIKI, "a", 5)]),
        ("`[[code]]` \\[[escaped]]\n\n```\n[[fenced]]\n```\n\n    [[indented]]", []),
        ("[x](https://a.b) <https://c.d> [m](mailto:a@b) ![i](//cdn/x.png)", []),
        ("[ ] todo, [x] done, [1], a[i][j]", []),
        ("[[제주]]", [(WIKI, "제주", 1)]),
    ],
)
def test_links_are_kept_as_written_with_their_line(text: str, found: list[tuple[str, str, int]]) -> None:
    assert links(text) == found


def test_more_links_than_anybody_writes_are_left_out() -> None:
    assert len(links("[[a]] " * (MOST_LINKS + 5))) == MOST_LINKS


@given(st.text(alphabet="[]()!|#\\a가 \n`-<>:/%", max_size=60))
def test_a_link_has_a_line_of_the_text_and_a_target(text: str) -> None:
    for _, target, line in links(text):
        assert target
        assert 1 <= line <= text.count("\n") + 1
        target.encode()
