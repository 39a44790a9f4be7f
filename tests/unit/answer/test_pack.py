"""What fits into the context, and in which order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kebab.answer.pack import pack
from tests.samples import sample


def stored(*texts: str, path: str = "a.md") -> list:  # type: ignore[type-arg]
    return sample(path, *texts, title="A").stored()


def test_a_huge_first_chunk_does_not_starve_the_rest() -> None:
    packed = pack(stored("word " * 4000, "small one", "small two"), budget=300)
    assert [item.text for item in packed] == ["small one", "small two"]


def test_markers_count_from_one_without_gaps() -> None:
    packed = pack(stored("one", "word " * 4000, "three"), budget=300)
    assert [item.marker for item in packed] == [1, 2]


def test_when_nothing_fits_the_first_is_cut_at_a_line() -> None:
    text = "\n".join(f"line {n} of a long chunk" for n in range(200))
    (item,) = pack(stored(text), budget=120)
    assert text.startswith(item.text + "\n")
    assert item.tokens <= 120
    assert item.citation.end - item.citation.start == item.text.count("\n")


def test_korean_counts_about_three_times_its_length_over_four() -> None:
    korean, english = pack(stored("전세 계약 갱신은 만료 전에 알려야 합니다. " * 20, "a" * 480), budget=5000)
    assert korean.tokens > 1.5 * english.tokens


def test_no_more_items_than_a_small_model_can_hold() -> None:
    assert len(pack(stored(*(f"text {n}" for n in range(40))), budget=100_000)) == 15


@given(st.lists(st.integers(1, 3000), max_size=12), st.integers(60, 2000))
def test_the_budget_is_never_exceeded(lengths: list[int], budget: int) -> None:
    packed = pack(stored(*("x " * n for n in lengths)), budget=budget)
    assert sum(item.tokens for item in packed) <= budget
    assert [item.marker for item in packed] == list(range(1, len(packed) + 1))
