"""One file, from its bytes to a document with chunks. Runs in the main process or in a worker process."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from kebab.domain.chunk_words import ChunkCutter, ChunkWords
from kebab.domain.chunks import Chunk, embedded_text, under_document
from kebab.domain.documents import LINED, Block, Document, LineSpan, Metadata, TrustLevel
from kebab.domain.ids import (
    AssetId,
    DocId,
    asset_id,
    block_id,
    content_hash,
    digest,
    doc_id,
    encodable,
    text_asset,
)
from kebab.domain.ingests import FileState, IngestItem, Outcome, storable_time
from kebab.errors import EngineUnavailable, KebabError
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.formats import FORMATS, extension, kind_of
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable
from kebab.ingest.parse.reading import BARE, Reading
from kebab.ingest.sketch import sketch
from kebab.ports import Analyzer, Embedder, EmbeddingKind

if TYPE_CHECKING:
    from kebab.ports import Vectors

T = TypeVar("T")

# Title and headings are stored and searched with every chunk below them: a heading of a megabyte over a
# thousand chunks would be a gigabyte.
TOO_LARGE = "needs more memory than ingest.worker_memory_mb allows"
"""Why a file failed that is no fault of its parser."""
_LONGEST_HEADING = 1000
_FOLDER_NOTES = ("index", "_index", "readme")
_BUNDLES = (".textbundle", ".bearnote")
_NOTION_ID = re.compile(r" [0-9a-f]{32}(?:_all)?$")


@dataclass(frozen=True, slots=True)
class FileTask:
    """A file to be read, and what its source says of it."""

    source_id: str
    path: str
    absolute: str
    size: int
    mtime_ns: int
    source_type: str
    trust_level: TrustLevel
    repo: str | None = None
    known_asset: AssetId | None = None
    """Content that needs no new work: set when only the file's time or size differs from what is stored."""
    content: bytes | None = None
    """The file's bytes, where they travel to a process that cannot open it; size and time are theirs."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be stored."""

    document: Document
    chunks: tuple[Chunk, ...]
    state: FileState
    words: tuple[ChunkWords, ...] = ()
    """Each chunk cut into words, as a words index stores them, where that was done on the way."""
    vectors: Vectors | None = None
    """A row for each chunk, where they were embedded on the way."""


@dataclass(frozen=True, slots=True)
class SameContent:
    """The bytes are those already stored: only size and time are to be recorded."""

    source_id: str
    state: FileState


Result = Prepared | SameContent | IngestItem
"""An IngestItem says that the file failed or vanished."""


@lru_cache(maxsize=64)
def fingerprint(
    kind: Format,
    policy: ChunkPolicy,
    *,
    source_type: str,
    trust_level: TrustLevel,
    repo: str | None = None,
    choice: str = "",
) -> str:
    """Equal fingerprints and equal bytes give equal output; any setting that shapes it is in here."""
    versions = (kind.version, kind.chunker.version, policy.hash)
    more = [*([repo] if repo else []), *([f"read by {choice}"] if choice else [])]
    return digest("fingerprint", *versions, source_type, str(trust_level), *more)


@dataclass(frozen=True, slots=True)
class Preparing:
    """Prepares files, in a worker process too: it travels there once and is called with batch after batch.

    With ``make_analyzer``, which other processes know by its name, chunks are cut into words as well: the
    costliest step of an ingest without embedding, which the index would else do in the main process. With an
    ``embedder``, a light one, they are embedded too, while their texts are at hand.
    """

    policy: ChunkPolicy
    make_analyzer: Callable[[], Analyzer] | None = None
    formats: Mapping[str, Format] = FORMATS
    reading: Reading = BARE
    embedder: Embedder | None = None

    def __call__(self, batch: Sequence[FileTask | IngestItem]) -> list[Result]:
        """The results in order; an item says what became of a file before it came here, and stands."""
        return [self._with_words(self._prepared(task)) for task in batch]

    def _prepared(self, task: FileTask | IngestItem) -> Result:
        if isinstance(task, IngestItem):
            return task
        return prepare(task, self.policy, self.formats, reading=self.reading)

    def _with_words(self, result: Result) -> Result:
        if self.make_analyzer is None or not isinstance(result, Prepared):
            return result
        document, cut = result.document, _cutter(self.make_analyzer)
        words = tuple(cut(under_document(document, chunk)) for chunk in result.chunks)
        return replace(result, words=words, vectors=self._embedded(document, result.chunks))

    def _embedded(self, document: Document, chunks: Sequence[Chunk]) -> Vectors | None:
        """None where there is no model, or it fails: whoever embeds what is missing then says why."""
        if self.embedder is None or not chunks:
            return None
        try:
            return self.embedder.embed(
                [embedded_text(document, one) for one in chunks], EmbeddingKind.DOCUMENT
            )
        except KebabError:
            return None


@cache
def _cutter(make_analyzer: Callable[[], Analyzer]) -> ChunkCutter:
    """One a process: its analyzer remembers the tokens it has seen."""
    return ChunkCutter(make_analyzer().index_text)


def prepare(
    task: FileTask,
    policy: ChunkPolicy,
    formats: Mapping[str, Format] = FORMATS,
    *,
    reading: Reading = BARE,
) -> Result:
    """Read, parse and chunk a file. A file that is bad or gone is a value, never an exception."""
    return _isolated(task, lambda: _prepare(*_read(task), policy, formats, reading))


def carrying(task: FileTask) -> FileTask | IngestItem:
    """The task with the bytes of its file, for a machine that does not have it."""

    def read() -> FileTask:
        opened, content = _read(task)
        return replace(opened, content=content)

    return _isolated(task, read)


def _isolated(task: FileTask, work: Callable[[], T]) -> T | IngestItem:
    """What ``work`` gives, or what went wrong with the file.

    This is the one place that isolates a bad file, so it alone catches everything.
    """
    try:
        return work()
    except FileNotFoundError:
        return _item(task, Outcome.SKIPPED, "vanished while kebab was reading the folder")
    except OSError as error:
        return _item(task, Outcome.FAILED, f"cannot be read: {error.strerror or error}")
    except EngineUnavailable as missing:
        return _item(task, Outcome.SKIPPED, f"{missing.message}: {missing.hint}")
    except KebabError as error:
        return _item(task, Outcome.FAILED, "; ".join(filter(None, (error.message, error.hint))))
    except MemoryError:
        return _item(task, Outcome.FAILED, TOO_LARGE)
    except Exception as error:  # noqa: BLE001 - a parser's fault on one file must not stop the run
        return _item(task, Outcome.FAILED, f"{type(error).__name__}: {error}")


def _read(task: FileTask) -> tuple[FileTask, bytes]:
    """The bytes, with the size and time the file had before they were read.

    The scan may be minutes old, and a file that is written to while it is read must be seen as changed by
    the next run.
    """
    if task.content is not None:
        return task, task.content
    with open(task.absolute, "rb") as file:
        before = os.fstat(file.fileno())
        mtime_ns = storable_time(before.st_mtime_ns)
        if (before.st_size, mtime_ns) != (task.size, task.mtime_ns):
            task = replace(task, size=before.st_size, mtime_ns=mtime_ns)
        return task, file.read()


def _prepare(
    task: FileTask,
    content: bytes,
    policy: ChunkPolicy,
    formats: Mapping[str, Format],
    reading: Reading = BARE,
) -> Result:
    ending = extension(task.path)
    kind = kind_of(formats, ending)
    asset = asset_id(content_hash(content))
    state = _state(task, asset, kind, policy, reading)
    if asset == task.known_asset:
        return SameContent(task.source_id, state)
    about = Defaults(_stem(task.path), task.source_type, task.trust_level, ending, reading, task.path)
    parsed = kind.parse(content, about)
    if isinstance(parsed, Unreadable):
        # A document that became unreadable is a loss to tell of, again and again; a file that never was
        # readable is only left out.
        return _item(task, Outcome.FAILED if task.known_asset else Outcome.SKIPPED, parsed.reason)
    blocks = list(_blocks(state.doc_id, parsed))
    chunks = kind.chunker.chunks(state.doc_id, blocks, parsed.lines, policy)
    if not chunks and kind.media in LINED:
        chunks = [kind.chunker.empty(state.doc_id, policy)]
    return Prepared(_document(task, state, kind, parsed), tuple(chunks), state)


def _stem(path: str) -> str:
    """What a file is called, without the id that Notion puts behind the name.

    One that only says that it opens its folder is called like the folder, as is the text of a text bundle.
    """
    file = PurePosixPath(path)
    if file.stem.lower() == "text" and file.parent.suffix.lower() in _BUNDLES:
        return file.parent.stem
    name = file.parent.name if file.stem.lower() in _FOLDER_NOTES and file.parent.name else file.stem
    return _NOTION_ID.sub("", name) or name


def _state(task: FileTask, asset: AssetId, kind: Format, policy: ChunkPolicy, reading: Reading) -> FileState:
    return FileState(
        path=task.path,
        size=task.size,
        mtime_ns=task.mtime_ns,
        asset_id=asset,
        doc_id=doc_id(source_id=task.source_id, path=task.path, asset=asset, parser_version=kind.version),
        fingerprint=fingerprint(
            kind,
            policy,
            source_type=task.source_type,
            trust_level=task.trust_level,
            repo=task.repo,
            choice=reading.choice(kind.media),
        ),
    )


def _document(task: FileTask, state: FileState, kind: Format, parsed: Parsed) -> Document:
    # One file's bytes have as many texts as there are parsers that read one out of them.
    own = kind.media not in LINED
    return Document(
        doc_id=state.doc_id,
        source_id=task.source_id,
        path=task.path,
        asset_id=text_asset(state.asset_id, parser_version=kind.version) if own else state.asset_id,
        title=parsed.title[:_LONGEST_HEADING],
        lang=parsed.lang,
        media=kind.media,
        parser_version=kind.version,
        metadata=replace(_dated(parsed.metadata, task.mtime_ns), repo=task.repo),
        warnings=parsed.warnings,
        text=parsed.lines.text,
        links=parsed.links,
        sketch=sketch(parsed.lines.text),
    )


def _dated(metadata: Metadata, mtime_ns: int) -> Metadata:
    """A file that does not say when it was updated was updated when it was written."""
    if metadata.updated_at is not None:
        return metadata
    written = datetime.fromtimestamp(mtime_ns // 1_000_000_000, UTC)
    return replace(metadata, updated_at=written.isoformat().replace("+00:00", "Z"))


def _blocks(doc: DocId, parsed: Parsed) -> Iterator[Block]:
    for ordinal, (kind, start, end, path, level, _, place) in enumerate(parsed.blocks):
        heading_path = tuple(heading[:_LONGEST_HEADING] for heading in path)
        own = block_id(doc, kind=kind, heading_path=heading_path, ordinal=ordinal, span=(start, end))
        yield Block(own, kind, LineSpan(start, end), heading_path, level, place)


def _item(task: FileTask, outcome: Outcome, reason: str) -> IngestItem:
    return IngestItem(task.source_id, task.path, outcome, encodable(reason), byte_len=task.size)
