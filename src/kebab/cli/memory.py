"""``kebab memory``: the group with all its commands, which add themselves to it."""

from __future__ import annotations

from kebab.cli import memory_recall, memory_records, memory_transfer
from kebab.cli.memory_group import memory

__all__ = ["memory", "memory_recall", "memory_records", "memory_transfer"]
