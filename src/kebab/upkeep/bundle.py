"""A knowledge base in one file: a zip archive of the store, the inbox and a manifest.

Indexes are left out: they are derived, and built again where the bundle is read. Reading trusts nothing:
names, sizes and checksums must be those of the manifest, and no member may leave its place.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from kebab.disk.named_files import check_target, put_in_place, storing
from kebab.disk.private import create_file, make_folder
from kebab.disk.scratch import scratch_folder
from kebab.domain.ids import content_hash
from kebab.domain.ingests import IngestPhase
from kebab.domain.progress import Progress, Teller, silent
from kebab.errors import Corrupt, EngineUnavailable, InvalidInput, ModelMismatch, StorageError
from kebab.ports import ModelKey

FORMAT = "kebab-bundle"
VERSION = 1
MANIFEST = "manifest.json"
STORE = "kebab.sqlite"
INBOX = "inbox/"
_BLOCK = 1 << 20
_MB = 1_000_000
_MAX_MANIFEST = 32 << 20
# Text deflates to a fifth, vectors hardly at all; what shrinks more than this was made to.
_MAX_RATIO = 100
_SMALL = 16 << 20
_LARGE = 1 << 30


@dataclass(frozen=True, slots=True)
class Member:
    size: int
    sha256: str
    mtime_ns: int
    """Kept, so that a file of the inbox does not look changed where the bundle is read."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a copy of the store holds."""

    schema_version: int
    documents: int
    chunks: int
    models: tuple[ModelKey, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bundle says of itself."""

    kebab_version: str
    created_at: str
    contents: Contents
    files: Mapping[str, Member]


def write_bundle(
    target: Path,
    *,
    back_up: Callable[[Path], Contents],
    inbox: Path,
    kebab_version: str,
    force: bool = False,
    progress: Progress = silent,
) -> Manifest:
    """Write the bundle in one step: the target is whole or untouched. Others may write meanwhile.

    ``back_up`` writes a copy of the store and says what is in it. Only the target's owner can read it, unless
    it replaces a file that others could read. What a killed export leaves is found by the next writer, from a
    note beside the inbox. Raises StorageError, and InvalidInput where there is a file already and not
    ``force``.
    """
    check_target(target, force=force)
    with storing(target), scratch_folder(target.parent, "export", noted_in=inbox.parent) as scratch:
        copy, draft = scratch / STORE, scratch / "bundle"
        create_file(draft).close()
        contents = back_up(copy)
        members = {STORE: copy, **_inbox_files(inbox, scratch / "inbox")}
        manifest = Manifest(
            kebab_version=kebab_version,
            created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            contents=contents,
            files={name: _described(path) for name, path in members.items()},
        )
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(MANIFEST, _encoded(manifest))
            total = sum(member.size for member in manifest.files.values())
            teller = Teller(IngestPhase.PACK, progress, total=total, unit=_MB)
            for name, path in members.items():
                _pack(archive, name, path, teller)
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        put_in_place(draft, target, force=force)
    return manifest


@contextmanager
def opened_bundle(
    path: Path, *, scratch: Path, progress: Progress = silent
) -> Iterator[tuple[Manifest, Path]]:
    """The manifest and a folder, inside ``scratch``, with everything it names, checked; gone afterwards.

    Raises InvalidInput for a file that is no bundle, Corrupt for a damaged or forged one, EngineUnavailable
    for one of a newer kebab, StorageError where there is no room.
    """
    with scratch_folder(scratch, "import") as folder:
        # What the caller does with the files is outside: its errors are not the bundle's.
        with _reading(path), zipfile.ZipFile(path) as archive:
            manifest = _manifest(archive, path)
            _check_members(archive, manifest, path)
            _check_room(manifest, scratch)
            total = sum(member.size for member in manifest.files.values())
            teller = Teller(IngestPhase.UNPACK, progress, total=total, unit=_MB)
            for name, member in manifest.files.items():
                _extract(archive, name, member, folder / "ready", path, teller)
        yield manifest, folder / "ready"


def check_model(manifest: Manifest, model: ModelKey | None) -> None:
    """Raises ModelMismatch where the bundle has vectors and none of them is of the model in use here."""
    held = manifest.contents.models
    if model is None or not held or model in held:
        return
    theirs = ", ".join(f"{m.model_id} {m.version} ({m.dimensions} dimensions)" for m in held)
    raise ModelMismatch(
        f"the bundle's vectors are of {theirs}; here {model.model_id} {model.version} "
        f"({model.dimensions} dimensions) is in use",
        hint="switch with `kebab models use`, or import with --force and embed everything again",
    )


def check_contents(manifest: Manifest, found: Contents, path: Path) -> None:
    """Raises Corrupt where the store does not hold what the manifest says."""
    for field in fields(Contents):
        said, is_there = getattr(manifest.contents, field.name), getattr(found, field.name)
        if said != is_there:
            raise _damaged(path, f"its manifest says {field.name}: {said}, and the store {is_there}")


def keep_inbox(present: Path, incoming: Path) -> list[Path]:
    """Copy what only the present inbox holds into the one that will replace it; returns the new files.

    Texts of an inbox may have no other copy: one whose place the incoming inbox has taken with other words
    gets another name. Raises StorageError.
    """
    kept = []
    with storing(incoming):
        for file in sorted(path for path in present.rglob("*") if path.is_file() and not path.is_symlink()):
            content = file.read_bytes()
            place = incoming / file.relative_to(present)
            if place.exists() and place.read_bytes() != content:
                place = place.with_stem(f"{place.stem}-{content_hash(content)[:8]}")
            if not place.exists():
                make_folder(place.parent)
                shutil.copy2(file, place)
                kept.append(place)
    return kept


# --- writing ---------------------------------------------------------------------------------------


def _inbox_files(inbox: Path, copies: Path) -> dict[str, Path]:
    """Copied first: a file that changed between its checksum and its packing would spoil the bundle."""
    if not inbox.is_dir():
        return {}
    shutil.copytree(inbox, copies, ignore=shutil.ignore_patterns(".*.part"))
    found = sorted(path for path in copies.rglob("*") if path.is_file())
    return {INBOX + path.relative_to(copies).as_posix(): path for path in found}


def _described(path: Path) -> Member:
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Member(status.st_size, digest, status.st_mtime_ns)


def _pack(archive: zipfile.ZipFile, name: str, path: Path, teller: Teller) -> None:
    # Its times stand in the manifest. The format needs to know beforehand of what may not fit into 32 bits.
    large = path.stat().st_size > _LARGE
    with path.open("rb") as source, archive.open(name, "w", force_zip64=large) as member:
        while block := source.read(_BLOCK):
            member.write(block)
            teller.add(len(block))


def _encoded(manifest: Manifest) -> str:
    note = {"format": FORMAT, "version": VERSION, **asdict(manifest)}
    return json.dumps(note, ensure_ascii=False, indent=1)


# --- reading ---------------------------------------------------------------------------------------


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except zipfile.BadZipFile as error:
        if not zipfile.is_zipfile(path):
            raise InvalidInput(f"{path} is no bundle of kebab", hint="`kebab export` writes one") from error
        raise _damaged(path, str(error)) from error
    except (
        EOFError,
        NotImplementedError,
        OverflowError,
        RuntimeError,
        ValueError,
        struct.error,
        zlib.error,
    ) as error:
        raise _damaged(path, str(error)) from error
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    if MANIFEST not in archive.namelist():
        raise InvalidInput(f"{path} is no bundle of kebab", hint="`kebab export` writes one")
    with archive.open(MANIFEST) as file:
        raw = file.read(_MAX_MANIFEST + 1)
    if len(raw) > _MAX_MANIFEST:
        raise _damaged(path, "its manifest is too large")
    try:
        found = json.loads(raw)
        if found["format"] != FORMAT:
            raise InvalidInput(f"{path} is no bundle of kebab", hint="`kebab export` writes one")
        if found["version"] > VERSION:
            raise EngineUnavailable(
                f"{path} is a bundle of version {found['version']}; this kebab reads up to {VERSION}",
                hint="upgrade this kebab",
            )
        return _decoded(found)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise _damaged(path, f"its manifest cannot be understood ({error!r})") from error


def _decoded(found: dict[str, Any]) -> Manifest:
    contents = found["contents"]
    held = contents["models"]
    models = [ModelKey(str(m["model_id"]), str(m["version"]), int(m["dimensions"])) for m in held]
    return Manifest(
        kebab_version=str(found["kebab_version"]),
        created_at=str(found["created_at"]),
        contents=Contents(
            schema_version=int(contents["schema_version"]),
            documents=int(contents["documents"]),
            chunks=int(contents["chunks"]),
            models=tuple(models),
        ),
        files={
            str(name): Member(int(file["size"]), str(file["sha256"]), int(file["mtime_ns"]))
            for name, file in found["files"].items()
        },
    )


def _check_members(archive: zipfile.ZipFile, manifest: Manifest, path: Path) -> None:
    names = [info.filename for info in archive.infolist()]
    if len(set(names)) < len(names) or set(names) != {MANIFEST, *manifest.files}:
        raise _damaged(path, "its members are not those that its manifest names")
    if STORE not in manifest.files:
        raise _damaged(path, "it holds no store")
    for info in archive.infolist():
        if not _is_safe(info.filename):
            raise _damaged(path, f"the name {info.filename!r} would leave the folder")
        if info.file_size > _SMALL and info.file_size > _MAX_RATIO * max(info.compress_size, 1):
            raise _damaged(path, f"{info.filename} would unpack to {info.file_size} bytes")


def _is_safe(name: str) -> bool:
    if name in (MANIFEST, STORE):
        return True
    inside = PurePosixPath(name.removeprefix(INBOX))
    plain = not inside.is_absolute() and name == INBOX + inside.as_posix()
    return bool(plain and inside.parts and ".." not in inside.parts)


def _check_room(manifest: Manifest, scratch: Path) -> None:
    # The store is unpacked, copied into place, and its indexes are built: about three times its size.
    needed = 3 * sum(member.size for member in manifest.files.values())
    if needed > shutil.disk_usage(scratch).free:
        raise StorageError(f"there is no room for {needed} bytes in {scratch}", hint="make room first")


def _extract(
    archive: zipfile.ZipFile, name: str, member: Member, folder: Path, path: Path, teller: Teller
) -> None:
    target = folder / name
    make_folder(target.parent)
    with archive.open(name) as source, create_file(target) as written:
        size, digest = _copied(source, written, limit=member.size, teller=teller)
    if (size, digest) != (member.size, member.sha256):
        raise _damaged(path, f"{name} is not what the manifest says")
    os.utime(target, ns=(member.mtime_ns, member.mtime_ns))


def _copied(source: IO[bytes], target: IO[bytes], *, limit: int, teller: Teller) -> tuple[int, str]:
    """Copy, and stop soon after the limit: sizes in an archive are claims."""
    digest, size = hashlib.sha256(), 0
    while size <= limit and (block := source.read(_BLOCK)):
        target.write(block)
        digest.update(block)
        size += len(block)
        teller.add(len(block))
    return size, digest.hexdigest()


def _damaged(path: Path, reason: str) -> Corrupt:
    return Corrupt(f"the bundle {path} is damaged: {reason}", hint="export it again, or fetch a fresh copy")
