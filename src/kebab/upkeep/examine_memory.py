"""The doctor's view of the execution memory: all that a search reads is looked at."""

from __future__ import annotations

from functools import partial

from kebab.domain.reports import Check, CheckStatus
from kebab.errors import Locked
from kebab.ports import MemoryAccess
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
        faults = memory.memory_faults()
    except Locked as error:
        return Check(MEMORY, CheckStatus.OK, f"not looked at: {error.message}")
    if faults:
        return Check(MEMORY, CheckStatus.FAULT, "; ".join(faults), "repair it with: kebab doctor --repair")
    return Check(MEMORY, CheckStatus.OK, f"{stats.executions} executions")


def _mended(memory: MemoryAccess) -> Check:
    memory.mend_memory()
    return _examined(memory)
