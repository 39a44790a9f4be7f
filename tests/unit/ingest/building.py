"""Documents made the way the pipeline makes them, and texts for the properties to try."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hypothesis import strategies as st

from kebab.domain.chunks import Chunk
from kebab.domain.documents import Document, TrustLevel
from kebab.domain.ingests import IngestItem
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.parse.parsed import Format
from kebab.ingest.prepare import FileTask, Prepared, Result, prepare

SMALL = ChunkPolicy(target_tokens=24, overlap_tokens=8, max_tokens=40)

_LINES = st.sampled_from(
    [
        "",
        "",
        "# One",
        "## Two",
        "### Three",
        "####### seven",
        "Setext",
        "===",
        "---",
        "- item one",
        "  - nested item",
        "1. first",
        "> quoted text",
        "```python",
        "```",
        "    indented code",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "<div>",
        "</div>",
        "<!-- a comment -->",
        "[label]: https://example.org/a",
        "[^1]: a footnote",
        "![picture](a.png)",
        "***",
        "A sentence of plain words that fills a line.",
        "한국어 문장은 조사가 붙어서 길어집니다.",
        "word " * 60,
        "가" * 120,
        "\ttabbed",
        "\\# no heading",
        "line\x0bwith\x0codd\u2028breaks\x85inside",
        "+++",
        "key: value",
    ]
)
_ANYTHING = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
MARKDOWN = st.lists(_LINES | _ANYTHING).map("\n".join)


def prepared(
    folder: Path,
    name: str,
    content: bytes,
    policy: ChunkPolicy = ChunkPolicy(),
    formats: Mapping[str, Format] = FORMATS,
) -> Result:
    file = folder / name
    file.write_bytes(content)
    task = FileTask("notes", name, str(file), len(content), 0, "note", TrustLevel.PRIMARY)
    return prepare(task, policy, formats)


def document(
    folder: Path, name: str, content: bytes | str, policy: ChunkPolicy = ChunkPolicy()
) -> tuple[Document, tuple[Chunk, ...]]:
    raw = content.encode() if isinstance(content, str) else content
    result = prepared(folder, name, raw, policy)
    assert isinstance(result, Prepared), result
    return result.document, result.chunks


def failure(folder: Path, name: str, content: bytes, formats: Mapping[str, Format] = FORMATS) -> str:
    result = prepared(folder, name, content, formats=formats)
    assert isinstance(result, IngestItem), result
    return f"{result.outcome}: {result.reason}"
