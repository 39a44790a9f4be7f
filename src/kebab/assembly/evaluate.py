"""The evaluation room joined to the product: what is measured is the real ingest, search and answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from kebab.assembly.answer import ask_request, build_asker
from kebab.assembly.engines import Engines
from kebab.assembly.ingest import build_pipeline
from kebab.assembly.search import Searcher
from kebab.config.sections import Source
from kebab.domain.queries import SearchMode
from kebab.evaluate.laboratory import CURRENT, Laboratory, Measured
from kebab.evaluate.tune import Candidate
from kebab.search.fusion import QueryEvidence
from kebab.search.grid import grid
from kebab.search.parse import parse_query

if TYPE_CHECKING:
    from kebab.answer.pipeline import Asker


def build_laboratory(searcher: Searcher) -> Laboratory[QueryEvidence]:
    """Measures ``searcher``'s knowledge base, and temporary ones with its settings."""
    bench = Bench(searcher)
    return Laboratory(here=bench.measured, temporary=bench.temporary)


@dataclass(frozen=True)
class Bench:
    """Shows a knowledge base, or a temporary one of a folder, as evaluation wants to see it."""

    searcher: Searcher

    def measured(self) -> Measured[QueryEvidence]:
        engines = self.searcher.engines
        embedder = engines.embedder
        candidates = {CURRENT: Candidate(self.searcher.retriever().fusion)}
        candidates |= {name: Candidate(point.policy, point.settings) for name, point in grid().items()}
        return Measured(
            documents=engines.reading.documents,
            retriever=lambda fusion: self.searcher.retriever(fusion=fusion),
            fusion=self.searcher.settings.search.hybrid_fusion,
            embedding_model=embedder.model_id if embedder else None,
            read=parse_query,
            policies=candidates,
            refuses=self._refuses,
        )

    @contextmanager
    def temporary(self, root: Path) -> Iterator[Measured[QueryEvidence]]:
        """A knowledge base of one folder, with these settings, that is gone afterwards."""
        with TemporaryDirectory(prefix="kebab-eval-") as data_dir:
            source = Source(id="eval", root=str(root.expanduser().absolute()))
            settings = msgspec.structs.replace(
                self.searcher.settings, data_dir=Path(data_dir), sources=(source,)
            )
            with closing(Engines(settings)) as engines:
                with engines.writing("ingest") as stores:
                    build_pipeline(settings, engines, stores).run()
                yield Bench(Searcher(settings, engines)).measured()

    def _refuses(self, question: str, mode: SearchMode) -> bool:
        """Whether asking ends in a refusal."""
        request = ask_request(self.searcher, question, mode=mode, k=None, filters=None)
        return not self._asker.ask(request).grounded

    @cached_property
    def _asker(self) -> Asker:
        # Questions of an evaluation are not kept as answers.
        return replace(build_asker(self.searcher), keeps=False)
