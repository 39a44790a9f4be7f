"""Every number from outside has an end: memory and time follow it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

import msgspec
import pytest

from kebab.config.sections import File
from kebab.wire import requests
from kebab.wire.requests import Request


def numbers_of(struct: Any, path: str) -> Iterator[tuple[str, list[Any]]]:
    """The keys below a struct that take a number, with what is said of its size."""
    for field in msgspec.structs.fields(struct):
        for kind, bounds in _alternatives(field.type):
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                yield from numbers_of(kind, f"{path}.{field.name}")
            elif kind in (int, float):
                yield f"{path}.{field.name}", bounds


def _alternatives(kind: Any) -> Iterator[tuple[Any, list[Any]]]:
    """The types that a type may be, each with what its annotations say."""
    if get_origin(kind) is Annotated:
        bare, *said = get_args(kind)
        yield from ((found, [*said, *more]) for found, more in _alternatives(bare))
    elif get_args(kind) and get_origin(kind) is not tuple:
        for part in get_args(kind):
            yield from _alternatives(part)
    else:
        yield kind, []


def unbounded(found: dict[str, list[Any]]) -> list[str]:
    return [name for name, said in found.items() if not any(getattr(part, "le", None) for part in said)]


def test_every_number_of_a_request_has_an_end() -> None:
    for module in pkgutil.iter_modules(requests.__path__, "kebab.wire.requests."):
        importlib.import_module(module.name)
    kinds = Request.__subclasses__()
    found = dict(item for kind in kinds for item in numbers_of(kind, kind.__name__))

    assert len(found) > 8
    assert unbounded(found) == []


def test_every_whole_number_in_the_settings_has_an_end() -> None:
    found = {name: said for name, said in numbers_of(File, "file") if _is_whole(name)}

    assert len(found) > 8
    assert unbounded(found) == []


def _is_whole(name: str) -> bool:
    owner: Any = File
    for part in name.split(".")[1:]:
        owner = next(field.type for field in msgspec.structs.fields(owner) if field.name == part)
    return any(kind is int for kind, _ in _alternatives(owner))


@pytest.mark.parametrize("kind", [int, int | None, Annotated[int | None, "said"], Annotated[int, "a"] | None])
def test_a_number_is_seen_behind_what_is_said_of_it(kind: Any) -> None:
    assert int in [found for found, _ in _alternatives(kind)]
