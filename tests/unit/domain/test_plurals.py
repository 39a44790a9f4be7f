from __future__ import annotations

from kebab.domain.plurals import count_of


def test_one_of_a_thing_is_told_in_the_singular() -> None:
    assert [count_of(n, "chunk") for n in (0, 1, 2)] == ["0 chunks", "1 chunk", "2 chunks"]
    assert [count_of(n, "text has", "texts have") for n in (1, 2)] == ["1 text has", "2 texts have"]
