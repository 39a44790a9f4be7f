"""What every reader of source code promises."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kebab.adapters.tree_sitter_code import TreeSitterCodeReader
from kebab.ports import CodeReader, Definition
from tests.code_fakes import FakeCodeReader

SHIP = "import rope\n\n\nclass Ship:\n    def speed(self):\n        return 1\n\n\ndef twin():\n    return 2\n"


@pytest.fixture(params=[FakeCodeReader, TreeSitterCodeReader])
def reader(request: pytest.FixtureRequest) -> CodeReader:
    made: CodeReader = request.param()
    return made


def test_definitions_come_in_order_with_the_names_that_enclose_them(reader: CodeReader) -> None:
    found = reader.outline(SHIP, grammar="python").definitions
    assert found == (
        Definition(("Ship",), 4, 6),
        Definition(("Ship", "speed"), 5, 6),
        Definition(("twin",), 9, 10),
    )


def test_a_text_without_definitions_has_an_empty_outline(reader: CodeReader) -> None:
    assert reader.outline("", grammar="python").definitions == ()
    assert reader.outline("x = 1\n", grammar="python").definitions == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.sampled_from(["def a():", "class B:", "    def c():", "x", "", "@d", "# e", "(", '"""'])))
def test_whatever_the_text_definitions_have_names_and_lie_in_it(reader: CodeReader, lines: list[str]) -> None:
    found = reader.outline("\n".join(lines), grammar="python").definitions
    assert all(path and all(path) and 1 <= start <= end <= len(lines) for path, start, end, _ in found)
    assert [one.start for one in found] == sorted(one.start for one in found)
