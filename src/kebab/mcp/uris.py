"""The addresses of documents as MCP resources: ``kebab://notes/homelab/backup.md#L3-L9``."""

from __future__ import annotations

from urllib.parse import quote, unquote

SCHEME = "kebab://"
TEMPLATE = "kebab://{source}/{+path}{#lines}"


def document_uri(source: str, path: str) -> str:
    """The address of a document; letters of any script are percent-encoded, as URIs ask for."""
    return f"{SCHEME}{quote(source, safe='')}/{quote(path)}"


def reference_of(text: str) -> tuple[str | None, str]:
    """The source and the reference inside it that a text names; a text without the scheme has no source."""
    if not text.startswith(SCHEME):
        return None, text
    source, _, rest = text.removeprefix(SCHEME).partition("/")
    return unquote(source), rest if "#" in rest else unquote(rest)
