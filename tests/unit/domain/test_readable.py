from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.hits import Snippet
from kebab.domain.readable import legible, readable


def cleaned(text: str) -> str:
    return legible(Snippet(text)).text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("- [Anki](https://apps.ankiweb.net) - cards", "- Anki - cards"),
        ("see [[Roadmap 2025|the plan]] and [[Home]]", "see the plan and Home"),
        ("![[photo.png]]before ![alt](a.png)after", "before after"),
        ("> [!warning] Mind the gap\n> twice", "Mind the gap\ntwice"),
        ("as shown[^3] before\n[^3]: in a footnote", "as shown before\nin a footnote"),
        ('{{< tooltip text="a pod" term_id="pod" >}} runs{{% /note %}}', "a pod runs"),
        ("a <!-- not for\nreaders --> b", "a  b"),
        ("| name | age |\n|:-----|----:|\n| Kim | 41 |", "name | age\nKim | 41"),
        ("* TOC\n{:toc}\n## Heading {#id}", "Heading"),
        ("[1]: https://example.org 'Title'\ntext", "text"),
        ("- [x] done **bold** _soft_ ~~old~~ ==new== snake_case", "- done bold soft old new snake_case"),
        ("`[not](a link)` and a\\*b", "`[not](a link)` and a*b"),
    ],
)
def test_markup_is_taken_out(text: str, seen: str) -> None:
    assert cleaned(text) == seen


def test_code_stays_as_it_is_without_its_fences() -> None:
    assert cleaned("a\n```md\n# [x](y)\n```\n**b**") == "a\n# [x](y)\nb"
    assert legible(Snippet("# [x](y)\n```\n**b**"), inside_code=True).text == "# [x](y)\nb"


def test_lines_of_a_paragraph_become_one_and_others_stay() -> None:
    text = (
        "One line\n  and more:\n- a\n- b\n  of it\n| x | y |\n| 1 | 2 |\n# Head\nwords\n\nnext  \nasked for"
    )
    assert cleaned(text) == ("One line and more:\n- a\n- b of it\nx | y\n1 | 2\nHead\nwords\nnext\nasked for")


def test_lines_of_code_stay_apart_from_each_other_and_from_the_words_around_them() -> None:
    code = "def f():\n    return 1\nprint(f())"
    assert cleaned(f"So:\n```py\n{code}\n```\nand\nso on") == f"So:\n{code}\nand so on"
    assert legible(Snippet(code), inside_code=True).text == code


def test_marks_follow_their_words_and_go_with_what_is_taken_out() -> None:
    text = "[spaced repetition](https://x.org/spaced) is **spaced**"
    marks = tuple(found.span() for found in re.finditer("spaced", text))
    found = legible(Snippet(text, marks))
    assert found.text == "spaced repetition is spaced"
    assert found.marks == ((0, 6), (21, 27))


@given(st.text("ab [](){}<>*_~=|`#!^:\\\n-", max_size=80), st.integers(0, 80), st.integers(1, 9))
def test_what_is_left_stands_in_the_text_in_its_order(text: str, start: int, size: int) -> None:
    marks = ((start, min(start + size, len(text))),) if start < len(text) else ()
    found = legible(Snippet(text, marks))
    rest = iter(text.replace("\n", " "))
    assert all(letter in rest for letter in found.text.replace("\n", " "))
    assert all(0 <= a < b <= len(found.text) for a, b in found.marks)
    inside = {*text[start : start + size], " "}
    assert all(set(found.text[a:b]) <= inside for a, b in found.marks)


def test_one_line_is_read_by_the_same_rules() -> None:
    line = "see [[Home|this]] and [that](x.md) {: .wide}"
    assert readable(line) == cleaned(line).strip()
