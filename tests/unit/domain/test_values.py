"""Our frozen dataclasses behave like those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from kebab.domain.values import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Point:
    """Where something is."""

    x: int
    y: int = 2
    marks: tuple[str, ...] = field(default_factory=tuple)
    note: str = field(default="", compare=False, repr=False)
    origin: ClassVar[str] = "here"


@dataclass(frozen=True, slots=True)
class Higher(Point):
    z: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    name: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Box(Generic[T]):
    held: T


@dataclass(frozen=True, slots=True)
class Checked:
    low: int
    total: int = field(init=False, default=7)

    def __post_init__(self) -> None:
        if self.low < 0:
            raise ValueError("too low")


@dataclass(frozen=True, slots=True)
class Empty:
    pass


@dataclass(frozen=True, slots=True)
class Alike:
    word: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike)

    def __hash__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "alike"


def test_fields_are_given_by_position_by_name_or_by_their_defaults() -> None:
    assert Point(1) == Point(x=1, y=2, marks=(), note="")
    assert (Point(1, 5, ("a",)).y, Higher(1, z=9).z) == (5, 9)


@pytest.mark.parametrize(("given", "named"), [((), {}), ((1, 2, (), "", 5), {}), ((1,), {"w": 1})])
def test_a_wrong_number_or_name_of_fields_is_refused(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Point(*given, **named)


def test_a_class_may_ask_for_names() -> None:
    assert Named(name="a").size == 0
    with pytest.raises(TypeError):
        Named("a")  # type: ignore[call-arg]


def test_nothing_can_be_changed_added_or_removed() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        point.w = 2  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        del point.x
    assert not hasattr(point, "__dict__")


def test_what_is_compared_decides_equality_and_hash() -> None:
    assert Point(1, note="a") == Point(1, note="b")
    assert hash(Point(1, note="a")) == hash(Point(1, note="b"))
    assert Point(1) != Point(2)
    assert Point(1) != Higher(1)
    assert (Empty() == Empty(), len({Empty(), Empty()}), Box(1) == Box(1)) == (True, 1, True)


def test_a_class_keeps_the_methods_that_it_defines() -> None:
    assert Alike("a") == Alike("b")
    assert (hash(Alike("a")), repr(Alike("a"))) == (1, "alike")


def test_a_value_shows_its_fields() -> None:
    assert repr(Point(1, note="hidden")) == "Point(x=1, y=2, marks=())"
    assert repr(Empty()) == "Empty()"


def test_a_check_runs_after_the_fields_are_set() -> None:
    assert Checked(1).total == 7
    with pytest.raises(ValueError, match="too low"):
        Checked(-1)


def test_copies_are_equal() -> None:
    for value in (Higher(1, 2, ("a",), "n", 4), Named(name="a"), Empty(), Checked(2)):
        for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert other == value
            assert repr(other) == repr(value)


def test_the_standard_library_takes_them_for_dataclasses() -> None:
    assert [one.name for one in fields(Higher)] == ["x", "y", "marks", "note", "z"]
    assert replace(Point(1), y=8) == Point(1, 8)
    assert asdict(Box(Point(1)))["held"]["y"] == 2
    assert dataclasses.is_dataclass(Point)
    match Point(4):
        case Point(x, y):
            assert (x, y) == (4, 2)


def test_a_mutable_default_is_refused() -> None:
    with pytest.raises(ValueError, match="mutable default"):

        @dataclass(frozen=True, slots=True)
        class _Shared:
            items: list[int] = []  # noqa: RUF012 - what is tested
