"""The files of a words index as rows of a dataset, and a words index put together of several of them.

A replica scores with the segments that the publisher scores with. An index made anew from the same texts
would not do: the engine counts removed chunks in its statistics until their segment is merged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blake3 import blake3

from kebab.adapters.lance_published.storage import translated
from kebab.adapters.lance_table import among
from kebab.adapters.tantivy_files import searched_files
from kebab.adapters.tantivy_lexical import TantivyLexicalIndex
from kebab.disk.named_files import storing
from kebab.disk.private import make_folder, replacing
from kebab.errors import Corrupt, EngineUnavailable
from kebab.ports import Analyzer

if TYPE_CHECKING:
    import pyarrow as pa

META = "meta.json"
_STAMP = "published.json"
_PART_BYTES = 8_000_000
_WRITTEN_BYTES = 16_000_000
_ROWS_AT_ONCE = 2
_NAME = re.compile(r"[0-9a-f]{32}(\.[0-9]{1,20})?\.[a-z]{1,16}")


def words_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [("name", pa.string()), ("part", pa.int64()), ("hash", pa.string()), ("content", pa.large_binary())]
    )


def file_rows(files: Sequence[Path]) -> Iterator[pa.Table]:
    """The rows of these files, some tens of megabytes at a time: each table becomes a file of the dataset."""
    import pyarrow as pa

    held: list[dict[str, Any]] = []
    for row in _parts(files):
        held.append(row)
        if sum(len(one["content"]) for one in held) >= _WRITTEN_BYTES:
            yield pa.Table.from_pylist(held, schema=words_schema())
            held = []
    if held:
        yield pa.Table.from_pylist(held, schema=words_schema())


def _parts(files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        with file.open("rb") as handle:
            content = handle.read(_PART_BYTES)
            number = 0
            while content or not number:
                yield {"name": file.name, "part": number, "hash": _hash(content), "content": content}
                content, number = handle.read(_PART_BYTES), number + 1


def files_to_publish(folder: Path) -> list[Path]:
    """What belongs to the newest commit of a words index."""
    return searched_files(folder)


def names_in(dataset: Any) -> set[str]:
    return set(dataset.to_table(columns=["name"])["name"].to_pylist())


def bring(dataset: Any, folder: Path) -> dict[str, Any]:
    """Put the files of a dataset that are not in the folder there; returns the commit that names them all.

    Raises Corrupt for files that are not as they were published.
    """
    names = names_in(dataset)
    wrong = [name for name in names if name != META and not _NAME.fullmatch(name)]
    if wrong or META not in names:
        raise Corrupt("the published words index holds files that are none of its own")
    make_folder(folder)
    missing = sorted(name for name in names if name != META and not (folder / name).exists())
    for name in missing:
        with storing(folder), replacing(folder / name) as file:
            for content in _contents(dataset, name):
                file.write(content)
    found = json.loads(b"".join(_contents(dataset, META)))
    if not isinstance(found, dict):
        raise Corrupt("the published words index names no files")
    return found


def _contents(dataset: Any, name: str) -> Iterator[bytes]:
    """A file's contents; failures of the store are told apart from those of the disk that they go to."""
    with translated(dataset.uri):
        table = dataset.to_table(columns=["part"], filter=among("name", [name]), with_row_id=True)
    order = sorted(zip(table["part"].to_pylist(), table["_rowid"].to_pylist(), strict=True))
    if [part for part, _ in order] != list(range(len(order))) or not order:
        raise Corrupt(f"the published file {name} is not whole")
    for start in range(0, len(order), _ROWS_AT_ONCE):
        ids = [row_id for _, row_id in order[start : start + _ROWS_AT_ONCE]]
        with translated(dataset.uri):
            rows = dataset._take_rows(ids, columns=["hash", "content"])
        for known, content in zip(rows["hash"].to_pylist(), rows["content"].to_pylist(), strict=True):
            if _hash(content) != known:
                raise Corrupt(f"the published file {name} is damaged")
            yield content


def is_brought(folder: Path, stamp: str) -> bool:
    """Whether the index of this stamp lies in the folder, whole."""
    try:
        return (folder / _STAMP).read_text(encoding="utf-8") == stamp
    except OSError:
        return False


def put_together(
    folder: Path, commits: Iterable[dict[str, Any]], analyzer: Analyzer, *, checkpoint: int, stamp: str
) -> TantivyLexicalIndex:
    """Write the commit that names the segments of all; the files lie in the folder already."""
    index = TantivyLexicalIndex(folder, analyzer)
    found = list(commits)
    first = found[0]
    if any(commit["schema"] != first["schema"] for commit in found):
        raise EngineUnavailable(
            "the words indexes of two publishers have different layouts",
            hint="publish both with the same version of kebab",
        )
    segments = [segment for commit in found for segment in commit["segments"]]
    whole = {**first, "segments": segments, "opstamp": max(commit["opstamp"] for commit in found)}
    with replacing(folder / META) as file:
        file.write(json.dumps(whole).encode())
    index.adopt(checkpoint)
    for path in set(folder.iterdir()) - set(searched_files(folder)):
        if _NAME.fullmatch(path.name):
            path.unlink(missing_ok=True)
    with replacing(folder / _STAMP) as file:
        file.write(stamp.encode())
    return index


def _hash(content: bytes) -> str:
    return blake3(content).hexdigest(length=16)
