"""What is new, changed or gone: a scan compared with what the store knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kebab.domain.ingests import FileState, Outcome
from kebab.domain.plurals import count_of
from kebab.errors import MassDelete
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.formats import FORMATS, extension, kind_of
from kebab.ingest.parse.parsed import Format
from kebab.ingest.parse.reading import BARE, Reading
from kebab.ingest.prepare import FileTask, fingerprint
from kebab.ingest.scan import Only, Scan, ScannedFile, SourceFolder, above


@dataclass(frozen=True, slots=True)
class Changes:
    source: SourceFolder
    scan: Scan
    tasks: list[FileTask]
    """Files to read: new ones, and those whose size, time or settings differ."""
    unchanged: int
    gone: list[FileState]
    known: int
    """How many documents of the source the store holds; those at the paths looked at, where none is gone."""
    moved: int
    """How many of the gone files turned up under another path."""
    states: Mapping[str, FileState]
    """What was known of each path before the scan began."""

    def absent(self, paths: Collection[str]) -> list[str]:
        """Those of the paths at which nothing is and nothing was."""
        skipped = Only.of([item.path for item in self.scan.skipped])
        met = {file.path for file in self.scan.files} | {state.path for state in self.gone}
        met |= skipped.named if skipped else set()
        met |= {folder for path in met for folder in above(path)}
        return [path for path in paths if path not in met and not (skipped and skipped.holds(path))]

    def mass_delete(self) -> str | None:
        """What is to be said where more than half would be removed; a file that was moved is not lost."""
        if 2 * (len(self.gone) - self.moved) <= self.known:
            return None
        gone = f"{len(self.gone)} of {count_of(self.known, 'document')}"
        be = "is" if len(self.gone) == 1 else "are"
        return f"{gone} of source {self.source.id!r} {be} gone from {self.source.root}"

    def keeping(self) -> Changes:
        """The same without its removals."""
        return replace(self, gone=[], moved=0)

    def check_removals(self) -> None:
        """Raises MassDelete for a scan that lacks more than half; a file that was moved is not lost."""
        if message := self.mass_delete():
            raise MassDelete(
                message,
                hint="is a disk not mounted? To remove them all the same: --allow-mass-delete",
                details={"source": self.source.id, "gone": len(self.gone), "known": self.known},
            )


def compare(
    source: SourceFolder,
    scan: Scan,
    known: Mapping[str, FileState],
    *,
    policy: ChunkPolicy,
    formats: Mapping[str, Format] = FORMATS,
    reading: Reading = BARE,
    force: bool = False,
    under: Collection[str] = (),
) -> Changes:
    """Sort the scanned files; size and time first, so that unchanged files are not even opened.

    With ``under`` only what is at or below those paths counts as gone.
    """
    prints = _Fingerprints(source, policy, formats, reading)
    tasks: list[FileTask] = []
    unchanged = 0
    for file in scan.files:
        state = known.get(file.path)
        current = (
            state is not None and not force and state.fingerprint == prints[extension(file.path), file.repo]
        )
        if current and state is not None and (state.size, state.mtime_ns) == (file.size, file.mtime_ns):
            unchanged += 1
        else:
            tasks.append(_task(source, file, state if current else None))
    gone = _gone(scan, known, under)
    return Changes(source, scan, tasks, unchanged, gone, len(known), _moved(gone, scan, known), known)


def removal(source_id: str, known: Mapping[str, FileState]) -> Changes:
    """All that is known of a source, gone."""
    nothing = Scan([], [])
    return Changes(
        SourceFolder(source_id, Path()), nothing, [], 0, list(known.values()), len(known), 0, known
    )


class _Fingerprints(dict[tuple[str, str | None], str]):
    """By extension and repository, made when first asked for: a format is loaded for a file of it alone."""

    def __init__(
        self, source: SourceFolder, policy: ChunkPolicy, formats: Mapping[str, Format], reading: Reading
    ) -> None:
        super().__init__()
        self._source, self._policy, self._formats, self._reading = source, policy, formats, reading

    def __missing__(self, key: tuple[str, str | None]) -> str:
        source, kind = self._source, kind_of(self._formats, key[0])
        self[key] = fingerprint(
            kind,
            self._policy,
            source_type=source.source_type,
            trust_level=source.trust_level,
            repo=key[1],
            choice=self._reading.choice(kind.media),
        )
        return self[key]


def _task(source: SourceFolder, file: ScannedFile, state: FileState | None) -> FileTask:
    return FileTask(
        source_id=source.id,
        path=file.path,
        absolute=file.absolute,
        size=file.size,
        mtime_ns=file.mtime_ns,
        source_type=source.source_type,
        trust_level=source.trust_level,
        repo=file.repo,
        known_asset=state.asset_id if state else None,
    )


def _gone(scan: Scan, known: Mapping[str, FileState], under: Collection[str]) -> list[FileState]:
    """Known files that were not found. One that could not be looked at counts as still there."""
    found = {file.path for file in scan.files}
    looked_at = Only.of(under)
    failed = Only.of([item.path for item in scan.skipped if item.outcome is Outcome.FAILED])
    return [
        state
        for path, state in known.items()
        if path not in found
        and (looked_at is None or looked_at.holds(path))
        and (failed is None or not failed.holds(path))
    ]


def _moved(gone: list[FileState], scan: Scan, known: Mapping[str, FileState]) -> int:
    """A file that keeps its size and time but not its path was renamed, or its folder was."""
    fresh = {(file.size, file.mtime_ns) for file in scan.files if file.path not in known}
    return sum((state.size, state.mtime_ns) in fresh for state in gone)
