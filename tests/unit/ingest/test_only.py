"""A choice of paths: what is named, and what lies below it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kebab.ingest.scan import Only

PATHS = st.lists(st.sampled_from(["a", "ab", "b", "a b"]), min_size=1, max_size=4).map("/".join)


@given(named=st.sets(PATHS, min_size=1, max_size=6), path=PATHS, crowd=st.booleans())
def test_a_path_is_held_where_it_or_a_folder_above_it_is_named(
    named: set[str], path: str, crowd: bool
) -> None:
    others = {f"other {number}" for number in range(60)} if crowd else set()
    only = Only.of(named | others)
    assert only is not None
    parts = path.split("/")
    expected = any("/".join(parts[:end]) in named for end in range(1, len(parts) + 1))
    assert only.holds(path) == only.holds(f"{path}/") == expected


def test_no_path_and_the_root_itself_stand_for_everything() -> None:
    assert Only.of([]) is None
    assert Only.of(["a", "/"]) is None
