"""Rerankers: models that read query and text together."""
