"""Walls: the part of a knowledge base that whoever opened it may see and change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kebab.domain.executions import Execution, ExecutionFilters
from kebab.domain.globs import glob_matches
from kebab.domain.queries import SearchFilters


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """Documents of these sources at these paths, and runs of this scope; an empty field is no wall.

    What lies outside does not exist for those inside: it is not found, not named and not counted.
    """

    source: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    """Globs; a document must match one of them."""
    scope: Mapping[str, str] = field(default_factory=dict)
    """Each of project, user and session must be the run's own."""

    def __bool__(self) -> bool:
        return self != OPEN

    @property
    def documents(self) -> SearchFilters:
        """The documents inside; an empty filter where all are."""
        return SearchFilters(source=self.source, path=self.path)

    @property
    def closes_memory(self) -> bool:
        """Whether no run lies inside: who may see some documents only must not read of others in a run."""
        return bool(self.documents) and not self.scope

    def admits(self, source_id: str, path: str) -> bool:
        """Whether a document there is inside."""
        named = not self.source or source_id in self.source
        return named and (not self.path or any(glob_matches(glob)(path) for glob in self.path))

    def holds(self, run: Execution) -> bool:
        """Whether a run is inside."""
        return all(run.scope.get(name) == value for name, value in self.scope.items())

    def narrowed(self, filters: ExecutionFilters) -> ExecutionFilters | None:
        """The filters inside the walls; None where they ask for another scope, which holds nothing."""
        if any(filters.scope.get(name, value) != value for name, value in self.scope.items()):
            return None
        return replace(filters, scope={**filters.scope, **self.scope})


OPEN = Walls()
"""No walls."""
