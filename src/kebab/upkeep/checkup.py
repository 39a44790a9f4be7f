"""Examining everything around and in a knowledge base: its place, its stores, what is derived, its memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kebab.disk.data_folder import DataFolder
from kebab.domain.ingests import IngestPhase
from kebab.domain.layout import DataLayout
from kebab.domain.progress import Progress, inside, silent, whole_job
from kebab.domain.reports import Check, CheckStatus, DoctorReport
from kebab.domain.turns import ALONE, InCharge, Turns
from kebab.errors import EngineError, Locked, NotIndexed
from kebab.ingest.pipeline import IngestPipeline
from kebab.ports import Analyzer, MemoryAccess, StoreAccess, Stores
from kebab.upkeep.doctor import Doctor
from kebab.upkeep.examine_indexes import MISSING, MODEL, examine_model
from kebab.upkeep.examine_memory import checked_memory
from kebab.upkeep.examine_place import (
    examine_config,
    examine_disk,
    examine_folder,
    examine_leftovers,
    examine_lock,
    examine_sizes,
    examine_sources,
)
from kebab.upkeep.examine_store import DOCUMENTS, take_samples
from kebab.upkeep.index import IndexBuilder

_COMPARED = 64
"""Vectors of a bundle that are computed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What ``kebab doctor`` does. A part that cannot be opened is a finding, not an error."""

    layout: DataLayout
    folder: DataFolder
    config_file: Path | None
    roots: Mapping[str, Path]
    """The folders of the sources, by id."""
    endpoints: tuple[str, ...]
    access: StoreAccess
    builder: IndexBuilder
    analyzer: Analyzer
    memory: MemoryAccess | None
    """None where nothing was ever recorded."""

    pipeline: Callable[[Stores, Turns], IngestPipeline]
    """Reads the sources into the stores, for what is damaged in them."""
    published: Callable[[], Check] | None = None
    """Looks at the address that this was published at; None where it is stored here alone."""

    def run(self, *, repair: bool, full: bool = False, progress: Progress = silent) -> DoctorReport:
        """Every check; ``full`` reads all that is stored, ``repair`` does too and mends what it can.

        One terminal event ends the progress.
        """
        with whole_job(progress, IngestPhase.CHECK) as heard:
            return self._run(repair=repair, full=full, progress=heard)

    def _run(self, *, repair: bool, full: bool, progress: Progress) -> DoctorReport:
        owner = self.access.lock_owner()
        # Of a writer at work it cannot be told what it will still remove.
        left = [] if owner else self.folder.leftovers()
        place = self._place(owner)
        condition = self._condition(repair=repair, full=full, writing=owner is not None, progress=progress)
        if not repair and owner is None:
            self._note_damage(condition)
        checks = [*place, self._leftovers(left, repair=repair), *condition]
        return DoctorReport((*checks, *self._memory(repair=repair)), self.endpoints)

    def _leftovers(self, left: Sequence[Path], *, repair: bool) -> Check:
        if repair and left:
            with self.access.locked("doctor --repair"):
                pass  # whoever takes the lock removes them
        return examine_leftovers(left)

    def _place(self, owner: str | None) -> list[Check]:
        folder, file = self.layout.folder, self.layout.database
        elsewhere = [self.published()] if self.published else []
        return [
            *elsewhere,
            examine_config(self.config_file),
            examine_sources(self.roots),
            examine_folder(folder, readonly=self.access.readonly),
            examine_disk(folder, needed=file.stat().st_size if file.exists() else 0),
            examine_sizes(self.layout),
            examine_lock(owner),
        ]

    def _note_damage(self, condition: Sequence[Check]) -> None:
        """Let the next ingest read damaged documents again, and embed anew what has a damaged vector."""
        faults = {check.name for check in condition if check.status is CheckStatus.FAULT}
        if faults & {DOCUMENTS, MISSING} and not self.access.readonly:
            with suppress(EngineError), self.access.writing("doctor") as stores:
                stores.embeddings.drop_damaged()
                stores.documents.distrust(stores.documents.damaged())

    def _condition(self, *, repair: bool, full: bool, writing: bool, progress: Progress) -> list[Check]:
        """The stores and what is derived; a store that cannot be opened is the one finding."""
        if repair:
            self.access.forbid_readonly("doctor --repair")
        try:
            self.access.require()
            if not repair:
                here = self.access.reading
                return self._doctor(here, full=full, writing=writing, progress=progress).examine()
            with self.access.session("doctor --repair", in_charge=True) as (stores, turns):
                # Whoever repairs looks at everything: the part not looked at would be called healthy.
                doctor = self._doctor(stores, full=True, writing=False, turns=turns, progress=progress)
                return doctor.mend()
        except NotIndexed as error:
            return [Check("store", CheckStatus.WARNING, error.message, error.hint)]
        except Locked:
            raise
        except EngineError as error:
            return [Check("store", CheckStatus.FAULT, error.message, error.hint)]

    def faults(self, stores: Stores, progress: Progress = silent) -> list[Check]:
        """What is wrong with these stores and what was derived from them; more vectors than usual are
        compared. A model that cannot be loaded is none of their faults.
        """
        doctor = self._doctor(stores, full=True, writing=False, progress=progress)
        checks = doctor.examine()
        if doctor.model_error is not None:
            checks = [check for check in checks if check.name != MODEL]
        else:
            samples = take_samples(stores.documents, rng=doctor.rng, count=_COMPARED)
            embedder = doctor.indexer.embedder
            checks.append(examine_model(embedder, stores.embeddings, samples=samples, compared=_COMPARED))
        return [check for check in checks if check.status is CheckStatus.FAULT]

    def _doctor(
        self,
        stores: Stores,
        *,
        full: bool,
        writing: bool,
        turns: Turns = ALONE,
        progress: Progress = silent,
    ) -> Doctor:
        broken: EngineError | None = None
        try:
            self.builder.meaning()
        except EngineError as error:
            broken = error
        return Doctor(
            file=stores.database,
            store=stores.documents,
            embeddings=stores.embeddings,
            ledger=stores.ledger,
            analyzer=self.analyzer,
            indexer=self.builder.indexer(stores, turns=turns),
            model_error=broken,
            writing=writing,
            full=full,
            progress=progress,
            read_again=lambda: self.pipeline(stores, InCharge(turns)).run(progress=inside(progress)),
        )

    def _memory(self, *, repair: bool) -> list[Check]:
        return [checked_memory(self.memory, repair=repair)] if self.memory else []
