"""What a run has to do: the paths that were named, scanned and compared with what is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kebab.domain.documents import INBOX_ID
from kebab.domain.ingests import IngestItem, Outcome
from kebab.domain.turns import ALONE, Turns
from kebab.errors import OutsideWalls, StorageError
from kebab.ingest import inbox as inbox_folder
from kebab.ingest.changes import Changes, compare, removal
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.inbox import Draft
from kebab.ingest.ledger import RunLog
from kebab.ingest.limits import IngestLimits
from kebab.ingest.parse.formats import ANY, FORMATS, extension, kind_of
from kebab.ingest.parse.parsed import Format
from kebab.ingest.parse.reading import BARE, Reading
from kebab.ingest.parse.unknown import why_not
from kebab.ingest.scan import SourceFolder, scan, too_large
from kebab.ingest.targets import Target, find_targets
from kebab.ports import DocumentStore

Admits = Callable[[str, str], bool]


def outside(path: str) -> OutsideWalls:
    """What a write beyond the walls meets, whether or not there is such a file."""
    return OutsideWalls(f"{path} lies outside of what may be written here")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Finds out what changed; what needs no reading (skipped, unchanged, failed) is logged at once."""

    sources: tuple[SourceFolder, ...]
    inbox: Path
    policy: ChunkPolicy
    limits: IngestLimits
    store: DocumentStore
    formats: Mapping[str, Format] = FORMATS
    unread: Mapping[str, str] = field(default_factory=dict)
    reading: Reading = BARE
    turns: Turns = ALONE
    admits: Admits | None = None
    """Says whether a document may be written, by source and path; None where all may."""

    def plan(
        self, paths: Sequence[Path], log: RunLog, *, dry_run: bool, force: bool, remove_abandoned: bool
    ) -> list[Changes]:
        """The changes of every source, or those at ``paths``. A file of no source goes to the inbox."""
        targets = self._targets(paths, log, dry_run=dry_run)
        changes = list(self._changes(targets, log, force=force, expected=True))
        if not paths:
            changes += self._abandoned(log, remove=remove_abandoned)
        return changes

    def look(self, targets: Sequence[Target], log: RunLog) -> list[Changes]:
        """The changes at the targets, or of every source for none; a path where nothing is may be named."""
        return list(
            self._changes(targets or self._targets((), log, dry_run=False), log, force=False, expected=False)
        )

    def would_be_kept(self, draft: Draft) -> IngestItem:
        """What a dry run says of a draft."""
        path = draft.path.relative_to(self.inbox).as_posix()
        reason = "would be kept in the inbox and indexed"
        return IngestItem(INBOX_ID, path, Outcome.INDEXED, reason, byte_len=len(draft.content))

    @property
    def _inbox_source(self) -> SourceFolder:
        return SourceFolder(INBOX_ID, self.inbox, exclude=(".*.part",))

    def _targets(self, paths: Sequence[Path], log: RunLog, *, dry_run: bool) -> list[Target]:
        if self.admits is not None:
            return self._admitted(paths, self.admits)
        inbox = self._inbox_source
        if not paths:
            return [Target(source) for source in (*self.sources, *([inbox] if self.inbox.is_dir() else []))]

        def adopt(file: Path) -> Target | None:
            draft = self._draft(file)
            if isinstance(draft, Draft) and not dry_run:
                with self.turns.turn():
                    draft.keep()
                return Target(inbox, (draft.path.relative_to(self.inbox).as_posix(),))
            log.skipped([self.would_be_kept(draft) if isinstance(draft, Draft) else draft])
            return None

        return find_targets(paths, (*self.sources, inbox), adopt=adopt)

    def _admitted(self, paths: Sequence[Path], admits: Admits) -> list[Target]:
        """Files alone, each inside the walls: below a folder some might be outside. Raises OutsideWalls."""

        def refuse(file: Path) -> None:
            raise outside(str(file))

        targets = find_targets(paths, (*self.sources, self._inbox_source), adopt=refuse)
        if not targets or not all(target.under for target in targets):
            raise outside("everything")
        for target in targets:
            for path in target.under:
                if not admits(target.source.id, path) or (target.source.root / path).is_dir():
                    raise outside(path)
        return targets

    def _draft(self, file: Path) -> Draft | IngestItem:
        """A copy of a file outside every source, or why none is made."""
        ending = extension(file.name)
        size = file.stat().st_size
        if reason := self._why_not(file, ending, size):
            return IngestItem(INBOX_ID, file.name, Outcome.SKIPPED, reason)
        if size > self.limits.max_file_bytes:
            reason = too_large(self.limits.max_file_bytes)
            return IngestItem(INBOX_ID, file.name, Outcome.SKIPPED, reason, byte_len=size)
        draft = inbox_folder.file_draft(self.inbox, file, kind_of(self.formats, ending))
        if isinstance(draft, Draft):
            return draft
        return IngestItem(INBOX_ID, file.name, Outcome.SKIPPED, draft.reason, byte_len=size)

    def _why_not(self, file: Path, ending: str, size: int) -> str | None:
        if ending in self.unread or ending in self.formats:
            return self.unread.get(ending)
        return why_not(str(file), ending, size) if ANY in self.formats else f"unsupported format {ending}"

    def _changes(
        self, targets: Sequence[Target], log: RunLog, *, force: bool, expected: bool
    ) -> Iterator[Changes]:
        """``expected``: somebody named the paths, and one where nothing is and was is a failure."""
        for target in targets:
            try:
                with log.stage("scan"):
                    change = self._change(target, force=force)
            except StorageError as error:
                named = ", ".join(target.under)
                log.skipped([IngestItem(target.source.id, named, Outcome.FAILED, error.message)])
                continue
            log.skipped(change.scan.skipped)
            log.unchanged(change.unchanged)
            for path in change.absent(target.under) if expected else ():
                reason = "there is no such file"
                log.skipped([IngestItem(target.source.id, path, Outcome.FAILED, reason)])
            yield change

    def _change(self, target: Target, *, force: bool) -> Changes:
        # Before the scan: what another writer adds during it must not look like a file that is gone.
        known = self.store.file_states(target.source.id, target.under)
        found = scan(
            target.source,
            max_file_bytes=self.limits.max_file_bytes,
            follow_symlinks=self.limits.follow_symlinks,
            under=target.under,
            own=self.inbox.parent,
            formats=self.formats,
            unread=self.unread,
        )
        change = compare(
            target.source,
            found,
            known,
            policy=self.policy,
            formats=self.formats,
            reading=self.reading,
            force=force,
            under=target.under,
        )
        if not (target.under and change.gone):
            return change
        # Whether this is too much to remove depends on all that the source has.
        return replace(change, known=self.store.source_counts().get(target.source.id, 0))

    def _abandoned(self, log: RunLog, *, remove: bool) -> list[Changes]:
        """What is stored of sources that the configuration does not name: to be removed, or to be told of.

        Kept unless somebody says so: it may have come with a bundle, without its source.
        """
        configured = {INBOX_ID, *(source.id for source in self.sources)}
        left = {name: count for name, count in self.store.source_counts().items() if name not in configured}
        if remove:
            return [removal(name, self.store.file_states(name)) for name in left]
        if left:
            named = ", ".join(f"{name} ({count})" for name, count in left.items())
            log.degraded.append(
                f"documents of sources that are not configured are kept: {named}; "
                "--allow-mass-delete removes them"
            )
        return []
