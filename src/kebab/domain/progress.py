"""How a long job is watched, and how it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kebab.domain.ingests import IngestProgress

Progress = Callable[["IngestProgress"], None]
"""Hears each event of the job as it happens."""
Cancelled = Callable[[], bool]
"""Asked between steps; once it says yes, the job ends early and says so."""


def silent(_: IngestProgress) -> None:
    """Hears the events and says nothing."""


def never() -> bool:
    """Lets the job run to its end."""
    return False
