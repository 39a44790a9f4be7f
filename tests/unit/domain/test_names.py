"""What a note is called: spellings of one name meet, different names do not."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kebab.domain.ids import nfc
from kebab.domain.names import (
    about_text,
    folded,
    indexed_words,
    latin_words,
    letters,
    name_key,
    name_keys,
    name_text,
    plain_words,
    written,
)

ANY_TEXT = st.one_of(
    st.text(),
    st.text(
        alphabet="abcXYZ_09 -./#'“”…·™½①ﬁＡ\u0338\u0301\u212a\u037e\u3000\u00a0가나다\u1103\u1166éÉǰẖß漢<=\n",
        max_size=60,
    ),
)


def _words_one_by_one(text: str) -> list[str]:
    """What plain_words promises, by the simplest means."""
    runs = re.findall("[가-힣]+|[^\\W_가-힣]+", _folded_without_haste(nfc(text)))
    distinct = dict.fromkeys(run[:64] for run in runs)
    return [unicodedata.normalize("NFD", word) for word in distinct]


def _folded_without_haste(text: str) -> str:
    apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", re.sub("([a-z])[\u0300-\u036f]+", "\\1", apart))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2021 March", "2021-march"),
        ("React Hooks", "ReactHooks"),
        ("소유권 규칙", "소유권규칙"),
        ("Café", "cafe"),
        ("_index", "index"),
    ],
)
def test_spellings_of_one_name_have_one_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other) != ""


@pytest.mark.parametrize(("one", "other"), [("C", "C++"), ("C", "C#"), ("polars", "polarization")])
def test_different_names_have_different_keys(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


def test_a_path_is_a_name_from_each_of_its_folders_on() -> None:
    keys = name_keys(path="docs/lang/go.md", title="Go", aliases=("golang",))
    assert set(keys) == {"go", "golang", "docslanggomd", "langgomd", "gomd", "docslanggo", "langgo"}


@pytest.mark.parametrize("asked", ["2021-03-04", "20210304", "March 4, 2021", "4 mar 2021", "2021년 3월 4일"])
def test_a_daily_note_is_called_by_its_date(asked: str) -> None:
    assert name_key(asked) in name_keys(path="daily/2021-03-04.md", title="2021-03-04", aliases=())


@pytest.mark.parametrize("asked", ["2021-03-04", "4 March 2021", "2021년 3월 4일"])
def test_a_note_is_called_by_the_day_that_stands_in_the_name_of_its_file(asked: str) -> None:
    for stem in ("2021-03-04-review", "20210304-review", "review 2021-03-04"):
        assert name_key(asked) in name_keys(path=f"work/{stem}.md", title="Review", aliases=())


@pytest.mark.parametrize("asked", ["March 2021", "2021 march", "mar 2021", "2021-03", "2021년 3월"])
@pytest.mark.parametrize("stem", ["2021-march", "March 2021", "2021-03", "2021_03"])
def test_a_note_of_a_month_is_called_by_it(stem: str, asked: str) -> None:
    assert name_key(asked) in name_keys(path=f"looking-back/{stem}.md", title="x", aliases=())


def test_a_day_that_does_not_exist_is_no_date() -> None:
    assert name_keys(path="2021-02-31.md", title="x", aliases=()) == ("x", "20210231md", "20210231")


@given(st.text(max_size=40))
def test_composed_and_decomposed_names_are_one(text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert name_key(composed) == name_key(decomposed)
    assert plain_words(composed) == plain_words(decomposed)


@given(st.text(max_size=40))
@example("À\ua8c4")
def test_a_key_holds_no_space_and_is_its_own_key(text: str) -> None:
    key = name_key(text)
    assert not any(map(str.isspace, key))
    assert name_key(key) == key


def test_words_are_as_written_without_case_and_accents() -> None:
    assert plain_words("Polarization of naïve find_similar, of") == [
        "polarization",
        "of",
        "naive",
        "find",
        "similar",
    ]


def test_a_korean_word_is_its_letters_and_reads_as_before() -> None:
    (word,) = plain_words("소유권")
    assert word == letters("소유권") != "소유권"
    assert written(word) == "소유권"
    assert latin_words("Rust의 소유권") == ["rust"]


@given(ANY_TEXT)
def test_the_short_ways_to_fold_a_text_lead_where_the_long_one_does(text: str) -> None:
    assert folded(text) == _folded_without_haste(text)


@given(ANY_TEXT)
def test_the_words_of_a_text_are_found_the_same_by_its_bytes(text: str) -> None:
    assert plain_words(text) == _words_one_by_one(text)


@given(ANY_TEXT)
def test_an_index_gets_each_plain_word_once(text: str) -> None:
    assert sorted(indexed_words(text).split()) == sorted(plain_words(text))


def test_every_letter_that_loses_its_accent_is_found_in_haste() -> None:
    letters_of_all = "".join(map(chr, [*range(0x80, 0xD800), *range(0xE000, 0x20000)]))

    assert [folded(one) for one in letters_of_all] == [_folded_without_haste(one) for one in letters_of_all]


@given(
    st.lists(st.text(alphabet="ab.노 -_#", min_size=1, max_size=8), min_size=1, max_size=4)
    .filter(lambda parts: not any(part.strip(".") == "" for part in parts))
    .map("/".join)
)
@example("work/notes.tar.gz")
@example(".hidden")
@example("a/b.")
def test_a_note_is_called_by_the_name_of_its_file_without_the_extension(path: str) -> None:
    file = PurePosixPath(path)

    assert name_text(path=path, title="", aliases=()).split("\n")[-1] == file.stem
    assert about_text(path=path, tags=(), summary="").split("\n")[:-1] == list(file.parts[:-1])
