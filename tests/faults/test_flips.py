"""Single flipped bits in every kind of file: none may change or lose a result without a word.

After each flip a fresh process-like object searches and reads. Either everything is as before, or an error
or a degradation is declared, or the doctor, reading everything, finds a fault. KEBAB_FLIPS=200 is the long
form.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.domain.documents import TrustLevel
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import KebabError
from tests.faults.conftest import Base, make_base, sick
from tests.folders import remove

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flips")]

FLIPS = int(os.environ.get("KEBAB_FLIPS", "20"))
SEED = 20240501
QUERIES = ("rope ship3", "밧줄 7", '"dry rope"', "a question about anchors")
FILTERS = (
    None,
    SearchFilters(tag=("even",)),
    SearchFilters(lang=("ko",)),
    SearchFilters(trust_min=TrustLevel.PRIMARY),
)
LOCKS = ("writer.lock", ".tantivy-writer.lock")

Seen = tuple[tuple[tuple[object, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Pristine:
    """A knowledge base as it was, and all that can be seen of it."""

    base: Base
    engine: str
    seen: Seen

    def copied(self, folder: Path) -> Base:
        remove(folder)
        shutil.copytree(self.base.data, folder / "data")
        return Base(self.base.root, folder / "data")


def opened(base: Base, engine: str) -> Kebab:
    return base.open(search__lexical_engine=engine)


def look(kb: Kebab) -> tuple[Seen, bool]:
    """Everything that a reader gets, and whether some of it was declared as incomplete."""
    asked = [(query, filters, mode) for query in QUERIES for filters in FILTERS for mode in SearchMode]
    responses = [kb.search(query, mode=mode, filters=filters, k=50) for query, filters, mode in asked]
    hits = [tuple((hit.score, hit.doc_path, hit.snippet, hit.citation) for hit in r.hits) for r in responses]
    texts = tuple((0, doc.path, doc.title, doc.tags, kb.fetch_doc(doc.doc_id).text) for doc in kb.list_docs())
    return (*hits, texts), any(response.degraded for response in responses)


def gist(seen: Seen) -> list[set[tuple[object, ...]]]:
    """What is found, without scores: an index that is built anew counts deleted chunks no longer."""
    return [{item[1:] for item in found} for found in seen]


def fill(base: Base) -> None:
    for number in range(12):
        tag = "even" if number % 2 == 0 else "odd"
        base.write(
            f"n{number}.md",
            f"---\ntags: [{tag}]\n---\n# Note {number}\n\nThe dry rope of ship{number} holds the anchor.\n\n"
            f"## 밧줄\n\n밧줄 {number} 은 말린다. 배 {number} 은 바다로 간다.\n\n## More\n\n"
            + f"Sentence {number} about sails and knots. "
            * 40,
        )
    base.write("ko.md", "# 닻\n\n닻은 무겁다. 배를 세운다. 바다는 넓다.\n" * 3)


def make(folder: Path, engine: str) -> Pristine:
    base = make_base(folder, notes=0)
    fill(base)
    with opened(base, engine) as kb:
        kb.ingest()
        base.write("n3.md", "# Note 3\n\nThe dry rope of ship3 is new.\n")
        (base.root / "n11.md").unlink()
        kb.ingest()  # leaves deletions in the indexes
    # A last change that stays in the log: somebody reads while it is written.
    with opened(base, engine) as kb, closing(sqlite3.connect(base.data / "kebab.sqlite")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM documents").fetchone()
        base.write("late.md", "# Late\n\nThe rope of ship99 came late.\n")
        kb.ingest()
        shutil.copytree(base.data, folder / "kept")
    remove(base.data)
    (folder / "kept").rename(base.data)
    base.data.joinpath("kebab.sqlite-shm").unlink(missing_ok=True)
    pristine = Pristine(base, engine, ())
    with opened(pristine.copied(folder / "first"), engine) as kb:
        seen, degraded = look(kb)
        assert not degraded
        assert sick(kb.doctor(full=True)) == []
    return Pristine(base, engine, seen)


@pytest.fixture(scope="module")
def by_tantivy(tmp_path_factory: pytest.TempPathFactory) -> Pristine:
    return make(tmp_path_factory.mktemp("tantivy"), "tantivy")


@pytest.fixture(scope="module")
def by_fts5(tmp_path_factory: pytest.TempPathFactory) -> Pristine:
    return make(tmp_path_factory.mktemp("fts5"), "fts5")


@pytest.fixture(params=["by_tantivy", "by_fts5"])
def pristine(request: pytest.FixtureRequest) -> Pristine:
    found: Pristine = request.getfixturevalue(request.param)
    return found


def kind(path: Path, data: Path) -> str:
    """Files that are read in the same way, such as all postings of the words index."""
    parts = path.relative_to(data).parts
    name = path.name if path.suffix in (".json", ".sqlite", ".sqlite-wal") else path.suffix
    return "/".join((*parts[:2], name)) if len(parts) > 2 else name


def victims(data: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in sorted(data.rglob("*")):
        if path.is_file() and path.stat().st_size and path.name not in LOCKS:
            found.setdefault(kind(path, data), []).append(path)
    return found


def flip(path: Path, rng: random.Random) -> str:
    content = bytearray(path.read_bytes())
    at, bit = rng.randrange(len(content)), rng.randrange(8)
    content[at] ^= 1 << bit
    path.write_bytes(content)
    return f"bit {bit} of byte {at} of {len(content)} in {path.name}"


def outcome(pristine: Pristine, base: Base) -> str:
    """What became of a damaged knowledge base: ``same``, or who told of the damage; ``SILENT`` otherwise."""
    try:
        with opened(base, pristine.engine) as kb:
            seen, degraded = look(kb)
    except KebabError as error:
        return f"error: {error.code}"
    if seen == pristine.seen:
        return "same"
    if degraded:
        return "degraded"
    with opened(base, pristine.engine) as kb:
        return "doctor" if not kb.doctor(full=True).healthy else "SILENT"


def flips(pristine: Pristine) -> Iterator[tuple[int, str]]:
    """Numbers with a kind of file each, all kinds in turn."""
    kinds = sorted(victims(pristine.base.data))
    return ((number, kinds[number % len(kinds)]) for number in range(max(FLIPS // 2, len(kinds))))


def test_no_flipped_bit_changes_what_is_found_or_read_without_a_word(
    pristine: Pristine, tmp_path: Path
) -> None:
    told: dict[str, str] = {}
    for number, name in flips(pristine):
        rng = random.Random(SEED + number)
        base = pristine.copied(tmp_path / "copy")
        where = flip(rng.choice(victims(base.data)[name]), rng)
        told[f"{number} {name}: {where}"] = outcome(pristine, base)
    assert [one for one, what in told.items() if what == "SILENT"] == [], told


def test_whatever_was_flipped_in_an_index_the_doctor_repairs(pristine: Pristine, tmp_path: Path) -> None:
    for number, name in flips(pristine):
        if not name.startswith("index/"):
            continue
        rng = random.Random(SEED + number)
        base = pristine.copied(tmp_path / "copy")
        where = flip(rng.choice(victims(base.data)[name]), rng)
        with opened(base, pristine.engine) as kb:
            assert sick(kb.doctor(repair=True)) == [], where
        with opened(base, pristine.engine) as kb:
            seen, degraded = look(kb)
        assert gist(seen) == gist(pristine.seen), where
        assert not degraded


ROT: dict[str, str] = {
    "the text of a document": "UPDATE assets SET text = x'00ff' WHERE rowid = 3",
    "the title of a document": "UPDATE documents SET title = title || '!' WHERE path = 'n4.md'",
    "the place of a chunk": "UPDATE chunks SET start = start + 1 WHERE id = 5",
    "the lines of a chunk": "UPDATE chunks SET spans = replace(spans, '1', '2') WHERE id = 5",
    "the heading of a chunk": "UPDATE chunks SET heading_path = '[\"Other\"]' WHERE id = 5",
    "a tag": "UPDATE document_tags SET tag = 'eve' WHERE tag = 'even'",
    "a lost file record": "DELETE FROM files WHERE path = 'n4.md'",
    "a lost chunk": "DELETE FROM chunks WHERE id = 5",
    "a vector": "UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE id = 3",
}


def mended_by_doctor(kb: Kebab) -> None:
    assert sick(kb.doctor(repair=True)) == []


def mended_by_ingest(kb: Kebab) -> None:
    kb.doctor(full=True)
    kb.ingest()


@pytest.mark.parametrize("mend", [mended_by_doctor, mended_by_ingest])
@pytest.mark.parametrize("rot", ROT)
def test_rot_in_the_store_is_found_and_read_again_from_the_sources(
    by_tantivy: Pristine, tmp_path: Path, rot: str, mend: Callable[[Kebab], None]
) -> None:
    pristine = by_tantivy
    base = pristine.copied(tmp_path / "copy")
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection, connection:
        connection.execute("PRAGMA foreign_keys = ON")
        assert connection.execute(ROT[rot]).rowcount > 0
    with opened(base, pristine.engine) as kb:
        assert not kb.doctor(full=True).healthy
        mend(kb)
    with opened(base, pristine.engine) as kb:
        assert sick(kb.doctor(full=True)) == []
        seen, degraded = look(kb)
    assert gist(seen) == gist(pristine.seen)
    assert not degraded


def test_a_damaged_document_whose_file_is_gone_is_never_called_healthy(base: Base) -> None:
    with closing(sqlite3.connect(base.data / "kebab.sqlite")) as connection, connection:
        connection.execute("UPDATE assets SET text = x'00ff' WHERE rowid = 3")
    base.root.rename(base.root.with_name("unmounted"))
    with base.open() as kb:
        assert not kb.doctor(repair=True).healthy
        assert not kb.doctor().healthy


def test_the_log_is_empty_after_an_ingest(base: Base) -> None:
    log = base.data / "kebab.sqlite-wal"
    with base.open() as kb:
        base.write("more.md", "# More\n\nrope\n")
        kb.ingest()
        assert not log.exists() or log.stat().st_size == 0


def test_a_store_that_is_older_than_its_indexes_says_so_and_is_brought_up_to_date(base: Base) -> None:
    older = base.data.with_name("older.sqlite")
    shutil.copy(base.data / "kebab.sqlite", older)
    base.write("more.md", "# More\n\nThe rope of ship77 is new.\n")
    with base.open() as kb:
        kb.ingest()
    for suffix in ("", "-wal", "-shm"):
        (base.data / f"kebab.sqlite{suffix}").unlink(missing_ok=True)
    shutil.copy(older, base.data / "kebab.sqlite")
    with base.open() as kb:
        assert {note.code for note in kb.search("rope").degraded} == {"index_behind"}
        assert not kb.doctor().healthy
        assert sick(kb.doctor(repair=True)) == []
        assert kb.search("ship77").hits[0].doc_path == "more.md"
