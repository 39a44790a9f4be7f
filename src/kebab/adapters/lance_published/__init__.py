"""A published knowledge base as Lance datasets, in a folder or an object store."""
