"""What the Markdown parser sees in a file: blocks with lines, headings, title, language."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab.domain.documents import BlockKind
from kebab.ingest.parse.lines import Lines
from kebab.ingest.parse.markdown import parse_markdown
from kebab.ingest.parse.parsed import Defaults, Parsed
from tests.unit.ingest.building import document


def parse(text: str) -> Parsed:
    return parse_markdown(Lines(text), Defaults("file-name"))


def shapes(text: str) -> list[tuple[str, int, int]]:
    return [(str(block.kind), block.start, block.end) for block in parse(text).blocks]


def test_each_kind_of_block_is_found_with_its_lines() -> None:
    text = (
        "# Head\n\npara\nmore\n\n- a\n  - b\n\n> quote\n\n```py\ncode\n\ncode\n```\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n![alt](x.png)\n\nSetext\n------\n"
    )
    assert shapes(text) == [
        ("heading", 1, 1),
        ("paragraph", 3, 4),
        ("list", 6, 7),
        ("quote", 9, 9),
        ("code", 11, 15),
        ("table", 17, 19),
        ("image", 21, 21),
        ("heading", 23, 24),
    ]


def test_lines_that_no_block_claims_are_paragraphs() -> None:
    text = "para\n\n[a]: http://x\n[b]: http://y\n\n---\n\nend\n"
    assert shapes(text) == [
        ("paragraph", 1, 1),
        ("paragraph", 3, 4),
        ("paragraph", 6, 6),
        ("paragraph", 8, 8),
    ]


def test_front_matter_counts_in_line_numbers() -> None:
    assert shapes("---\ntitle: T\n---\n\n# H\n\ntext\n") == [("heading", 5, 5), ("paragraph", 7, 7)]


def test_windows_line_ends_and_a_byte_order_mark_keep_the_numbers(tmp_path: Path) -> None:
    plain, _ = document(tmp_path, "a.md", "---\ntitle: T\n---\n# H\n\ntext\n")
    windows, chunks = document(tmp_path, "b.md", b"\xef\xbb\xbf---\r\ntitle: T\r\n---\r\n# H\r\n\r\ntext\r\n")
    assert (windows.title, windows.text) == (plain.title, plain.text)
    assert chunks[0].text == "# H\n\ntext"
    assert (chunks[0].spans[0].start, chunks[0].spans[0].end) == (4, 6)


def test_a_heading_is_its_words_without_markup() -> None:
    (block,) = parse("## The *big* `code` [link](http://x) ![alt](y) {#anchor}\n").blocks
    assert (block.level, block.heading) == (2, "The big code link alt")


def test_heading_paths_follow_the_levels() -> None:
    text = "# A\n## B\n### C\n## D\ntext\n# E\n"
    assert [block.heading_path for block in parse(text).blocks] == [
        ("A",),
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "D"),
        ("A", "D"),
        ("E",),
    ]


def test_a_heading_in_code_or_in_a_quote_opens_no_section() -> None:
    blocks = parse("```\n# not\n```\n\n> # neither\n\n- # nor\n").blocks
    assert BlockKind.HEADING not in [block.kind for block in blocks]


def test_a_file_name_that_tells_nothing_leaves_the_first_of_several_headings_as_title() -> None:
    text = Lines("# Garden\n\n# Beds\n")
    assert parse_markdown(text, Defaults("README")).title == "Garden"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From front matter\n---\n# Heading\n", "From front matter"),
        ("## Second\n\n# First\n", "First"),
        ("# Installation\n\n# Usage\n", "file-name"),
        ("# About the file\n\n# Usage\n", "About the file"),
        ("# FileName\n\n# Usage\n", "FileName"),
        ("text\n\n## Only second\n", "file-name"),
        ("#person #friend\n\nmore\n", "file-name"),
        ("![[img.png]]\n", "file-name"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "file-name"),
        ("", "file-name"),
        ("---\n---\n", "file-name"),
    ],
)
def test_the_title_is_the_best_there_is(text: str, title: str) -> None:
    assert parse(text).title == title


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (
            "---\ntags: [One]\ncategories: [Web]\n---\ntext #two and #project/active.\n",
            "One Web two project/active",
        ),
        ("#person #friend\n", "person friend"),
        ("#한국어 노트\n", "한국어"),
        ("tags:: [[garden]], #soil\n", "soil garden"),
        ("`code`#behind\n", "behind"),
        ("# Heading\n\nissue #12, `#code`, see [x](#part), a#b, #fff\n\n```\n#include\n```\n", ""),
        ("#once #once\n", "once"),
        (
            "- item\n\n    ```c\n    #include\n      #define\n    ```\n\n> ~~~\n> #quoted\n> ~~~\n\n#after\n",
            "after",
        ),
    ],
)
def test_tags_are_read_from_front_matter_and_text(text: str, tags: str) -> None:
    assert " ".join(parse(text).metadata.tags) == tags


def test_a_note_of_front_matter_alone_is_a_block_that_can_be_found() -> None:
    assert shapes("---\ntitle: Ann\naliases: [A]\n---\n\n") == [("paragraph", 1, 4)]


def test_a_file_that_opens_its_folder_is_called_like_the_folder(tmp_path: Path) -> None:
    (tmp_path / "garden").mkdir()
    stored, _ = document(tmp_path, "garden/index.md", "text\n")
    assert stored.title == "garden"


def test_an_empty_note_has_one_chunk_for_its_name(tmp_path: Path) -> None:
    stored, chunks = document(tmp_path, "someday.md", "\n")
    assert (stored.title, [chunk.text for chunk in chunks]) == ("someday", [""])


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("This is a note about the way we work.", "en"),
        ("러스트의 소유권 규칙은 세 가지다. Rust ownership", "ko"),
        ("これは日本語の文章です。漢字も使います。", "ja"),
        ("这是一个中文句子，没有别的文字。", "zh"),
        ("## 사진\n\n- [사용자 매뉴얼](https://example.org/a/very/long/manual/of/things/420)\n", "ko"),
        ("1234 5678", "und"),
        ("Quelques mots sans rien", "und"),
        ("---\nlang: fr\n---\nQuelques mots\n", "fr"),
    ],
)
def test_the_language_is_stated_or_detected(text: str, lang: str) -> None:
    assert parse(text).lang == lang


def test_decomposed_text_is_composed(tmp_path: Path) -> None:
    import unicodedata

    stored, chunks = document(tmp_path, "a.md", unicodedata.normalize("NFD", "# 소유권\n\n규칙\n"))
    assert stored.title == "소유권"
    assert chunks[0].text == "# 소유권\n\n규칙"
