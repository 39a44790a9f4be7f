"""Search of the sample vault, byte for byte: what ``kebab search --json`` prints under the default settings.

A change here is a change that users see. Look at the difference, and if it is meant, rewrite the snapshots:
``KEBAB_UPDATE_SNAPSHOTS=1 pytest tests/golden/test_search_snapshot.py``. It fails, lest it stays on.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kebab import Kebab, config, wire
from kebab.domain.queries import SearchMode

PROJECT = Path(__file__).resolve().parents[2]
VAULT = PROJECT / "examples" / "vault"
SNAPSHOTS = Path(__file__).parent / "search"
UPDATE = "KEBAB_UPDATE_SNAPSHOTS"
HITS = 4

QUERIES = (
    "how long is a seat held",
    "why were customers charged twice",
    "idempotency-key",
    "전세 계약 갱신은 언제까지",
    "인증서 만료 장애 원인",
    "비행기가 늦어지면 보험금을 받을 수 있나",
    "콜드브루 원두 비율",
    '"time to live"',
    "seat -hold",
    "tag:postmortem timeout",
    "lang:ko 백업 restore",
    "qqqzzzxxx",
)

# The moment of indexing is the only thing that may differ between two runs over the same files.
_INDEXED_AT = re.compile(rb'"indexed_at":"[^"]*"')
# The folder that this project was cloned into.
_REPO = re.compile(rb'"repo":(?:"[^"]*"|null)')


@dataclass(frozen=True, slots=True)
class Library:
    kebab: Kebab
    config_file: Path

    def printed(self, query: str, mode: SearchMode) -> bytes:
        response = self.kebab.search(query, mode=mode, k=HITS, explain=True, groups=True)
        return frozen(wire.encode(wire.search_response(response, explain=True)))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The vault under the defaults, with nothing of this machine's configuration."""
    folder = tmp_path_factory.mktemp("library")
    file = folder / "config.toml"
    file.write_text(f'[workspace]\nroot = "{VAULT.as_posix()}"\n[storage]\ndata_dir = "data"\n', "utf-8")
    with Kebab(config.load(file, environ={})) as kebab:
        kebab.ingest()
        yield Library(kebab, file)


def frozen(printed: bytes) -> bytes:
    return _REPO.sub(b'"repo":"(frozen)"', _INDEXED_AT.sub(b'"indexed_at":"(frozen)"', printed))


def check(lines: list[bytes], file: Path, *, update: bool) -> None:
    """Compare with the snapshot; ``update`` rewrites it, and fails all the same."""
    actual = b"".join(line + b"\n" for line in lines)
    if update:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(actual)
        pytest.fail(f"{file.name} was rewritten: read the difference, then run again without {UPDATE}")
    if not file.exists():
        pytest.fail(f"there is no snapshot {file.name}: run once with {UPDATE}=1")
    expected = file.read_bytes()
    if actual != expected:
        pytest.fail(f"{file.name} differs:\n{difference(expected, actual)}")


def difference(expected: bytes, actual: bytes) -> str:
    """The first lines of what changed, one key a line; bytes that read the same are said to."""
    before, after = (_readable(text) for text in (expected, actual))
    changes = list(difflib.unified_diff(before, after, "snapshot", "now", n=1, lineterm=""))
    return "\n".join(changes[:80]) or "only the bytes: white space, key order or how numbers are written"


def _readable(lines: bytes) -> list[str]:
    objects = [json.loads(line) for line in lines.splitlines()]
    return json.dumps(objects, ensure_ascii=False, indent=1, sort_keys=True).splitlines()


def updating() -> bool:
    return bool(os.environ.get(UPDATE))


@pytest.mark.parametrize("mode", list(SearchMode))
def test_search_prints_what_it_printed(library: Library, mode: SearchMode) -> None:
    lines = [library.printed(query, mode) for query in QUERIES]
    check(lines, SNAPSHOTS / f"{mode}.ndjson", update=updating())


@pytest.mark.parametrize("mode", list(SearchMode))
def test_asking_again_prints_the_same_bytes(library: Library, mode: SearchMode) -> None:
    once, again = ([library.printed(query, mode) for query in QUERIES] for _ in range(2))
    assert once == again


def test_a_second_knowledge_base_of_the_same_files_prints_the_same_bytes(
    library: Library, tmp_path: Path
) -> None:
    settings = config.load(library.config_file, overrides={"storage.data_dir": str(tmp_path)}, environ={})
    with Kebab(settings) as other:
        other.ingest()
        twin = Library(other, library.config_file)
        for mode in SearchMode:
            for query in QUERIES:
                assert twin.printed(query, mode) == library.printed(query, mode)


def run(library: Library, mode: SearchMode, *queries: str, **environ: str) -> list[bytes]:
    """What the command prints for each query, in a process of its own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("KEBAB_")}
    arguments = ["--config", str(library.config_file), "--json", "--explain", "-k", str(HITS), "--mode", mode]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "kebab",
            "search",
            *arguments,
            *(queries if len(queries) == 1 else ["--bulk"]),
        ],
        env=kept | environ,
        input="".join(json.dumps({"query": query}) + "\n" for query in queries).encode(),
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return [frozen(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("mode", list(SearchMode))
def test_the_command_prints_the_bytes_of_the_python_api(library: Library, mode: SearchMode) -> None:
    query = "전세 계약 갱신은 언제까지"
    assert run(library, mode, query) == [library.printed(query, mode)]


@pytest.mark.parametrize("processor", ["Haswell", "Prescott"])
def test_scores_do_not_depend_on_the_processor(library: Library, processor: str) -> None:
    # OpenBLAS takes the routines of an older one, which add in another order than those of this machine.
    items = run(library, SearchMode.VECTOR, *QUERIES, OPENBLAS_CORETYPE=processor)
    for query, item in zip(QUERIES, items, strict=True):
        assert json.loads(item)["response"] == json.loads(library.printed(query, SearchMode.VECTOR))


def test_updating_writes_the_snapshot_and_fails(tmp_path: Path) -> None:
    file = tmp_path / "new" / "lexical.ndjson"
    with pytest.raises(pytest.fail.Exception, match="was rewritten"):
        check([b'{"rank":1}'], file, update=True)
    assert file.read_bytes() == b'{"rank":1}\n'
    with pytest.raises(pytest.fail.Exception, match="was rewritten"):
        check([b'{"rank":1}'], file, update=True)
    check([b'{"rank":1}'], file, update=False)


def test_a_missing_snapshot_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="there is no snapshot"):
        check([b"{}"], tmp_path / "absent.ndjson", update=False)


def test_a_single_other_byte_is_a_failure_that_shows_it(tmp_path: Path) -> None:
    file = tmp_path / "lexical.ndjson"
    file.write_bytes(b'{"rank":1}\n')
    with pytest.raises(pytest.fail.Exception, match='"rank": 2'):
        check([b'{"rank":2}'], file, update=False)
    with pytest.raises(pytest.fail.Exception, match="only the bytes"):
        check([b'{"rank": 1}'], file, update=False)


def test_only_the_moment_of_indexing_is_frozen() -> None:
    printed = b'{"indexed_at":"2025-01-01T00:00:00Z","stale":false}'
    assert frozen(printed) == b'{"indexed_at":"(frozen)","stale":false}'
