"""What chunks promise, for any text: their lines are the file's, nothing is lost, nothing is too large."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kebab.domain.tokens import estimate_tokens
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.chunk.split import split_text
from kebab.ingest.parse.front_matter import read_front_matter
from tests.unit.ingest.building import MARKDOWN, SMALL, document


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples of a property: a fixture for each of them would be too many."""
    return tmp_path_factory.mktemp("chunks")


@given(text=MARKDOWN)
@example(text="# A\n\n" + "x" * 400)
@example(text=" ")
@example(text="- " * 200 + "deep\n\nafter")
@example(text="\x0c")
@settings(max_examples=300)
def test_cited_lines_reproduce_the_text_of_every_chunk(folder: Path, text: str) -> None:
    stored, chunks = document(folder, "a.md", text, SMALL)
    lines = stored.text.split("\n")
    for chunk in chunks:
        (span,) = chunk.spans
        cited = "\n".join(lines[span.start - 1 : span.end])
        if not chunk.text:  # of a note without text: it stands for the name
            assert not stored.text.strip()
            continue
        cut = span.start == span.end and estimate_tokens(cited) > SMALL.max_tokens
        empty = not chunk.text and not cited.strip()  # a file of white space has one chunk that says nothing
        assert empty or (chunk.text in cited if cut else chunk.text == cited)


@given(text=MARKDOWN, name=st.sampled_from(["a.md", "a.txt"]))
@settings(max_examples=300)
def test_every_line_that_is_not_blank_is_in_some_chunk(folder: Path, text: str, name: str) -> None:
    stored, chunks = document(folder, name, text, SMALL)
    skipped = read_front_matter(stored.text).lines if name.endswith(".md") else 0
    covered = {n for chunk in chunks for span in chunk.spans for n in range(span.start, span.end + 1)}
    for number, line in enumerate(stored.text.split("\n"), start=1):
        assert number <= skipped or not line.strip() or number in covered, (number, line)


@given(text=MARKDOWN)
@settings(max_examples=300)
def test_chunk_ids_are_unique_and_no_chunk_is_too_large(folder: Path, text: str) -> None:
    _, chunks = document(folder, "a.md", text, SMALL)
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert chunk.token_estimate == estimate_tokens(chunk.text) <= SMALL.max_tokens
        # A note without text has one chunk, for its name; no other chunk is empty.
        assert chunk.text.strip() or (chunk.text == "" and len(chunks) == 1)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400))
def test_the_parts_of_a_long_line_are_the_line(line: str) -> None:
    parts = list(split_text(line, 16))
    assert all(estimate_tokens(part) <= 16 for part in parts)
    assert "".join("".join(parts).split()) == "".join(line.split())


def test_a_heading_opens_its_chunk_and_gives_its_path(tmp_path: Path) -> None:
    _, chunks = document(
        tmp_path, "a.md", "intro\n\n# Top\n\nfirst\n\n## Sub\n\nsecond\n\n## Other\n\nthird\n"
    )
    assert [chunk.heading_path for chunk in chunks] == [(), ("Top",), ("Top", "Sub"), ("Top", "Other")]
    assert [chunk.text for chunk in chunks][2] == "## Sub\n\nsecond"


def test_headings_with_nothing_between_them_share_the_chunk_that_follows(tmp_path: Path) -> None:
    _, chunks = document(tmp_path, "a.md", "# Top\n\n## Empty\n\n## Sub\n\ntext\n")
    assert len(chunks) == 1
    assert chunks[0].heading_path == ("Top", "Sub")
    assert chunks[0].text == "# Top\n\n## Empty\n\n## Sub\n\ntext"


def test_code_that_fits_is_not_cut_and_stays_with_its_heading(tmp_path: Path) -> None:
    code = "```python\n" + "\n".join(f"value_{n} = {n}" for n in range(10)) + "\n```"
    policy = ChunkPolicy(target_tokens=24, overlap_tokens=8, max_tokens=200)
    _, chunks = document(tmp_path, "a.md", f"# Heading\n\n{code}\n\nafter\n", policy)
    assert chunks[0].text == f"# Heading\n\n{code}"


def test_the_next_chunk_begins_with_whole_blocks_of_the_one_before(tmp_path: Path) -> None:
    text = "# H\n\n" + "\n\n".join(f"paragraph number {n} says a little" for n in range(8))
    _, chunks = document(
        tmp_path, "a.md", text, ChunkPolicy(target_tokens=30, overlap_tokens=12, max_tokens=60)
    )
    assert len(chunks) > 2
    for before, after in pairwise(chunks):
        shared = after.text.split("\n\n")[0]
        assert before.text.endswith(shared)
        assert not shared.startswith("#")
        assert estimate_tokens(shared) <= 12


def test_a_block_that_is_too_large_is_cut_at_lines_and_each_piece_cites_its_own(tmp_path: Path) -> None:
    rows = "\n".join(f"- entry {n} of a list that never ends" for n in range(40))
    _, chunks = document(tmp_path, "a.md", f"# Log\n\n{rows}\n", SMALL)
    assert len(chunks) > 5
    assert chunks[0].text.startswith("# Log\n\n- entry 0")
    assert all(chunk.heading_path == ("Log",) for chunk in chunks)
    starts = [chunk.spans[0].start for chunk in chunks]
    assert starts == sorted(set(starts))


def test_other_sizes_give_other_ids(tmp_path: Path) -> None:
    _, some = document(tmp_path, "a.md", "# A\n\ntext\n", ChunkPolicy(500, 80, 1000))
    _, others = document(tmp_path, "a.md", "# A\n\ntext\n", ChunkPolicy(500, 80, 1001))
    assert some[0].text == others[0].text
    assert some[0].chunk_id != others[0].chunk_id


@pytest.mark.parametrize("sizes", [(10, 10, 20), (30, 5, 20), (10, -1, 20)])
def test_impossible_sizes_are_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="impossible chunk sizes"):
        ChunkPolicy(*sizes)


@pytest.mark.parametrize(
    "boilerplate",
    ["* TOC\n{:toc}", "[TOC]", "[[toc]]", "<!-- toc -->", "[Home](/) | [Next](b.md)", "{:.no_toc}"],
)
def test_boilerplate_before_a_heading_is_no_chunk_of_its_own(tmp_path: Path, boilerplate: str) -> None:
    _, chunks = document(tmp_path, "a.md", f"{boilerplate}\n\n# Title\n\ntext\n")
    assert [chunk.text for chunk in chunks] == [f"{boilerplate}\n\n# Title\n\ntext"]
    assert chunks[0].heading_path == ("Title",)


@pytest.mark.parametrize("prose", ["A sentence.", "[one link](b.md)", "- [a](a.md)\n- [b](b.md)"])
def test_what_can_be_read_before_a_heading_is_a_chunk(tmp_path: Path, prose: str) -> None:
    _, chunks = document(tmp_path, "a.md", f"{prose}\n\n# Title\n\ntext\n")
    assert [chunk.text for chunk in chunks] == [prose, "# Title\n\ntext"]
