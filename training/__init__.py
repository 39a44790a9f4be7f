"""Trains kebab's own embedding model; see README.md in this folder. Not part of the wheel."""
