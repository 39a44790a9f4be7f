"""The application object: one knowledge base, and everything one can do with it."""

from kebab.app.facade import Kebab

__all__ = ["Kebab"]
