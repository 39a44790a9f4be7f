"""Front matter from anybody's files: read where it can be, never a reason to lose the body."""

from __future__ import annotations

import json

import pytest

from kebab.domain.documents import TrustLevel
from kebab.ingest.parse.front_matter import read_front_matter
from kebab.ingest.parse.metadata import read_metadata
from kebab.ingest.parse.parsed import Defaults, Parsed


def metadata(text: str) -> Parsed:
    from kebab.ingest.parse.lines import Lines
    from kebab.ingest.parse.markdown import parse_markdown

    return parse_markdown(Lines(text), Defaults("stem"))


def test_known_keys_become_metadata_and_others_are_kept() -> None:
    parsed = metadata(
        "---\ntitle: T\ntags: [rust, '#memory']\naliases: [one, two]\ndate: 2024-03-01\n"
        "updated_at: 2024-03-02T10:00:00+09:00\ntrust_level: secondary\nsource_type: paper\n"
        "rating: 5\nnested: {a: [1, 2.5, null, true]}\n---\nbody\n"
    )
    found = parsed.metadata
    assert found.tags == ("rust", "memory")
    assert found.aliases == ("one", "two")
    assert (found.created_at, found.updated_at) == ("2024-03-01", "2024-03-02T10:00:00+09:00")
    assert (found.trust_level, found.source_type) == (TrustLevel.SECONDARY, "paper")
    assert found.user == {"rating": 5, "nested": {"a": [1, 2.5, None, True]}}


def test_toml_is_read_too() -> None:
    parsed = metadata('+++\ntitle = "T"\ntags = ["a"]\ndate = 2024-03-01\n+++\nbody\n')
    assert (parsed.title, parsed.metadata.tags, parsed.metadata.created_at) == ("T", ("a",), "2024-03-01")


@pytest.mark.parametrize("written", ["tags: a, b", "tags: a b", "tag: [a, b]", "tags:\n  - a\n  - b"])
def test_tags_may_be_written_in_several_ways(written: str) -> None:
    assert metadata(f"---\n{written}\n---\nx").metadata.tags == ("a", "b")


@pytest.mark.parametrize(
    "broken",
    [
        "title: [unclosed",
        "a: &x [1]\nb: [*x, *x]",
        "x: " + "[" * 100 + "]" * 100,
        "- " * 30_000 + "x",
        "n: !!int " + "9" * 5000,
        "!!python/object/apply:os.system ['true']",
        "a: b: c",
        "\tkey: tab",
    ],
)
def test_broken_front_matter_is_a_warning_and_the_body_is_kept(broken: str) -> None:
    parsed = metadata(f"---\n{broken}\n---\n\n# Body\n")
    assert len(parsed.warnings) == 1
    assert parsed.warnings[0].startswith("front matter not read: ")
    assert [block.heading for block in parsed.blocks] == ["Body"]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("title: x\ntags: [a", "line 4, column 1: did not find expected ',' or ']', while parsing"),
        ("a: b: c", "line 2, column 5: mapping values are not allowed"),
        ("a: \x01", "unacceptable character #x0001"),
    ],
)
def test_broken_front_matter_is_told_by_the_lines_of_the_file(broken: str, said: str) -> None:
    (warning,) = metadata(f"---\n{broken}\n---\n\n# Body\n").warnings
    assert said in warning
    assert "<unicode string>" not in warning


def test_a_few_lines_of_aliases_do_not_fill_the_memory() -> None:
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [" + ",".join([f"*a{n - 1}"] * 9) + "]\n" for n in range(1, 12)
    )
    assert metadata(f"---\n{bomb}---\nbody\n").warnings == (
        "front matter not read: YAML aliases are not allowed",
    )


@pytest.mark.parametrize("text", ["---\n\nno end\n", "---\njust words\n---\nmore\n", "----\na: b\n----\n"])
def test_a_thematic_break_is_no_front_matter(text: str) -> None:
    assert read_front_matter(text).lines == 0


@pytest.mark.parametrize(
    "written",
    [
        "On",
        "no",
        "yes",
        "true",
        "null-ish",
        "007",
        "0",
        "-1",
        "42",
        "1_000",
        "12:30",
        "1.10",
        "2.5",
        "1e3",
        ".5",
        "0x1F",
        "0.0001",
        "0.00001",
        "-0",
        "+1",
        "=",
        "2024-01-01",
        "123456789012345678901234567890",
    ],
)
def test_a_title_and_a_tag_read_as_they_are_written(written: str) -> None:
    parsed = metadata(f"---\ntitle: {written}\ntags: [{written}]\nlang: {written}\n---\nx")
    assert (parsed.title, parsed.metadata.tags, parsed.lang) == (written, (written,), written.lower())


def test_plain_numbers_and_truth_values_of_other_keys_keep_their_type() -> None:
    found = metadata("---\nrating: 5\nscore: -2.5\ndone: true\nzip: 04524\n---\nx").metadata.user
    assert found == {"rating": 5, "score": -2.5, "done": True, "zip": "04524"}


def test_an_impossible_date_is_kept_as_written() -> None:
    assert metadata("---\ndate: 2024-13-40\n---\nx").metadata.created_at == "2024-13-40"


def test_an_unknown_trust_level_is_a_warning() -> None:
    parsed = metadata("---\ntrust_level: absolute\n---\nx")
    assert parsed.metadata.trust_level is TrustLevel.PRIMARY
    assert "trust_level 'absolute' is not one of" in parsed.warnings[0]


def test_the_source_gives_what_the_file_does_not_say() -> None:
    found, _ = read_metadata({}, Defaults("x", "reference", TrustLevel.GENERATED))
    assert (found.source_type, found.trust_level) == ("reference", TrustLevel.GENERATED)


def test_every_value_can_be_written_as_json() -> None:
    values = read_front_matter(
        "---\n1: !!float .inf\nset: !!set {a, b}\nbin: !!binary aGk=\nnone: ~\ndate: 2024-01-01\n---\n"
    ).values
    assert json.loads(json.dumps(dict(values), allow_nan=False))["1"] == "inf"


def test_front_matter_that_is_too_long_is_text_with_a_warning() -> None:
    filler = "".join(f"key{n}: value\n" for n in range(10_000))
    long = read_front_matter(f"---\n{filler}---\nbody\n")
    assert (long.lines, long.warnings) == (0, ("front matter not read: it is longer than 64 KB",))
    prose = "a sentence between two rules\n" * 5_000
    assert read_front_matter(f"---\n{prose}---\nbody\n").warnings == ()
