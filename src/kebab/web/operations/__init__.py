"""Every operation of the HTTP interface."""

from __future__ import annotations

from kebab.web.operation import Operation
from kebab.web.operations.library import LIBRARY
from kebab.web.operations.memory import MEMORY
from kebab.web.operations.workshop import WORKSHOP

OPERATIONS: tuple[Operation, ...] = (*LIBRARY, *WORKSHOP, *MEMORY)
