"""Bundles: written whole, and read without trusting a byte of them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kebab.errors import Corrupt, EngineUnavailable, InvalidInput, KebabError, ModelMismatch, StorageError
from kebab.ports import ModelKey
from kebab.upkeep.bundle import Contents, check_model, keep_inbox, opened_bundle, write_bundle

MODEL = ModelKey("toy", "1", 8)
STORE = b"SQLite format 3\0" + b"truth " * 1000
Forge = Callable[[dict[str, bytes], dict[str, object]], None]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    inbox = tmp_path / "from" / "inbox"
    (inbox / "notes").mkdir(parents=True)
    (inbox / "notes" / "메모: a\\b.md").write_text("# Memo\n", encoding="utf-8")
    target = tmp_path / "all.kebab"

    def back_up(copy: Path) -> Contents:
        copy.write_bytes(STORE)
        return Contents(1, 3, 7, (MODEL,))

    write_bundle(target, back_up=back_up, inbox=inbox, kebab_version="1.2")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    return target


def forged(bundle: Path, forge: Forge) -> Path:
    """The bundle written again after its members and its manifest went through ``forge``."""
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    forge(members, manifest)
    target = bundle.with_name("forged.kebab")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, content in members.items():
            archive.writestr(name, content)
    return target


def read(bundle: Path) -> dict[str, bytes]:
    scratch = bundle.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    with opened_bundle(bundle, scratch=scratch) as (_, folder):
        return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_what_was_written_is_read_back_and_no_scratch_is_left(bundle: Path, tmp_path: Path) -> None:
    assert read(bundle) == {"kebab.sqlite": STORE, "inbox/notes/메모: a\\b.md": b"# Memo\n"}
    assert list((tmp_path / "scratch").iterdir()) == []
    with opened_bundle(bundle, scratch=tmp_path) as (manifest, folder):
        assert manifest.contents == Contents(1, 3, 7, (MODEL,))
        unpacked = folder / "inbox" / "notes" / "메모: a\\b.md"
        assert unpacked.read_text() == "# Memo\n"
        original = tmp_path / "from" / "inbox" / "notes" / "메모: a\\b.md"
        assert unpacked.stat().st_mtime_ns == original.stat().st_mtime_ns


def contents(folder: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_texts_of_the_present_inbox_are_kept_beside_those_of_the_bundle(tmp_path: Path) -> None:
    present, incoming = tmp_path / "present", tmp_path / "incoming"
    for folder in (present, incoming):
        (folder / "notes").mkdir(parents=True)
        (folder / "notes" / "same.md").write_text("same")
    (present / "notes" / "mine.md").write_text("mine")
    (present / "notes" / "a.md").write_text("my a")
    (incoming / "notes" / "a.md").write_text("their a")
    assert len(keep_inbox(present, incoming)) == 2
    assert contents(incoming) == [b"mine", b"my a", b"same", b"their a"]
    assert (incoming / "notes" / "a.md").read_text() == "their a"
    assert keep_inbox(present, incoming) == []
    assert keep_inbox(tmp_path / "none", incoming) == []


def test_an_inbox_that_cannot_be_copied_is_a_storage_error(tmp_path: Path) -> None:
    present, incoming = tmp_path / "present", tmp_path / "incoming"
    present.mkdir()
    (present / "mine.md").write_text("mine")
    incoming.write_text("no folder")
    with pytest.raises(StorageError):
        keep_inbox(present, incoming)
    assert contents(present) == [b"mine"]


def named(name: str) -> Forge:
    def forge(members: dict[str, bytes], manifest: dict[str, object]) -> None:
        members[name] = b"evil"
        manifest["files"] = {**manifest["files"], name: {"size": 4, "sha256": "0" * 64, "mtime_ns": 0}}  # type: ignore[dict-item]

    return forge


def set_key(key: str, value: object) -> Forge:
    return lambda members, manifest: manifest.update({key: value})


def unlisted(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    members["inbox/extra.md"] = b"x"


def changed(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    members["kebab.sqlite"] = STORE[:-1] + b"!"


def longer(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    members["kebab.sqlite"] = STORE + b"more"


def absent(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    del members["kebab.sqlite"]
    manifest["files"] = {k: v for k, v in manifest["files"].items() if k != "kebab.sqlite"}  # type: ignore[attr-defined]


def bomb(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    members["kebab.sqlite"] = bytes(64 << 20)


@pytest.mark.parametrize(
    "forge",
    [
        named("../evil"),
        named("/etc/evil"),
        named("inbox/../../evil"),
        named("inbox/./evil"),
        named("inbox//evil"),
        named("evil.md"),
        named("inbox/"),
        unlisted,
        changed,
        longer,
        absent,
        bomb,
        set_key("files", {}),
        set_key("files", []),
        set_key("contents", {"schema_version": "x"}),
        set_key("version", None),
    ],
)
def test_a_forged_bundle_is_refused_and_leaves_nothing(bundle: Path, tmp_path: Path, forge: Forge) -> None:
    before = {path for path in tmp_path.rglob("*") if "scratch" not in str(path)}
    with pytest.raises(Corrupt):
        read(forged(bundle, forge))
    left = {path for path in tmp_path.rglob("*") if path.name != "scratch"} - before
    assert left == {bundle.with_name("forged.kebab")}


@pytest.mark.parametrize("size", [0, 10, 200, -40])
def test_a_bundle_that_was_cut_short_is_refused(bundle: Path, size: int) -> None:
    whole = bundle.read_bytes()
    bundle.write_bytes(whole[:size])
    with pytest.raises((InvalidInput, Corrupt)):
        read(bundle)


def test_every_flipped_byte_is_noticed_or_harmless(bundle: Path) -> None:
    whole = bundle.read_bytes()
    sound = read(bundle)
    for at in range(0, len(whole), 7):
        bundle.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        try:
            assert read(bundle) == sound
        except KebabError:
            continue


def test_a_bundle_of_a_newer_kebab_is_refused(bundle: Path) -> None:
    with pytest.raises(EngineUnavailable, match="version 2"):
        read(forged(bundle, set_key("version", 2)))


def test_another_zip_file_is_no_bundle(tmp_path: Path) -> None:
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(InvalidInput):
        read(other)


def test_vectors_of_another_model_are_a_mismatch(bundle: Path, tmp_path: Path) -> None:
    with opened_bundle(bundle, scratch=tmp_path) as (manifest, _):
        check_model(manifest, MODEL)
        check_model(manifest, None)
        for other in (ModelKey("toy", "2", 8), ModelKey("toy", "1", 4), ModelKey("else", "1", 8)):
            with pytest.raises(ModelMismatch) as raised:
                check_model(manifest, other)
            assert "--force" in (raised.value.hint or "")
