"""Text files with headings of their own kind, outlines, canvases, chats, exported notes, unknown texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.assembly.documents import InstalledEngines
from kebab.domain.documents import BlockKind
from kebab.domain.places import Items
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.parse.parsed import Defaults, Parsed
from kebab.ingest.parse.reading import Reading
from kebab.ingest.parse.unknown import MOST_BYTES, why_not
from tests.unit.ingest.building import document

READING = Reading(InstalledEngines())


def read(ending: str, text: str) -> Parsed:
    found = FORMATS[ending].parse(text.encode(), Defaults("file", extension=ending, reading=READING))
    assert isinstance(found, Parsed), found
    return found


def headings(parsed: Parsed) -> list[tuple[int, str]]:
    return [(block.level, block.heading) for block in parsed.blocks if block.level]


def test_org_has_its_stars_states_tags_and_settings() -> None:
    parsed = read(
        ".org",
        "#+title: Ropes\n#+filetags: :knot:sea:\n* TODO [#A] Dry :wet:\n** Tie\n"
        "#+begin_src py\n* no\n#+end_src\n",
    )
    assert (parsed.title, parsed.metadata.tags) == ("Ropes", ("knot", "sea"))
    assert headings(parsed) == [(1, "Dry"), (2, "Tie")]
    assert parsed.blocks[-1].kind is BlockKind.CODE
    assert parsed.blocks[-1].heading_path == ("Dry", "Tie")


def test_the_levels_of_restructured_text_come_by_their_order() -> None:
    parsed = read(
        ".rst", "=====\nRopes\n=====\n\nOne\n---\nx\n\nIn\n~~\ny\n\nTwo\n---\n\n==== ===\na    b\n==== ===\n"
    )
    assert headings(parsed) == [(1, "Ropes"), (2, "One"), (3, "In"), (2, "Two")]
    assert parsed.blocks[0].start == 1
    assert parsed.blocks[0].end == 3


def test_links_and_code_in_a_heading_of_restructured_text_are_read_as_their_words() -> None:
    parsed = read(".rst", "``tie()`` as in `the book <https://example.org>`__ and :ref:`ropes`\n====\n")
    assert headings(parsed) == [(1, "tie() as in the book and ropes")]


def test_asciidoc_leaves_listings_alone() -> None:
    parsed = read(".adoc", "= Ropes\n:author: Mina\n\n== One\n\n----\n== no\n----\n\n=== In ===\n")
    assert headings(parsed) == [(1, "Ropes"), (2, "One"), (3, "In")]
    assert parsed.metadata.user == {"author": "Mina"}


def test_latex_that_begins_with_commands_and_has_no_title_is_called_as_its_file() -> None:
    assert read(".tex", "\\newcommand{\\rope}{rope}\n\nThe rope is dry.\n").title == "file"
    assert read(".tex", "The rope is dry.\n").title == "The rope is dry."


def test_a_listing_of_evernote_keeps_its_lines_and_what_is_encrypted_is_left_out() -> None:
    style = "--en-codeblock: true; padding: 8px"
    code = f'<div style="{style}"><div>def f(x):</div><div>    return 1</div></div>'
    locked = "<en-crypt cipher='AES'>RU5DMCR2SQ</en-crypt>"
    note = f"<en-note><div>before</div>{code}<div>{locked}after</div></en-note>"
    parsed = read(
        ".enex", f"<en-export><note><title>R</title><content><![CDATA[{note}]]></content></note></en-export>"
    )
    assert parsed.lines.text == "# R\n\nbefore\n\n```\ndef f(x):\n    return 1\n```\n\nafter"


def test_what_is_to_be_done_in_evernote_keeps_its_box_and_a_note_alone_its_day() -> None:
    done = '<li style="--en-checked:true;"><div>coil</div></li><li style="--en-checked:false;">dry</li>'
    todo = '<div><en-todo checked="true"/>tie</div><li><en-todo checked="false"/>cut</li><li>rest</li>'
    note = f"<en-note><ul>{done}</ul>{todo}</en-note>"
    parsed = read(
        ".enex",
        "<en-export><note><title>R</title><created>20240501T010203Z</created>"
        f"<content><![CDATA[{note}]]></content></note></en-export>",
    )
    assert parsed.lines.text == (
        "# R\n\nCreated: 2024-05-01\n\n- [x] coil\n- [ ] dry\n\n[x] tie\n\n[ ] cut\n\nrest"
    )
    assert parsed.metadata.created_at == "2024-05-01"


def test_latex_has_sections_and_a_title_without_commands() -> None:
    parsed = read(
        ".tex",
        "\\title{The \\emph{dry} Rope}\n\\section*{One {in} braces} % x\na\n"
        "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n",
    )
    assert parsed.title == "The dry Rope"
    assert headings(parsed) == [(2, "One in braces")]


def test_a_title_of_latex_may_begin_below_its_brace() -> None:
    parsed = read(
        ".tex",
        "\\title[Short]{%\n  Changes in \\LaTeX{} ropes%\n}\n"
        "\\author{%\n  Mina\\thanks{%\n    \\href{a}{b}%\n  } \\and Jun\n}\n"
        "\\section{Dry % well\n  \\\\[2pt] ropes}\nwords\n",
    )
    assert (parsed.title, parsed.metadata.user) == ("Changes in LaTeX ropes", {"author": "Mina Jun"})
    assert headings(parsed) == [(2, "Dry ropes")]


def test_a_quotation_of_org_is_prose_whatever_stands_in_it() -> None:
    inner = "#+begin_example\ntie it\n#+end_example\n"
    parsed = read(".org", f"#+begin_quote\nsaid\n\n{inner}\n* Rope\n#+end_quote\n")
    kinds = [(block.kind, block.start) for block in parsed.blocks]
    paragraph, code, heading = BlockKind.PARAGRAPH, BlockKind.CODE, BlockKind.HEADING
    assert kinds == [(paragraph, 1), (code, 4), (heading, 8), (paragraph, 9)]


def test_a_link_in_a_heading_of_org_is_read_as_its_words() -> None:
    parsed = read(".org", "* Dry [[id:0f3a][the rope]] at [[https://example.org]]\n")
    assert headings(parsed) == [(1, "Dry the rope at https://example.org")]


@given(
    st.text(alphabet="*=- #\n\\abc{}[]:+~.|", max_size=200),
    st.sampled_from([".org", ".rst", ".adoc", ".tex"]),
)
def test_every_line_is_in_one_block_whatever_the_text(text: str, ending: str) -> None:
    parsed = read(ending, text)
    held = [line for block in parsed.blocks for line in range(block.start, block.end + 1)]
    assert held == sorted(set(held))
    assert {n for n in range(1, len(parsed.lines) + 1) if not parsed.lines.is_blank(n)} <= set(held)


def test_cards_of_a_canvas_come_from_top_to_bottom_with_their_arrows() -> None:
    nodes = [
        {"id": "a", "type": "text", "text": "low", "x": 0, "y": 9},
        {"id": "b", "type": "text", "text": "# High\n\nwords", "x": 0, "y": 1},
        {"id": "c", "type": "file", "file": "notes/rope.md", "x": 5, "y": 9},
        {"id": "d", "type": "link", "url": "https://example.org", "x": 6, "y": 9},
    ]
    edges = [{"fromNode": "b", "toNode": "c", "label": "see"}, {"fromNode": "a", "toNode": "b"}]
    parsed = read(".canvas", json.dumps({"nodes": nodes, "edges": edges}))
    assert parsed.lines.text == (
        "# High\n\nwords\n\nlow\n\n[[notes/rope.md]]\n\nhttps://example.org\n\n- High → notes/rope.md: see"
    )
    assert parsed.blocks[1].place == Items("item", 1, 1)


def test_an_outline_keeps_its_depth_and_notes() -> None:
    inner = '<outline text="dry" _note="well"><outline text="in shade"/></outline>'
    parsed = read(
        ".opml",
        f'<opml><body><outline text="Ropes">{inner}</outline><outline text="x" xmlUrl="u"/></body></opml>',
    )
    assert parsed.lines.text == "## Ropes\n\n- dry\n  well\n  - in shade\n\n- x (u)"


def test_an_entry_of_its_own_stands_under_no_heading_and_one_with_a_note_is_one() -> None:
    parsed = read(
        ".opml",
        '<opml><body><outline text="Ropes"><outline text="dry"/></outline>'
        '<outline text="Sails" _note="wet"/><outline text="x"/></body></opml>',
    )
    assert parsed.lines.text == "## Ropes\n\n- dry\n\n## Sails\n\nwet\n\n- x"
    assert [block.heading_path for block in parsed.blocks[-2:]] == [("Sails",), ()]


def test_what_a_list_of_feeds_says_of_a_feed_is_kept() -> None:
    feeds = (
        '<outline text="R" description="All of ropes" xmlUrl="u"/>'
        '<outline text="S" description="S" xmlUrl="v"/>'
    )
    parsed = read(".opml", f"<opml><body>{feeds}</body></opml>")
    assert parsed.lines.text == "- R (u)\n  All of ropes\n\n- S (v)"


def test_a_list_of_feeds_that_escapes_nothing_is_read() -> None:
    feed = '<outline text="R&D &lt;x&gt;" xmlUrl="u?a=1&b=2"/>'
    parsed = read(".opml", f'<opml><body><outline text="News">{feed}</outline></body></opml>')
    assert parsed.lines.text == "## News\n\n- R&D <x> (u?a=1&b=2)"
    assert not parsed.warnings


def test_entries_are_read_one_by_one_where_quotes_in_quotes_leave_no_xml() -> None:
    broken = (
        '<opml><body><outline text="A &amp; B" description="by <a href="x">me</a>" xmlUrl="u"/></body></opml>'
    )
    parsed = read(".opml", broken)
    assert parsed.lines.text == "- A & B (u)"
    assert "without levels" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"role": "user", "content": "dry?"}, "user: dry?"),
        ({"from": "human", "value": "dry?"}, "human: dry?"),
        ({"user": "U1", "text": "dry?", "ts": "1"}, "U1: dry?"),
        (
            {
                "type": "assistant",
                "message": {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
            },
            "assistant: yes",
        ),
        (
            {"messages": [{"role": "user", "content": "a"}, {"role": "bot", "content": "b"}]},
            "user: a\n\nbot: b",
        ),
        ({"title": "Rope", "year": 1999}, "title: Rope\nyear: 1999"),
    ],
)
def test_a_chat_says_who_said_what(record: object, said: str) -> None:
    assert read(".jsonl", json.dumps(record)).lines.text == said


def test_broken_lines_of_a_chat_are_counted() -> None:
    parsed = read(".jsonl", '{"role": "a", "content": "b"}\nbroken\n')
    assert parsed.warnings == ("1 line is no JSON, and left out",)


def test_each_note_of_an_export_is_a_part_with_its_tags() -> None:
    note = (
        "<note><title>{}</title><created>20240501T000000Z</created><tag>sea</tag>"
        "<content><![CDATA[<en-note><p>words</p></en-note>]]></content></note>"
    )
    parsed = read(".enex", f"<en-export>{note.format('One')}{note.format('둘')}</en-export>")
    assert parsed.lines.text.startswith("# One\n\nCreated: 2024-05-01\nTags: sea\n\nwords\n\n# 둘")
    assert parsed.metadata.tags == ("sea",)
    assert parsed.blocks[-1].place == Items("par", 3, 3, 2)


@pytest.mark.parametrize(
    ("name", "content", "taken"),
    [
        ("README", b"# A rope\n", True),
        ("notes.xyz", "밧줄".encode(), True),
        ("notes.xyz", "밧줄은 그늘에서 말린다".encode("cp949"), True),
        ("notes.xyz", "밧줄".encode("utf-16"), True),
        ("blob", b"\x7fELF\0\0", False),
        ("photo.png", b"text all the same", False),
        ("settings.yaml", b"a: 1", False),
        ("id_rsa", b"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n", False),
        ("dump", b"x" * (MOST_BYTES + 1), False),
        ("long", "가".encode() * 3000, True),
    ],
)
def test_an_unknown_file_is_known_by_its_content(
    tmp_path: Path, name: str, content: bytes, taken: bool
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    assert (why_not(str(file), file.suffix, len(content)) is None) is taken


@pytest.mark.parametrize(
    ("name", "content", "instead"),
    [("note.rtf", b"{\\rtf1\\ansi Dry ropes.}", "DOCX"), ("page.ps", b"%!PS-Adobe-3.0\nshow", "PDF")],
)
def test_a_document_written_in_codes_is_left_out_with_what_to_do(
    tmp_path: Path, name: str, content: bytes, instead: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    assert instead in (why_not(str(file), file.suffix, len(content)) or "")


def test_page_properties_of_logseq_are_metadata_and_stay_in_the_text() -> None:
    text = (
        "title:: Dry ropes\nalias:: rope, [[밧줄]]\ntags:: [[deep sea]], #knot\nowner:: Mina\n\n"
        "- dry them\n\t- well\n"
    )
    parsed = read(".md", text)
    assert parsed.title == "Dry ropes"
    assert parsed.metadata.aliases == ("rope", "밧줄")
    assert {"deep sea", "knot"} <= set(parsed.metadata.tags)
    assert parsed.metadata.user == {"owner": "Mina"}
    assert parsed.lines.slice(parsed.blocks[0].start, parsed.blocks[0].end).startswith("title:: Dry ropes")


def test_a_double_colon_in_prose_is_no_property() -> None:
    parsed = read(".md", "The path std::vec is long.\n\nkey:: value\n")
    assert parsed.metadata.user == {}


def test_the_id_of_a_notion_export_is_no_part_of_a_title(tmp_path: Path) -> None:
    name = "Ropes and knots 0123456789abcdef0123456789abcdef_all.csv"
    stored, _ = document(tmp_path, name, "knot,use\nbowline,loop\n")
    assert stored.title == "Ropes and knots"
    assert stored.path == name
