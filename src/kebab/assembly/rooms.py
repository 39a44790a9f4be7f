"""The rooms of one knowledge base, each built at its first use and then shared by all threads.

A room is imported when it is first used, so that ``kebab --help`` loads none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING

from kebab.assembly.once import once

if TYPE_CHECKING:
    from kebab.answer.pipeline import Asker
    from kebab.assembly.engines import Engines
    from kebab.brief.briefer import Briefer
    from kebab.evaluate.laboratory import Laboratory
    from kebab.ingest.pipeline import IngestPipeline
    from kebab.ingest.refresh import Refreshed
    from kebab.ingest.targets import Target
    from kebab.ingest.watch import Heard, Watcher
    from kebab.memory.room import ExecutionMemory
    from kebab.search.links import Linker
    from kebab.search.read import Reader
    from kebab.search.related import Relater
    from kebab.search.searcher import Searcher
    from kebab.upkeep.checkup import Checkup
    from kebab.upkeep.index import IndexBuilder
    from kebab.upkeep.model_shelf import ModelShelf
    from kebab.upkeep.move import Mover
    from kebab.upkeep.publish import Publisher
    from kebab.upkeep.reset import Reset


class Rooms:
    """Holds what is costly to make: the retriever with both indexes open, the asker, the memory."""

    def __init__(self, engines: Engines) -> None:
        self._engines = self.engines = engines
        self._lock = RLock()
        self._searcher: Searcher | None = None
        self._asker: Asker | None = None
        self._briefer: Briefer | None = None
        self._relater: Relater | None = None

    @property
    def searcher(self) -> Searcher:
        """Raises NotIndexed where there is no knowledge base.

        Held once it is whole. Without its model it is made anew for every search: the model may be back.
        """
        held = self._searcher
        return held if held is not None else self._built_searcher()

    def _built_searcher(self) -> Searcher:
        from kebab.assembly.search import build_searcher

        with self._lock:
            if self._searcher is not None:
                return self._searcher
            searcher = build_searcher(self._engines)
            if searcher.is_whole:
                self._searcher = searcher
            return searcher

    @property
    def asker(self) -> Asker:
        """Like ``searcher``."""
        held = self._asker
        return held if held is not None else self._built_asker()

    def _built_asker(self) -> Asker:
        from kebab.assembly.answer import build_asker

        with self._lock:
            if self._asker is not None:
                return self._asker
            searcher = self.searcher
            asker = build_asker(self._engines, searcher)
            if searcher.is_whole:
                self._asker = asker
            return asker

    @contextmanager
    def ingesting(self, *, dry_run: bool) -> Iterator[IngestPipeline]:
        """The pipeline, which takes turns with others; for a dry run, over the stores as they are."""
        from kebab.assembly.ingest import build_pipeline

        engines = self._engines
        opened = engines.rehearsing() if dry_run else engines.session("ingest")
        with opened as (stores, turns):
            yield build_pipeline(engines.settings, engines, stores, turns)

    def watcher(
        self, refresh: Callable[[Sequence[Target]], Refreshed], *, poll: bool, heard: Heard | None
    ) -> Watcher:
        """What follows the files as they change; ``refresh`` looks at them."""
        from kebab.assembly.watch import build_watcher

        return build_watcher(self._engines, refresh, poll=poll, heard=heard)

    @once
    def reader(self) -> Reader:
        """Raises NotIndexed where there is no knowledge base."""
        from kebab.assembly.read import build_reader

        return build_reader(self._engines)

    @property
    def briefer(self) -> Briefer:
        """Like ``searcher``."""
        held = self._briefer
        return held if held is not None else self._built_briefer()

    def _built_briefer(self) -> Briefer:
        from kebab.assembly.brief import build_briefer

        with self._lock:
            if self._briefer is not None:
                return self._briefer
            searcher = self.searcher
            briefer = build_briefer(self._engines, searcher, lambda: self.memory)
            if searcher.is_whole:
                self._briefer = briefer
            return briefer

    @once
    def linker(self) -> Linker:
        """Raises NotIndexed where there is no knowledge base."""
        from kebab.assembly.links import build_linker

        return build_linker(self._engines)

    @property
    def relater(self) -> Relater:
        """Like ``searcher``."""
        held = self._relater
        return held if held is not None else self._built_relater()

    def _built_relater(self) -> Relater:
        from kebab.assembly.links import build_relater

        with self._lock:
            if self._relater is not None:
                return self._relater
            relater = build_relater(self._engines, self.linker)
            if relater.is_whole:
                self._relater = relater
            return relater

    @once
    def memory(self) -> ExecutionMemory:
        from kebab.assembly.memory import build_memory

        return build_memory(self._engines)

    @once
    def laboratory(self) -> Laboratory:
        self._engines.require_whole("measuring")
        from kebab.assembly.evaluate import build_laboratory

        return build_laboratory(self._engines)

    @property
    def index_builder(self) -> IndexBuilder:
        self._engines.require_whole("kebab index")
        from kebab.assembly.upkeep import build_index_builder

        return build_index_builder(self._engines)

    @property
    def checkup(self) -> Checkup:
        self._engines.require_whole("the doctor")
        from kebab.assembly.upkeep import build_checkup

        return build_checkup(self._engines)

    @property
    def shelf(self) -> ModelShelf:
        self._engines.require_whole("models")
        from kebab.assembly.upkeep import build_shelf

        return build_shelf(self._engines)

    @property
    def reset(self) -> Reset:
        self._engines.require_whole("reset")
        from kebab.assembly.upkeep import build_reset

        return build_reset(self._engines)

    @property
    def mover(self) -> Mover:
        self._engines.require_whole("a bundle")
        from kebab.assembly.upkeep import build_mover

        return build_mover(self._engines)

    @property
    def publisher(self) -> Publisher:
        self._engines.require_whole("publishing")
        from kebab.assembly.publications import build_publisher

        return build_publisher(self._engines)
