"""Walking real folders: what is taken, what is left out, and why."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest

from kebab.config.sections import DEFAULT_EXCLUDE
from kebab.domain.ingests import Outcome
from kebab.errors import ConfigInvalid, StorageError
from kebab.ingest.scan import Scan, SourceFolder, scan


def walk(root: Path, *, exclude: tuple[str, ...] = (), follow: bool = False, under: str = "") -> Scan:
    source = SourceFolder("notes", root, exclude)
    return scan(source, max_file_bytes=1000, follow_symlinks=follow, under=(under,))


def tree(root: Path, *names: str, text: str = "text") -> Path:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def nest(root: Path, name: str, depth: int) -> int:
    """Folders inside one another, made without their full path; returns the deepest one, opened."""
    here = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    return here


def paths(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def reasons(found: Scan) -> dict[str, str | None]:
    return {item.path: item.reason for item in found.skipped}


def test_files_come_sorted_with_size_and_time(tmp_path: Path) -> None:
    tree(tmp_path, "b.md", "a/z.txt", "a-b.md", "C.MD")
    found = walk(tmp_path)
    assert paths(found) == ["C.MD", "a-b.md", "a/z.txt", "b.md"]
    stat = (tmp_path / "b.md").stat()
    assert (found.files[3].size, found.files[3].mtime_ns) == (4, stat.st_mtime_ns)
    assert found.files[3].absolute == str(tmp_path / "b.md")


def test_what_is_left_out_is_reported_with_a_reason(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "b.zip", "README", ".hidden.md", "node_modules/x.md")
    (tmp_path / "big.md").write_text("x" * 1001)
    os.mkfifo(tmp_path / "pipe.md")
    assert reasons(walk(tmp_path, exclude=DEFAULT_EXCLUDE)) == {
        ".hidden.md": "excluded by the configuration",
        "b.zip": "unsupported format .zip",
        "big.md": "larger than 0.000953674 MB",
        "node_modules/": "excluded by the configuration",
        "pipe.md": "not a regular file",
    }


def test_ignore_files_hold_below_their_folder(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "draft.md", "sub/draft.md", "sub/keep.md", "other/only.md")
    tree(tmp_path, ".gitignore", text="/draft.md\n# a comment\n\nbuild/\n")
    tree(tmp_path, "sub/.gitignore", text="draft.md\n")
    tree(tmp_path, "other/.kebabignore", text="*\n")
    tree(tmp_path, "sub/build/x.md")
    found = walk(tmp_path)
    assert paths(found) == ["a.md", "sub/keep.md"]
    assert reasons(found) == {
        "draft.md": "ignored by .gitignore",
        "other/only.md": "ignored by .kebabignore",
        "sub/build/": "ignored by .gitignore",
        "sub/draft.md": "ignored by .gitignore",
    }


def test_a_deeper_rule_and_a_kebabignore_take_back_what_another_left_out(tmp_path: Path) -> None:
    tree(tmp_path, "a.log.md", "sub/b.log.md", ".obsidian/c.md")
    tree(tmp_path, ".gitignore", text="*.log.md\n")
    tree(tmp_path, "sub/.gitignore", text="!*.log.md\n")
    tree(tmp_path, ".kebabignore", text="!.obsidian/\n!.obsidian/**\n")
    assert paths(walk(tmp_path, exclude=DEFAULT_EXCLUDE)) == [".obsidian/c.md", "sub/b.log.md"]


def test_a_gitignore_of_all_but_some_kinds_lets_folders_in(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "b.txt", "sub/c.md", "sub/d.txt", "sub/deep/e.md", ".git/f.md", ".hidden.md")
    tree(tmp_path, ".gitignore", text="*\n!*/\n!*.md\n")
    assert paths(walk(tmp_path, exclude=DEFAULT_EXCLUDE)) == ["a.md", "sub/c.md", "sub/deep/e.md"]


def test_a_rule_about_what_is_in_a_folder_leaves_the_folder_open(tmp_path: Path) -> None:
    tree(tmp_path, "docs/a.md", "docs/keep.md", "docs/sub/b.md", "other/a.md")
    tree(tmp_path, ".gitignore", text="docs/**\n!docs/keep.md\n")
    assert paths(walk(tmp_path)) == ["docs/keep.md", "other/a.md"]


def test_a_folder_taken_back_does_not_take_back_what_is_in_it(tmp_path: Path) -> None:
    tree(tmp_path, "docs/a.md", "docs/sub/b.md", "c.md")
    tree(tmp_path, ".gitignore", text="*\n!docs/\n")
    assert paths(walk(tmp_path)) == []


def test_what_the_configuration_leaves_out_a_gitignore_does_not_take_back(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "drafts/b.md", "sub/private.md")
    tree(tmp_path, ".gitignore", text="!drafts/\n")
    tree(tmp_path, "sub/.gitignore", text="!private.md\n")
    assert paths(walk(tmp_path, exclude=("drafts/", "private.md"))) == ["a.md"]
    tree(tmp_path, "sub/.kebabignore", text="!private.md\n")
    assert paths(walk(tmp_path, exclude=("drafts/", "private.md"))) == ["a.md", "sub/private.md"]


def test_a_pattern_that_is_none_is_passed_over_in_a_file_and_named_in_the_configuration(
    tmp_path: Path,
) -> None:
    tree(tmp_path, "a.md", "b.md")
    tree(tmp_path, ".gitignore", text="!\nb.md\n")
    assert paths(walk(tmp_path)) == ["a.md"]
    with pytest.raises(ConfigInvalid, match="exclude"):
        walk(tmp_path, exclude=("!",))


def test_a_missing_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="does not exist"):
        walk(tmp_path / "away")


def test_a_file_as_root_is_an_error(tmp_path: Path) -> None:
    tree(tmp_path, "a.md")
    with pytest.raises(StorageError, match="is a file"):
        walk(tmp_path / "a.md")


def test_a_folder_that_cannot_be_read_is_reported_as_failed(tmp_path: Path) -> None:
    # Too long a path is a fault that root meets as well; a missing permission is not.
    tree(tmp_path, "a.md")
    name = "d" * 250
    deepest = nest(tmp_path, name, 17)
    os.close(deepest)
    try:
        found = walk(tmp_path)
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / name)], check=True)
    assert paths(found) == ["a.md"]
    (item,) = found.skipped
    assert (item.outcome, item.reason) == (Outcome.FAILED, "cannot be read: File name too long")
    assert item.path.endswith(f"/{name}/")


def test_links_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    tree(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "b.md").symlink_to("real/a.md")
    (tmp_path / "broken.md").symlink_to("nowhere")
    found = walk(tmp_path)
    assert paths(found) == ["real/a.md"]
    assert set(reasons(found).values()) == {"symbolic link"}


def test_loops_of_links_end_and_a_folder_is_known_by_its_own_path(tmp_path: Path) -> None:
    tree(tmp_path, "real/a.md", "other/b.md")
    (tmp_path / "a-link").symlink_to("real")
    (tmp_path / "real/up").symlink_to("..")
    (tmp_path / "other/self").symlink_to(".")
    (tmp_path / "broken.md").symlink_to("nowhere")
    (tmp_path / "round").symlink_to("round")
    found = walk(tmp_path, follow=True)
    assert paths(found) == ["other/b.md", "real/a.md"]
    assert reasons(found)["broken.md"] == "broken symbolic link"
    assert reasons(found)["round"] == "symbolic link to itself"
    assert {item.outcome for item in found.skipped} == {Outcome.SKIPPED}


def test_names_are_composed_and_two_spellings_of_one_are_reported(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "한글.md")
    tree(tmp_path, decomposed)
    found = walk(tmp_path)
    assert paths(found) == ["한글.md"]
    assert found.files[0].absolute == str(tmp_path / decomposed)
    tree(tmp_path, "한글.md")
    assert list(reasons(walk(tmp_path)).values()) == ["spelled like another file after Unicode normalisation"]


def test_a_decomposed_pattern_meets_its_composed_path(tmp_path: Path) -> None:
    tree(tmp_path, "초안/a.md", "b.md")
    tree(tmp_path, ".gitignore", text=unicodedata.normalize("NFD", "초안/\n"))
    assert paths(walk(tmp_path)) == ["b.md"]


def test_a_name_that_is_no_unicode_fails_with_a_reason(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/bad\xff.md", "wb"):
        pass
    (item,) = walk(tmp_path).skipped
    assert (item.path, item.outcome) == ("bad\\xff.md", Outcome.FAILED)


def test_only_a_part_is_walked_but_the_rules_above_it_hold(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "s/b.md", "s/draft.md", "s/t/c.md", "t/c.md")
    tree(tmp_path, ".gitignore", text="draft.md\n")
    assert paths(walk(tmp_path, under="s")) == ["s/b.md", "s/t/c.md"]
    assert paths(walk(tmp_path, under="s/t/c.md")) == ["s/t/c.md"]
    assert reasons(walk(tmp_path, under="s/draft.md")) == {"s/draft.md": "ignored by .gitignore"}
    assert paths(walk(tmp_path, under="nothing/here.md")) == []


def test_folders_nested_deeper_than_python_recurses_are_walked(tmp_path: Path) -> None:
    depth = sys.getrecursionlimit() + 200
    deepest = nest(tmp_path, "d", depth)
    os.close(os.open("a.md", os.O_CREAT | os.O_WRONLY, dir_fd=deepest))
    os.close(deepest)
    try:
        assert paths(walk(tmp_path)) == ["d/" * depth + "a.md"]
    finally:
        # What removes a test's folder afterwards does recurse.
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_ten_thousand_files_take_well_under_a_second(tmp_path: Path) -> None:
    for n in range(100):
        folder = tmp_path / f"{n:03}"
        folder.mkdir()
        (folder / ".gitignore").write_text("*.tmp\n")
        for m in range(100):
            (folder / f"{m}.md").touch()
    best = 9.0
    for _ in range(3):
        began = time.process_time()
        assert len(walk(tmp_path, exclude=DEFAULT_EXCLUDE).files) == 10_000
        best = min(best, time.process_time() - began)
    assert best < 0.8


def test_the_data_folder_is_no_part_of_a_source(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "data/inbox/notes/b.md", "sub/data/c.md")
    source = SourceFolder("notes", tmp_path)
    found = scan(source, max_file_bytes=1000, own=tmp_path / "data")
    assert paths(found) == ["a.md", "sub/data/c.md"]
    assert reasons(found) == {"data/": "kebab's own data"}
