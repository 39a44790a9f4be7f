"""Markdown for the web page: whatever a note says, only harmless HTML comes out."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.web.markdown import render
from kebab.web.view import plain

TAGS = {
    "p", "li", "ul", "ol", "em", "strong", "del", "sup", "sub", "tr", "td", "th", "thead", "table", "div",
    "span", "pre", "code", "blockquote", "a", "br", "hr", "input", "details", "summary",
    "h1", "h2", "h3", "h4", "h5", "h6",
}  # fmt: skip
VOID = {"br", "hr", "input"}
ATTRIBUTES = {
    "data-lines", "data-language", "id", "class", "href", "rel", "target", "title", "start", "tabindex",
    "role", "aria-label", "type", "disabled", "checked",
}  # fmt: skip
PIECES = (
    "<script>x</script>", "<img src=x onerror=y>", "![a](http://h/p.png)", "[a](javascript:x)", "[a](data:x)",
    "[a](JaVaScRiPt&colon;x)", "[[wiki|b]]", "[[x\" onclick=\"y]]", "# h", "## <b>h</b>", "- a", "1. b",
    "> q", "| a | b |\n|---|--:|\n| 1 | 2 |", "```py\"><script>\nx\n```", "`<i>`", "\n\n", "\n",
    "&lt;script&gt;", "<a href=\"javascript:x\">", "[a](//evil/x)", "[a](../../../etc/passwd)",
    "![x](y \"onload=z\")", "[^1]",
    "[^1]: note", "---", "<!-- c -->", "]]>", "\x00", "한국어", "\u202e", "- [ ] t", "~~d~~", "**s**",
)  # fmt: skip


class Checked(HTMLParser):
    """Fails on anything that this module does not write itself, and on what is not closed in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.opened: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        given: dict[str, Any] = dict(attrs)
        assert given.keys() <= ATTRIBUTES, given
        href = given.get("href") or "#"
        assert href.startswith(("/doc?", "#", "mailto:", "http://", "https://")), href
        assert given.get("target") in (None, "_blank")
        assert "target" not in given or "noopener" in given["rel"]
        if tag not in VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)


def checked(html: str) -> None:
    reader = Checked()
    reader.feed(html)
    reader.close()
    assert reader.opened == []


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=14).map("".join))
def test_only_harmless_elements_come_out_and_all_are_closed(text: str) -> None:
    checked(render(text, path="a/b.md").html)


@given(st.text(st.characters(exclude_characters="\r"), max_size=200))
def test_a_plain_text_is_shown_as_it_is(text: str) -> None:
    checked(plain(text))
    reader = Checked()
    reader.feed(plain(text))
    reader.close()
    assert "".join(reader.words) == text + "\n"


@pytest.mark.parametrize("front", ["", "---\ntitle: t\ntags: [a]\n---\n"])
def test_each_block_names_its_lines_of_the_file(front: str) -> None:
    body = "# 제목\n\n첫 문단\n둘째 줄\n\n- 하나\n- 둘\n\n```\ncode\n```\n"
    above = front.count("\n")
    html = render(front + body, path="a.md").html
    for tag, lines in (("h1", (1, 1)), ("p", (3, 4)), ("ul", (6, 7)), ("li", (6, 6)), ("pre", (9, 11))):
        first, last = lines
        assert re.search(rf'<{tag}( id="h-1")? data-lines="{first + above}-{last + above}"', html), tag


def test_links_to_other_notes_stay_inside_and_are_relative_to_the_note() -> None:
    html = render(
        "[a](../x/y.md) [b](z.md#part) [c](/etc/passwd) [d](../../../../etc/passwd)", path="n/m/a.md"
    ).html
    assert 'href="/doc?ref=n%2Fx%2Fy.md"' in html
    assert 'href="/doc?ref=n%2Fm%2Fz.md#part"' in html
    assert html.count('href="/doc?ref=etc%2Fpasswd"') == 2
