"""What is fuzzed: every parser and everything that decodes what a stranger may have written.

A target takes any bytes. It may give back anything and raise what its callers are told to expect; whatever
else escapes is a fault. Seeds are made by code.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import msgspec

from kebab import config
from kebab.domain.citations import parse_citation
from kebab.domain.documents import TrustLevel
from kebab.domain.globs import glob_matches
from kebab.domain.queries import SearchMode
from kebab.errors import EngineUnavailable, KebabError
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.gitignore import read_rule
from kebab.ingest.parse.formats import FORMATS, modules
from kebab.ingest.parse.reading import Reading
from kebab.ingest.prepare import FileTask, _prepare
from kebab.memory.logs import claude_code, codex, otel
from kebab.search.analyze import Analyzer
from kebab.search.page import make_cursor, read_cursor
from kebab.search.parse import parse_query
from kebab.search.snippet import cut
from kebab.upkeep.bundle import opened_bundle
from kebab.web.markdown import render
from kebab.wire.requests import Request, decoded
from tests.contracts.test_parser import CASES
from tests.document_fakes import ReadingImages
from tests.document_files import zipped

NATIVE = frozenset({"pdf", "sheets", "hwp", "image", "audio", "code"})
"""Read by engines in C or Rust, or by models: what they do to their process is what workers are for."""
POLICY = ChunkPolicy(target_tokens=16, overlap_tokens=4, max_tokens=32)
READING = Reading(ReadingImages())
WORDS = Analyzer()


@dataclass(frozen=True, slots=True)
class Target:
    run: Callable[[bytes], object]
    seeds: Sequence[bytes]


# --- parsers ---------------------------------------------------------------------------------------------


@cache
def endings(*, archived: bool) -> tuple[str, ...]:
    """One extension for each module of parsers of ours; those that open archives apart."""
    first = {module: ending for ending, module in reversed(modules().items()) if module not in NATIVE}
    first["markdown"], first["unknown"] = ".md", ".xyz"
    return tuple(sorted(ending for ending in first.values() if _is_archived(ending) == archived))


def _is_archived(ending: str) -> bool:
    return any(case.ending == ending and case.whole[:2] == b"PK" for case in CASES)


def parser(*, archived: bool) -> Target:
    names = endings(archived=archived)

    def run(content: bytes) -> None:
        if content:
            parse(names[content[0] % len(names)], content[1:])

    found = [(names.index(case.ending), case) for case in CASES if case.ending in names]
    seeds = [bytes([at]) + body for at, case in found for body in (case.whole, *case.damaged)]
    return Target(run, [seed for seed in seeds if len(seed) < 4000])


def parse(ending: str, content: bytes) -> None:
    """As a run does it, without the net that turns faults into failed files."""
    task = FileTask("s", f"a{ending}", f"/a{ending}", len(content), 1, "note", TrustLevel.PRIMARY)
    with suppress(EngineUnavailable):
        _prepare(task, content, POLICY, FORMATS, READING)


# --- decoders --------------------------------------------------------------------------------------------


def text_of(content: bytes) -> str:
    return content.decode("utf-8", errors="surrogateescape")


def query(content: bytes) -> None:
    text = text_of(content)
    asked = parse_query(text)
    terms = WORDS.terms(asked.text)
    cut(text, WORDS.matches(text, list(terms)[:5]), 80)


def citation(content: bytes) -> None:
    with suppress(ValueError):
        parse_citation(text_of(content))


def cursor(content: bytes) -> None:
    with suppress(KebabError):
        read_cursor(text_of(content), revision=3, query=parse_query("rope"))


def patterns(content: bytes) -> None:
    """Globs of filters and lines of ignore files."""
    text = text_of(content)
    glob_matches(text)("notes/rope.md")
    with suppress(ValueError):
        read_rule(text)


def configuration(content: bytes) -> None:
    file = scratch() / "config.toml"
    file.write_bytes(content)
    with suppress(KebabError):
        config.load(file, environ={"HOME": str(scratch())})


def bundle(content: bytes) -> None:
    """A file that says it is a bundle; and a bundle with this manifest."""
    file = scratch() / "a.kebab"
    for held in (content, zipped({"manifest.json": content, "kebab.sqlite": b"x"})):
        file.write_bytes(held)
        with suppress(KebabError), opened_bundle(file, scratch=scratch()):
            pass


def request(content: bytes) -> None:
    kinds = requests()
    if content:
        with suppress(KebabError):
            made = decoded(kinds[content[0] % len(kinds)], content[1:])
            assert made.arguments is not None


@cache
def requests() -> tuple[type[Request], ...]:
    """Every request that the command line, HTTP and MCP take."""
    import kebab.wire.requests.connections
    import kebab.wire.requests.library
    import kebab.wire.requests.memory
    import kebab.wire.requests.search
    import kebab.wire.requests.shell  # noqa: F401

    found: list[type[Request]] = []
    waiting: list[type[Request]] = [Request]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        found += [kind] if kind.__struct_fields__ else []
    return tuple(sorted(found, key=lambda kind: f"{kind.__module__}.{kind.__name__}"))


def logs(content: bytes) -> None:
    """What other agents wrote of their sessions."""
    for form in (claude_code, codex, otel):
        with suppress(KebabError):
            list(form.read(content.splitlines(keepends=True)))


class Tags(HTMLParser):
    """Raises AssertionError for what a browser would run or load."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "iframe", "object", "embed", "style", "link", "meta", "base", "img"), tag
        for name, value in attrs:
            assert not name.startswith("on"), name
            if name in ("href", "src", "action"):
                assert not re.match(r"\s*(javascript|data|vbscript):", value or "", re.IGNORECASE), value


def page(content: bytes) -> None:
    """A note as the web page shows it: nothing in it runs."""
    html = render(content.decode("utf-8", errors="replace"), path="notes/a.md").html
    reader = Tags()
    reader.feed(html)
    reader.close()


@cache
def scratch() -> Path:
    return Path(tempfile.mkdtemp(prefix="kebab-fuzz-"))


def _lines(*objects: object) -> bytes:
    return b"".join(msgspec.json.encode(one) + b"\n" for one in objects)


def _of(texts: Iterable[str]) -> list[bytes]:
    return [text.encode() for text in texts]


MANIFEST = {
    "format": "kebab-bundle",
    "version": 1,
    "kebab_version": "0.1.0",
    "created_at": "2026-01-01T00:00:00Z",
    "contents": {"schema_version": 4, "documents": 1, "chunks": 1, "models": []},
    "files": {"kebab.sqlite": {"size": 1, "sha256": "ab", "mtime_ns": 1}},
}
TURN = {"type": "user", "uuid": "a", "timestamp": "2026-01-01T00:00:00Z", "message": {"content": "mend"}}
SPAN = {"name": "chat", "trace_id": "a", "span_id": "b", "attributes": {"gen_ai.prompt": "mend"}}

TARGETS: dict[str, Callable[[], Target]] = {
    "texts": lambda: parser(archived=False),
    "archives": lambda: parser(archived=True),
    "query": lambda: Target(
        query,
        _of(
            [
                'rope "dry rope" -wet tag:knot lang:ko',
                "밧줄 OR 배*",
                "date:2026-01..2026-02 path:a/**",
                "NOT a",
            ]
        ),
    ),
    "citation": lambda: Target(
        citation,
        _of(
            [
                "a.md#L1-L3",
                "b%20c.pdf#p=3&xywh=1,2,3,4",
                "t.vtt#t=0.000,1.500",
                "s.xlsx#cell=A!B2:D9",
            ]
        ),
    ),
    "cursor": lambda: Target(
        cursor, _of([make_cursor(10, revision=3, query=parse_query("rope", mode=SearchMode.HYBRID)), "e30"])
    ),
    "patterns": lambda: Target(patterns, _of(["**/*.md", "!a/[a-z]?/", "[!x]*", "\\#a ", "/a/**/b"])),
    "configuration": lambda: Target(
        configuration,
        _of(
            [
                '[workspace]\nroot = "."\n[search]\ndefault_k = 5\n',
                '[[sources]]\nid = "a"\nroot = "b"\n',
            ]
        ),
    ),
    "bundle": lambda: Target(bundle, [json.dumps(MANIFEST).encode(), zipped({"manifest.json": "{}"})]),
    "request": lambda: Target(
        request,
        [
            bytes([at]) + json.dumps(dict.fromkeys(kind.__struct_fields__, "a")).encode()
            for at, kind in enumerate(requests())
        ],
    ),
    "logs": lambda: Target(
        logs,
        [
            _lines(TURN, TURN),
            _lines(SPAN),
            _lines({"type": "message", "payload": TURN}),
        ],
    ),
    "page": lambda: Target(
        page,
        _of(
            [
                "# A\n\n<script>x</script> [a](javascript:x) ![i](http://a/b.png)\n",
                "|a|b|\n|-|-|\n|`x`|<b>|\n",
                "```js\nx\n```\n[[a|b]] <a onclick=x href='data:x'>\n",
            ]
        ),
    ),
}
