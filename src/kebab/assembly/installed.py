"""Packages that come with an extra: whether they are installed, asked without importing them."""

from __future__ import annotations

from importlib.util import find_spec

from kebab.errors import EngineUnavailable


def is_installed(module: str) -> bool:
    return find_spec(module) is not None


def require(module: str, what: str, *, extra: str) -> None:
    """Raises EngineUnavailable, which names what needs the package and the extra that brings it."""
    if not is_installed(module):
        raise EngineUnavailable(
            f"{what}, which is not installed", hint=f"install it with: pip install 'kebab[{extra}]'"
        )
