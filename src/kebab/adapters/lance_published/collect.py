"""Garbage collection: versions of datasets that no release names any more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kebab.adapters.lance_published.storage import opened_or_none
from kebab.adapters.lance_table import lance_engine
from kebab.domain.publications import Collected, Part, Release

KINDS = ("documents", "chunks", "words")


@dataclass(frozen=True, slots=True)
class Collector:
    """Removes old releases first, so that nobody begins to read one, and then what only they needed.

    What is younger than the limit is kept, whatever names it: a reader may be in the middle of it, and a
    publisher may be about to name it.
    """

    catalogue: Any
    table: Callable[[str, str], str]
    release: Callable[[Any], Release | None]
    versions: Callable[[Part], Any]

    def run(self, limit: datetime) -> Collected:
        every = self._releases()
        newest = self.catalogue.version
        old = [number for number, (made, _) in every.items() if number != newest and made < limit]
        kept = [release for number, (_, release) in every.items() if number not in old and release]
        size = _cleaned(self.catalogue, old)
        publishers = {part.publisher for _, release in every.values() if release for part in release.parts}
        for publisher in sorted(publishers):
            size += self._collect(publisher, kept, limit)
        gone = sum(1 for number in old if every[number][1])
        return Collected(gone, size)

    def _releases(self) -> dict[int, tuple[datetime, Release | None]]:
        found = {}
        for entry in self.catalogue.versions():
            at = self.catalogue.checkout_version(entry["version"])
            found[int(entry["version"])] = (_utc(entry["timestamp"]), self.release(at))
        return found

    def _collect(self, publisher: str, kept: list[Release], limit: datetime) -> int:
        parts = [part for release in kept if (part := release.part(publisher)) is not None]
        size = 0
        for kind in KINDS:
            dataset = opened_or_none(self.table(publisher, kind))
            if dataset is None:
                continue
            made = {int(entry["version"]): _utc(entry["timestamp"]) for entry in dataset.versions()}
            named = {getattr(self.versions(part), kind) for part in parts}
            if not parts and max(made.values()) < limit:
                size += _size(dataset)
                lance_engine().LanceDataset.drop(dataset.uri)
            else:
                size += _cleaned(dataset, [v for v, when in made.items() if v not in named and when < limit])
        return size


def _cleaned(dataset: Any, numbers: list[int]) -> int:
    if not numbers:
        return 0
    done = dataset.cleanup_old_versions(versions=numbers, error_if_tagged_old_versions=False)
    return int(done.bytes_removed)


def _size(dataset: Any) -> int:
    newest = max(dataset.versions(), key=lambda entry: entry["version"])
    return int(newest["metadata"].get("total_files_size", 0))


def _utc(moment: datetime) -> datetime:
    """The engine's times are local times without a zone."""
    return moment.astimezone(UTC)
