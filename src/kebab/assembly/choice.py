"""How a name in the settings becomes an engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from kebab.errors import ConfigInvalid

T = TypeVar("T")


def chosen(builders: Mapping[str, T], name: str, *, key: str) -> T:
    """The builder of that name; raises ConfigInvalid, naming the setting's ``key``, where there is none."""
    if name not in builders:
        raise ConfigInvalid(f"{key}: there is no {name!r}", hint=f"one of {', '.join(builders)}")
    return builders[name]
