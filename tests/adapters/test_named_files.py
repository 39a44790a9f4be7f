"""Files that a person names: whole or untouched, replaced only when asked."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kebab.disk.named_files import named_file, put_in_place
from kebab.errors import InvalidInput, StorageError


def write(path: Path, content: bytes = b"new", *, force: bool = False) -> None:
    with named_file(path, force=force) as out:
        out.write(content)


def write_and(path: Path, then: Callable[[], object], *, force: bool) -> None:
    with named_file(path, force=force) as out:
        out.write(b"half")
        then()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_written_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert names(tmp_path) == ["a.txt"]


def test_an_existing_file_is_replaced_only_by_force_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"mine")
    file.chmod(0o640)
    with pytest.raises(InvalidInput, match="exists already") as refused:
        write(file)
    assert "--force" in (refused.value.hint or "")
    assert file.read_bytes() == b"mine"
    write(file, force=True)
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o640)
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("force", [False, True])
def test_an_error_half_way_leaves_the_file_as_it_was(tmp_path: Path, force: bool) -> None:
    file = tmp_path / "a.txt"
    if force:
        file.write_bytes(b"mine")
    with pytest.raises(ZeroDivisionError):
        write_and(file, lambda: 1 / 0, force=force)
    assert names(tmp_path) == (["a.txt"] if force else [])
    assert not force or file.read_bytes() == b"mine"


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    with pytest.raises(InvalidInput, match="exists already"):
        write_and(file, lambda: file.write_bytes(b"somebody's"), force=False)
    assert file.read_bytes() == b"somebody's"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_is_neither_followed_nor_replaced(tmp_path: Path, force: bool, dangling: bool) -> None:
    real, link = tmp_path / "keys", tmp_path / "a.txt"
    if not dangling:
        real.write_bytes(b"secret")
    link.symlink_to(real)
    with pytest.raises(InvalidInput, match="symbolic link"):
        write(link, force=force)
    assert link.is_symlink()
    assert (not real.exists()) if dangling else real.read_bytes() == b"secret"


def test_a_folder_and_a_device_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is a folder"):
        write(tmp_path, force=True)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InvalidInput, match="no regular file"):
            write(tmp_path / "pipe", force=True)


def test_a_missing_folder_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        write(tmp_path / "none" / "a.txt")


def test_a_draft_made_elsewhere_is_put_in_place_by_the_same_rules(tmp_path: Path) -> None:
    draft, file = tmp_path / "draft", tmp_path / "a.txt"
    draft.write_bytes(b"new")
    file.write_bytes(b"mine")
    with pytest.raises(InvalidInput, match="exists already"):
        put_in_place(draft, file, force=False)
    assert (draft.read_bytes(), file.read_bytes()) == (b"new", b"mine")
    put_in_place(draft, file, force=True)
    assert (names(tmp_path), file.read_bytes()) == (["a.txt"], b"new")
