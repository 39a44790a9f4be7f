"""The evaluation room joined to the product: what is measured is the real ingest, search and answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir

import msgspec

from kebab.assembly.answer import build_asker
from kebab.assembly.engines import Engines
from kebab.assembly.ingest import build_pipeline
from kebab.assembly.search import build_searcher
from kebab.config.sections import Source
from kebab.disk.scratch import scratch_folder
from kebab.domain.evaluations import EvalReport
from kebab.errors import Locked
from kebab.evaluate.archive import Archive
from kebab.evaluate.laboratory import Laboratory, Measured


def build_laboratory(engines: Engines) -> Laboratory:
    """Measures the open knowledge base, and temporary ones with its settings."""
    return Laboratory(MeasuredBases(engines))


def keep_report(engines: Engines, report: EvalReport) -> bool:
    """Keep a run where there is a knowledge base to keep it in and nothing forbids writing."""
    if engines.readonly or not engines.layout.database.is_file():
        return False
    try:
        with engines.session("eval run") as (stores, turns), turns.turn():
            Archive(stores.evaluations).keep(report)
    except Locked:
        return False
    return True


@dataclass(frozen=True)
class MeasuredBases:
    engines: Engines

    def here(self) -> Measured:
        searcher = build_searcher(self.engines)
        embedder = self.engines.embedder
        return Measured(
            searcher=searcher,
            asker=replace(build_asker(self.engines, searcher), keeps=False),
            fusion=self.engines.settings.search.hybrid_fusion,
            embedding_model=embedder.model_id if embedder else None,
        )

    @contextmanager
    def of_folder(self, root: Path) -> Iterator[Measured]:
        with scratch_folder(Path(gettempdir()), "eval") as data_dir:
            source = Source(id="eval", root=str(root.expanduser().absolute()))
            settings = msgspec.structs.replace(self.engines.settings, data_dir=data_dir, sources=(source,))
            with closing(Engines(settings)) as engines:
                with engines.writing("ingest") as stores:
                    build_pipeline(settings, engines, stores).run()
                yield MeasuredBases(engines).here()
