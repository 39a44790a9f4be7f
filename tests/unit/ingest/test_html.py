"""Web pages: what is read of them, what is left out, and how it is written."""

from __future__ import annotations

import pytest

from kebab.assembly.documents import InstalledEngines
from kebab.domain.documents import BlockKind
from kebab.domain.places import Items
from kebab.ingest.parse.html import parse_html
from kebab.ingest.parse.parsed import Defaults, Parsed, Unreadable
from kebab.ingest.parse.reading import Reading

READING = Reading(InstalledEngines())


def read(html: str | bytes) -> Parsed:
    content = html.encode() if isinstance(html, str) else html
    parsed = parse_html(content, Defaults("page", extension=".html", reading=READING))
    assert isinstance(parsed, Parsed), parsed
    return parsed


def text_of(html: str | bytes) -> str:
    return read(html).lines.text


def test_navigation_and_scripts_go_and_the_main_part_stays() -> None:
    text = text_of(
        "<nav>Home About</nav><div class='sidebar'>More</div><main><h1>Ropes</h1><p>Dry them.</p></main>"
        "<footer>legal</footer><script>alert(1)</script><style>p{}</style><p hidden>unseen</p>"
    )
    assert text == "# Ropes\n\nDry them."


def test_a_page_that_is_all_navigation_is_read_all_the_same() -> None:
    assert text_of("<body><nav><p>Only this is here.</p></nav></body>") == "Only this is here."


def test_a_main_part_that_holds_next_to_nothing_is_not_believed() -> None:
    text = text_of(f"<main>x</main><div>{'The rope is dry. ' * 20}</div>")
    assert "The rope is dry." in text


def test_headings_make_the_path_of_what_follows() -> None:
    blocks = read("<h1>A</h1><p>x</p><h2>B<a class=headerlink>¶</a></h2><p>y</p><h1>C</h1><p>z</p>").blocks
    assert [block.heading_path for block in blocks if not block.level] == [("A",), ("A", "B"), ("C",)]


def test_lists_keep_their_order_and_depth() -> None:
    assert text_of("<ol start=3><li>three<ul><li>inner</li></ul></li><li>four</li></ol>") == (
        "3. three\n  - inner\n4. four"
    )


def test_a_table_is_a_table_and_one_that_lays_out_the_page_is_not() -> None:
    inner = "<table><tr><th>knot<th>use</tr><tr><td>bowline<td>a | b</tr></table>"
    parsed = read(f"<table><tr><td>{inner}</td><td><h2>Side</h2><p>words</p></td></tr></table>")
    assert [block.kind for block in parsed.blocks] == [
        BlockKind.TABLE,
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
    ]
    assert parsed.lines.text.startswith("| knot | use |\n| --- | --- |\n| bowline | a \\| b |")


def test_code_keeps_its_spaces_and_line_breaks() -> None:
    assert text_of("<pre>if x:\n    <span>y</span> = 1\n</pre>") == "```\nif x:\n    y = 1\n```"


def test_white_space_is_one_space_and_a_break_is_a_line() -> None:
    assert text_of("<p>one\n   two<br>three <b>f</b>our</p>") == "one two\nthree four"


def test_a_quote_is_marked() -> None:
    assert text_of("<blockquote><p>said<br>he</p></blockquote>") == "> said\n> he"


def test_paragraphs_are_counted_from_one() -> None:
    assert [block.place for block in read("<p>a</p><p>b</p>").blocks] == [
        Items("par", 1, 1),
        Items("par", 2, 2),
    ]


def test_title_language_date_and_address_come_from_the_head() -> None:
    parsed = read(
        "<html lang=ko-KR><head><title>밧줄 안내</title><meta name=date content=2024-05-01>"
        "<link rel=canonical href=https://example.org/rope></head><body><p>words</p></body>"
    )
    assert (parsed.title, parsed.lang, parsed.metadata.created_at) == ("밧줄 안내", "ko", "2024-05-01")
    assert parsed.metadata.user == {"url": "https://example.org/rope"}


@pytest.mark.parametrize("encoding", ["euc-kr", "cp949", "utf-8", "utf-16"])
def test_korean_pages_are_read_in_the_encoding_they_declare(encoding: str) -> None:
    page = f"<html><head><meta charset={encoding}></head><body><p>밧줄은 그늘에서 말린다</p></body></html>"
    assert text_of(page.encode(encoding)) == "밧줄은 그늘에서 말린다"


def test_an_encoding_that_is_declared_wrongly_is_not_believed() -> None:
    assert text_of("<meta charset=euc-kr><p>café ☕ 밧줄</p>".encode()) == "café ☕ 밧줄"


def test_ten_thousand_nested_tags_are_read() -> None:
    deep = "".join(f"<{tag}>" for tag in ("div", "ul", "li", "b", "blockquote") * 2000)
    assert "words" in text_of(deep + "words")


def test_a_page_without_words_is_reported() -> None:
    assert isinstance(parse_html(b"<img src=x>", Defaults("page", reading=READING)), Unreadable)


def test_nothing_named_by_a_page_is_fetched_or_read() -> None:
    text = text_of(
        '<base href="file:///etc/"><iframe src="passwd">a</iframe><object data="passwd">b</object>'
        '<link rel=import href="passwd"><img src="file:///etc/passwd" alt="x"><p>words</p>'
    )
    assert text == "words"


def test_merged_cells_keep_their_columns_and_empty_columns_go() -> None:
    text = text_of(
        "<table><tr><th></th><th colspan=2>2023</th><th></th><th>2022</th></tr>"
        "<tr><td rowspan=2>Oil</td><td>1</td><td>2</td><td></td><td>3</td></tr>"
        "<tr><td>4</td><td>5</td><td></td><td>6</td></tr></table>"
    )
    assert text == ("|  | 2023 |  | 2022 |\n| --- | --- | --- | --- |\n| Oil | 1 | 2 | 3 |\n|  | 4 | 5 | 6 |")


def test_tags_of_notion_that_share_a_cell_stay_apart() -> None:
    tag = "<span class='selected-value select-value-color-green'>{}</span>"
    row = f"<tr><th>Tags</th><td>{tag.format('home office')}{tag.format('coffee')}</td></tr>"
    assert "| Tags | home office, coffee |" in text_of(f"<table>{row}</table>")


def test_a_cell_that_claims_a_million_columns_is_bounded() -> None:
    cells = "<td colspan=1000000 rowspan=1000000>x</td>" * 200
    assert text_of(f"<table><tr>{cells}</tr></table>").count("|") < 200 * 50


def test_a_box_around_a_note_is_no_table() -> None:
    sign = "<td rowspan=2><img alt='[Note]' src=n.png></td>"
    box = f"<table><tr>{sign}<th>참고</th></tr><tr><td>words</td></tr></table>"
    assert text_of(box) == "참고\nwords"


def test_a_list_of_contents_goes_where_the_page_says_something_besides() -> None:
    contents = "<div class='toc'><p>Table of Contents</p><dl><dt><a href=#a>1. Knots</a></dl></div>"
    assert text_of(f"{contents}<h2>1. Knots</h2><p>Dry them all in shade.</p>") == (
        "## 1. Knots\n\nDry them all in shade."
    )
    assert "1. Knots" in text_of(contents)


def test_rows_that_lead_to_the_pages_around_this_one_go() -> None:
    row = "<p>Next: <a href=#b rel=next>Sails</a>, Up: <a href=#a rel=up>Ropes</a> [<a>Contents</a>]</p>"
    assert text_of(
        f"{row}<p>The rope is dry. See <a href=#b rel=next>Sails</a> for {'words ' * 20}</p>"
    ).startswith("The rope is dry. See Sails")


def test_the_words_for_an_image_are_not_said_twice_and_names_of_files_not_at_all() -> None:
    image = "<img alt='A knot' src=k.png>"
    assert text_of(f"<p>Figure 1. A knot</p><div>{image}</div><p>words</p>") == "Figure 1. A knot\n\nwords"
    assert text_of(f"<figure>{image}<figcaption>A knot, tied</figcaption></figure>") == "A knot, tied"
    assert text_of(f"<p>{image} is drawn here.</p>") == "A knot is drawn here."
    assert text_of(f"<div>{image}</div><p>words</p>") == "A knot\n\nwords"
    assert text_of("<p>words</p><img alt='P1610088.jpg'><img alt='(missing alt)'><img alt=Next>") == "words"


def test_an_encoding_that_is_declared_behind_long_scripts_is_found() -> None:
    page = f"<script>{'x' * 5000}</script><meta charset=windows-1251><p>{'Привет мир. ' * 20}</p>"
    assert "Привет" in text_of(page.encode("windows-1251"))
