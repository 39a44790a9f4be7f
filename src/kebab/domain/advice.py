"""What the memory says about a task before it is started: repeated tasks in groups, and what worked."""

from __future__ import annotations

from dataclasses import dataclass

from kebab.domain.executions import Execution
from kebab.domain.hits import Degradation


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A value that runs of one outcome share and those of the other lack."""

    field: str
    value: str
    succeeded: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroup:
    """Runs of what is one task, newest first, and how they ended."""

    description: str
    relevance: float
    tried: int
    worked: int
    last_failure: Execution | None
    last_success: Execution | None
    differences: tuple[Difference, ...]
    """What successful runs did that failed ones did not, clearest first."""
    documents: tuple[str, ...]
    """What successful runs used and failed ones did not."""
    lessons: tuple[tuple[str, str], ...]
    """Id and lesson, newest first, each lesson once."""
    executions: tuple[str, ...]

    @property
    def headline(self) -> str:
        """ "Did it work?" in one line."""
        times = "once" if self.tried == 1 else f"{self.tried} times"
        if self.tried == 1:
            worked = "it worked" if self.worked else "it failed"
        else:
            worked = {0: "none worked", self.tried: "all worked"}.get(self.worked, f"{self.worked} worked")
        return f"tried {times}, {worked}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """``text`` is the shortest useful summary, within the budget that was asked for; empty if never done."""

    task: str
    groups: tuple[TaskGroup, ...]
    text: str
    tokens: int
    left_out: int = 0
    """Groups that the budget did not let in."""
    withheld: int = 0
    degraded: tuple[Degradation, ...] = ()
