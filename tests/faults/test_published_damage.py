"""A published knowledge base whose files are cut, flipped or gone: the same answers, or somebody says so.

One damage for each kind of file in every run; KEBAB_FLIPS=200 tries every file with each.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.errors import KebabError
from tests.faults.conftest import Base, make_base
from tests.faults.test_flips import SEED, Seen, fill, flip, look
from tests.faults.test_storage import DAMAGES, LONG
from tests.folders import remove

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flips")]

ALL: dict[str, Callable[[Path], object]] = {
    "flipped": lambda path: flip(path, random.Random(SEED)),
    **DAMAGES,
}


@dataclass(frozen=True, slots=True)
class Published:
    """What was published, and what a reader with an empty cache sees of it."""

    base: Base
    folder: Path
    seen: Seen

    def read(self, folder: Path, cache: Path) -> Kebab:
        remove(cache)
        return self.base.open(index__url=str(folder), index__cache_dir=str(cache), index__follow_s=0.0)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("published")
    base = make_base(folder, notes=0)
    fill(base)
    with base.open() as kb:
        kb.ingest()
        kb.publish(str(folder / "there"))
        base.write("n3.md", "# Note 3\n\nThe dry rope of ship3 is new.\n")
        (base.root / "n11.md").unlink()
        kb.ingest()
        kb.publish(str(folder / "there"))
    made = Published(base, folder / "there", ())
    with made.read(folder / "there", folder / "cache") as kb:
        seen, degraded = look(kb)
    assert not degraded
    return Published(base, folder / "there", seen)


def trials(folder: Path) -> Iterator[tuple[Path, str]]:
    """Files with a damage each: in the short form the youngest of each kind, the damages in turn."""
    files = [file.relative_to(folder) for file in sorted(folder.rglob("*")) if file.is_file()]
    files = [file for file in files if (folder / file).stat().st_size]
    if LONG:
        yield from ((file, damage) for file in files for damage in ALL)
        return
    kinds = {("/".join(file.parts[:1]), file.suffix): file for file in files}
    for number, file in enumerate(kinds.values()):
        for turn in (0, 1):
            yield file, list(ALL)[(2 * number + turn) % len(ALL)]


def test_no_damage_to_what_was_published_changes_an_answer_without_a_word(
    published: Published, tmp_path: Path
) -> None:
    silent, told = [], 0
    for file, damage in trials(published.folder):
        copy = tmp_path / "copy"
        remove(copy)
        shutil.copytree(published.folder, copy)
        ALL[damage](copy / file)
        how = outcome(published, copy, tmp_path / "cache")
        told += how != "same"
        if how == "SILENT":
            silent.append(f"{file} {damage}")
    assert silent == []
    assert told, "no damage reached what is read"


def outcome(published: Published, folder: Path, cache: Path) -> str:
    try:
        with published.read(folder, cache) as kb:
            seen, degraded = look(kb)
            if seen == published.seen:
                return "same"
            return "told" if degraded or not kb.doctor(full=True).healthy else "SILENT"
    except KebabError:
        return "told"
