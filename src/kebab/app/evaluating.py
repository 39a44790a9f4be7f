"""The part of the application object that measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kebab.app.calls import Calls, call

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines
    from kebab.assembly.rooms import Rooms
    from kebab.domain.evaluations import EvalReport
    from kebab.evaluate.archive import Archive
    from kebab.evaluate.laboratory import Laboratory


class Evaluating:
    """Golden queries, standard collections, and the runs that are kept."""

    engines: Engines
    calls: Calls
    _rooms: Rooms

    @property
    @call
    def laboratory(self) -> Laboratory:
        """Golden queries, standard collections and tuning, measured on this configuration."""
        return self._rooms.laboratory

    @property
    @call
    def evaluations(self) -> Archive:
        """The evaluation runs kept in this knowledge base."""
        from kebab.evaluate.archive import Archive

        return Archive(self.engines.reading.evaluations)

    @call
    def keep_evaluation(self, report: EvalReport) -> bool:
        """Keep a run where there is a knowledge base to keep it in and nothing forbids writing."""
        from kebab.assembly.evaluate import keep_report

        return keep_report(self.engines, report)
