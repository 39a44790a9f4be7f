"""What adapters that speak HTTP to a model's server share: the client's package, and whose address it is."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from kebab.errors import ModelUnavailable


def httpx_package() -> Any:
    """The package httpx. Raises ModelUnavailable, with the command that installs it."""
    try:
        import httpx
    except ImportError as error:
        raise ModelUnavailable(
            "the package httpx is not installed", hint="pip install 'kebab[remote]'"
        ) from error
    return httpx


def is_loopback(url: str) -> bool:
    """Whether an address is on this computer, where no proxy of the environment belongs in between."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # the client names what is wrong with the address
        return False
    return host in ("localhost", "::1") or host.startswith("127.")
