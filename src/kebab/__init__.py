"""kebab: a local-first knowledge base with explainable hybrid search."""

__version__ = "0.1.0"
