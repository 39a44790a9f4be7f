"""The chunk: the unit that is indexed and returned, and what a model reads of it."""

from __future__ import annotations

from kebab.domain.code import described, number_parts
from kebab.domain.documents import Document, LineSpan
from kebab.domain.ids import BlockId, ChunkId, DocId, content_hash
from kebab.domain.names import about_text, name_keys, name_text
from kebab.domain.places import CodeUnit, Place
from kebab.domain.values import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some neighbouring blocks of one document.

    ``text`` is what stands at ``spans`` of the document's text, verbatim, except that a line longer than a
    chunk may hold is cut: then each part is a piece of the line that its span names.
    """

    chunk_id: ChunkId
    doc_id: DocId
    ordinal: int
    """Position in the document, from 0."""
    text: str
    heading_path: tuple[str, ...]
    spans: tuple[LineSpan, ...]
    block_ids: tuple[BlockId, ...]
    part: int
    token_estimate: int
    chunker_version: str
    policy_hash: str
    place: Place | None = None
    """Where the text stands in the file; None where ``spans`` are lines of the file itself."""

    @property
    def section_label(self) -> str | None:
        return self.heading_path[-1] if self.heading_path else None


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with what its document adds to it: everything a search result shows."""

    chunk: Chunk
    source_id: str
    path: str
    title: str
    lang: str
    tags: tuple[str, ...]
    trust_level: str
    repo: str | None
    code_lang: str | None
    indexed_at: str
    content_key: str
    """Key of the chunk's embedding in the cache; see ``embedding_input``."""
    aliases: tuple[str, ...] = ()
    summary: str = ""
    """What the front matter says the document is about; empty where it says nothing."""

    @property
    def opens(self) -> bool:
        """Whether it is the first of its document: what holds for the whole note is found by it."""
        return self.chunk.ordinal == 0


def under_document(
    document: Document, chunk: Chunk, *, indexed_at: str = "", content_key: str = ""
) -> StoredChunk:
    """The chunk with what its document adds; what only a store knows is empty until it is stored."""
    metadata = document.metadata
    return StoredChunk(
        chunk=chunk,
        source_id=document.source_id,
        path=document.path,
        title=document.title,
        lang=document.lang,
        tags=metadata.tags,
        trust_level=str(metadata.trust_level),
        repo=metadata.repo,
        code_lang=metadata.code_lang,
        indexed_at=indexed_at,
        content_key=content_key,
        aliases=metadata.aliases,
        summary=metadata.summary,
    )


def searchable_text(stored: StoredChunk) -> str:
    """What the words index reads of a chunk: title and headings count as words of every section below."""
    return searchable_under(stored.title, stored.chunk)


def searchable_under(title: str, chunk: Chunk) -> str:
    """The same for a chunk of a document with this title."""
    # A text without a heading is titled by its first words: they are not counted twice where they stand.
    titles = [] if chunk.text.startswith(title) else [title]
    headings = [heading for heading in chunk.heading_path if heading != title]
    parts = [number_parts(chunk.text)] if isinstance(chunk.place, CodeUnit) else []
    return "\n".join([*titles, *headings, chunk.text, *filter(None, parts)])


def called(stored: StoredChunk) -> tuple[str, ...]:
    """The names that lead to this chunk: those of its note, where it opens the note."""
    if not stored.opens:
        return ()
    return name_keys(path=stored.path, title=stored.title, aliases=stored.aliases)


def name_of(stored: StoredChunk) -> str:
    """What the chunk's note is called, as a text; every chunk of a note has it."""
    return name_text(path=stored.path, title=stored.title, aliases=stored.aliases)


def about(stored: StoredChunk) -> str:
    """What is said of the note as a whole, as a text of the chunk that opens it."""
    if not stored.opens:
        return ""
    return about_text(path=stored.path, tags=stored.tags, summary=stored.summary)


def known_text(stored: StoredChunk) -> str:
    """Everything that the words index knows of a chunk."""
    return "\n".join([searchable_text(stored), name_of(stored), about(stored)])


def embedding_input(*, title: str, heading_path: tuple[str, ...], text: str, code: bool = False) -> str:
    """What an embedder reads for a chunk: title and headings first, since a section rarely repeats them.

    Of a unit of source code it reads what a person would: its names and what is said about it.
    """
    headings = [h for h in heading_path if h != title]
    if code and headings:
        return "\n".join([" > ".join([title, *headings]), headings[-1], described(text)])
    return "\n".join([" > ".join([title, *headings]), text])


def embedded_text(document: Document, chunk: Chunk) -> str:
    """The same for a chunk of a document."""
    return embedding_input(
        title=document.title,
        heading_path=chunk.heading_path,
        text=chunk.text,
        code=document.metadata.code_lang is not None,
    )


def content_key(embedded: str) -> str:
    """Names a text in the embedding cache: equal texts share one vector wherever they stand."""
    return content_hash(embedded.encode("utf-8", "surrogatepass"))[:32]
