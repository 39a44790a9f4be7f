"""kebab: a local-first knowledge base with explainable hybrid search.

>>> from kebab import Kebab
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own would load typing, which takes longer than all else here
if TYPE_CHECKING:
    from kebab.app import Kebab

__version__ = "0.1.0"
__all__ = ["Kebab", "__version__"]


def __getattr__(name: str) -> object:
    # Loaded when asked for: the command line imports this package for its version alone.
    if name == "Kebab":
        from kebab.app import Kebab

        return Kebab
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
