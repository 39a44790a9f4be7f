"""Which repository a folder is a checkout of."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab.ingest.checkout import enclosing, repository
from kebab.ingest.scan import SourceFolder, scan


def checkout(folder: Path, origin: str | None = None) -> Path:
    (folder / ".git").mkdir(parents=True)
    url = f'[remote "fork"]\n\turl = x/y\n[remote "origin"]\n\turl = {origin}\n' if origin else ""
    (folder / ".git" / "config").write_text(f"[core]\n\tbare = false\n{url}", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ("https://example.org/harbour/ship.git", "harbour/ship"),
        ("https://user:secret@example.org/harbour/ship/", "harbour/ship"),
        ("git@example.org:harbour/ship.git", "harbour/ship"),
        ("ssh://git@example.org:2222/group/sub/ship", "group/sub/ship"),
        ("https://example.org/항구/배.git?token=1", "항구/배"),
        ("/srv/git/ship.git", "ship"),
        ("C:\\git\\ship", "ship"),
        ("https://example.org/a\x1b[31mb", "boat"),
        ("https://example.org/" + "x" * 300, "boat"),
        ("", "boat"),
        (None, "boat"),
    ],
)
def test_a_checkout_is_called_as_its_origin_or_as_its_folder(
    tmp_path: Path, origin: str | None, name: str
) -> None:
    assert repository(checkout(tmp_path / "boat", origin)) == name


def test_a_worktree_and_a_submodule_name_their_folder_in_a_file(tmp_path: Path) -> None:
    main = checkout(tmp_path / "main", "https://example.org/harbour/ship")
    own = main / ".git" / "worktrees" / "side"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n", encoding="utf-8")
    side = tmp_path / "side"
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {own}\n", encoding="utf-8")
    assert repository(side) == "harbour/ship"


def test_what_cannot_be_read_leaves_the_name_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "boat"
    folder.mkdir()
    for content in (b"gitdir: /nowhere\0", b"gitdir: ../../../../..\n", b"\xff\xfe", b""):
        (folder / ".git").write_bytes(content)
        assert repository(folder) == "boat"


def test_a_folder_inside_a_checkout_belongs_to_it_and_others_to_none(tmp_path: Path) -> None:
    ship = checkout(tmp_path / "ship", "https://example.org/harbour/ship")
    (ship / "src" / "deep").mkdir(parents=True)
    assert enclosing(ship / "src" / "deep") == "harbour/ship"
    assert enclosing(tmp_path) is None


def test_every_file_knows_the_innermost_checkout_it_lies_in(tmp_path: Path) -> None:
    for path in ("note.md", "ship/a.md", "ship/vendored/b.md", "boat/c.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x", encoding="utf-8")
    checkout(tmp_path / "ship", "https://example.org/harbour/ship")
    checkout(tmp_path / "ship" / "vendored", "https://example.org/other/rope")
    found = scan(SourceFolder("s", tmp_path, exclude=(".*",)), max_file_bytes=100)
    assert {file.path: file.repo for file in found.files} == {
        "note.md": None,
        "ship/a.md": "harbour/ship",
        "ship/vendored/b.md": "other/rope",
        "boat/c.md": None,
    }
    inside = scan(SourceFolder("s", tmp_path / "ship"), max_file_bytes=100, under=("a.md",))
    assert [file.repo for file in inside.files] == ["harbour/ship"]
