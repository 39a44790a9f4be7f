"""The doctor's view of the execution memory: its store answers, its indexes follow."""

from __future__ import annotations

from functools import partial

from kebab.domain.executions import ExecutionFilters
from kebab.domain.reports import Check, CheckStatus
from kebab.errors import Locked
from kebab.memory.follow import catch_up
from kebab.ports import MemoryAccess, MemoryKind
from kebab.upkeep.doctor import guarded

MEMORY = "execution memory"


def checked_memory(memory: MemoryAccess, *, repair: bool) -> Check:
    """How the memory is; with ``repair`` its indexes, which are derived, are built anew where they fail."""
    check = guarded(MEMORY, partial(_examined, memory))
    if not repair or check.status is not CheckStatus.FAULT:
        return check
    again = guarded(MEMORY, partial(_mended, memory))
    if again.status is CheckStatus.OK:
        return Check(MEMORY, CheckStatus.REPAIRED, f"{again.detail}; was: {check.detail}")
    return again


def _examined(memory: MemoryAccess) -> Check:
    try:
        stats = memory.execution_store.stats()
    except Locked as error:
        return Check(MEMORY, CheckStatus.OK, f"not looked at: {error.message}")
    for kind in MemoryKind:
        index = memory.execution_index(kind)
        index.words("kebab", filters=ExecutionFilters(), limit=1)
        index.spaces()
    return Check(MEMORY, CheckStatus.OK, f"{stats.executions} executions")


def _mended(memory: MemoryAccess) -> Check:
    for kind in MemoryKind:
        index = memory.execution_index(kind)
        index.clear()
        store = memory.execution_store
        catch_up(store, index, kind, latest=store.revision(kind))
    return _examined(memory)
