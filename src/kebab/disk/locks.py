"""Locks on open files, which the operating system frees whatever becomes of their owner."""

from __future__ import annotations

import os
from contextlib import suppress

# A forked child shares the open file, and with it the lock: it would hold it after its parent is killed.
_held: set[int] = set()


def try_lock(descriptor: int) -> bool:
    """Take the lock without waiting; False while somebody else has it. Raises OSError."""
    # Imported here: it takes longer than a search's own imports, and only writers lock.
    from filelock import lock_descriptor

    if not lock_descriptor(descriptor, blocking=False):
        return False
    _held.add(descriptor)
    return True


def close(descriptor: int) -> None:
    """Close the file, which frees its lock."""
    _held.discard(descriptor)
    os.close(descriptor)


def holds(descriptor: int) -> bool:
    """Whether ``try_lock`` gave this process the lock."""
    return descriptor in _held


def _forget_in_child() -> None:
    for descriptor in _held:
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):  # where processes fork
    os.register_at_fork(after_in_child=_forget_in_child)
